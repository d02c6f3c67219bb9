"""Elimination by relative standard deviation, the rule of robotics.

Parameters whose relative standard deviation is more than ten times the smallest one are not
identified; drop them and estimate again. It goes by identified values, so it needs a problem that
is not too badly conditioned: otherwise the standard deviations themselves mean little, as the
sources say.
"""

from __future__ import annotations

import numpy as np

from mechid.estimation.estimator import Estimator
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.reduction.ranking import Ranking, largest_first
from mechid.reduction.rest import Rest, restrict
from mechid.validation.crossvalidate import Stop, Watch


def by_deviation(
    regression: Regression,
    *,
    estimator: Estimator = OrdinaryLeastSquares(),  # noqa: B008 (frozen)
    prior: Prior | None = None,
    ratio: float = 10.0,
    at_once: bool = False,
    rest: Rest = "zero",
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Ranking:
    """Drop parameters while the largest relative standard deviation exceeds `ratio` times the
    smallest.

    Parameters
    ----------
    regression : Regression
    estimator : Estimator
    prior : Prior, optional
        For the estimator and for rest "cad".
    ratio : float
    at_once : bool
        Drop all that exceed it before estimating again, instead of the worst one: quicker, and
        less careful, since the others change with each that goes.
    rest : "zero" or "cad"
        What dropped parameters are.
    watch : callable (stage, size, largest ratio), optional
    stop : callable, optional

    Returns
    -------
    Ranking
        With `natural`, the number of parameters that are left; the score is the relative standard
        deviation in percent, of those that were dropped at the time when they went.
    """
    kept = list(regression.parameters)
    dropped: list[tuple[str, float]] = []
    complete = True
    while True:
        known = None if prior is None else prior.select(kept)
        problem = restrict(regression, kept, rest=rest, prior=prior)
        relative = estimator(problem, known).relative
        order = largest_first(kept, relative)
        worst, least = float(relative[order[0]]), float(relative[order[-1]])
        if watch is not None:
            watch("deviation", len(kept), worst / least if least > 0 else np.inf)
        going = [i for i in order if relative[i] > ratio * least][: None if at_once else 1]
        if not going or len(kept) == 1:
            break
        if stop():
            complete = False
            break
        dropped.extend((kept[i], float(relative[i])) for i in going)
        kept = [name for i, name in enumerate(kept) if i not in set(going)]
    best = [(kept[i], float(relative[i])) for i in reversed(order)]
    ranked = [*best, *reversed(dropped)]
    return Ranking(
        "deviation",
        tuple(name for name, _ in ranked),
        np.array([x for _, x in ranked]),
        natural=len(kept),
        complete=complete,
    )
