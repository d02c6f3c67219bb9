"""Models with few parameters, identified: reduced, regrouped, estimated.

The ways of the literature, step by step: a base set or all parameters; elimination of those that
contribute little, going by CAD values; regrouping by singular values with an imposed rank;
elimination by relative standard deviation; least squares. The default of mechid, and CAD values as
they are, join in for comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from mechid.errors import DataError
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.linear import condition
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.regression import Bools, Floats, Regression
from mechid.reduction.deviation import by_deviation
from mechid.reduction.regroup import regroup
from mechid.studies.observed import cad_of
from mechid.studies.reduced import (
    Reduced,
    cad,
    columns,
    contributions,
    counted,
    exact,
    measured,
    truth,
)
from mechid.tasks.cad_prior import prior_from_cad
from mechid.textfile.words import hint

OLS = OrdinaryLeastSquares()


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model with few parameters.

    Attributes
    ----------
    parameters : tuple of str
        The k parameters that were identified.
    true, cad, values : arrays (k,)
        Their values by truth and by CAD, and as identified.
    deviation : array (k,)
        Relative standard deviation, percent; NaN where none is known.
    weights : array (k, p)
        Each as a sum of the parameters before regrouping, whose names are `terms`.
    terms : tuple of str
    kept : int
        Parameters left by their contribution, before any regrouping.
    condition, raw_condition : float
        Of the observation matrix, columns of unit length and as they are.
    """

    parameters: tuple[str, ...]
    true: Floats
    cad: Floats
    values: Floats
    deviation: Floats
    weights: Floats
    terms: tuple[str, ...]
    kept: int
    condition: float
    raw_condition: float


def fitted(s: Reduced) -> Fitted:
    """Reduce and identify a model.

    Raises
    ------
    MechidError
        For settings that do not go together, or a motion that cannot be performed.
    """
    return _fit(replace(s, validation=None, sizes=(), reported=None))


@lru_cache(maxsize=256)
def _fit(s: Reduced) -> Fitted:
    r = measured(s)
    if s.method == "auto":
        return _automatic(s, r)
    names = _names(s, r.parameters)
    chosen = r.select(names)
    start = np.isin(r.parameters, names)
    weights = np.eye(len(names))
    if s.regrouped:
        g = regroup(chosen, s.rank, scale=np.ones(len(names)))
        chosen, weights = g.regression, g.matrix
    if s.deviation:
        found = by_deviation(chosen)
        left = np.isin(chosen.parameters, found.order[: found.natural])
        chosen, weights = chosen.select(np.array(chosen.parameters)[left].tolist()), weights[left]
    return _result(s, chosen, weights, start, len(names))


def _names(s: Reduced, names: Sequence[str]) -> tuple[str, ...]:
    """Return the parameters that are kept, in their own order."""
    if s.parameters:
        if strange := [n for n in s.parameters if n not in names]:
            raise DataError(
                f"there is no parameter {strange[0]}",
                where=s.model,
                remedy=hint(strange[0], list(names)),
            )
        return tuple(n for n in names if n in s.parameters)
    if not s.threshold and s.size is None:
        return tuple(names)
    found = contributions(s)
    kept = set(found.above(s.threshold))
    order = [n for n in found.ranking.order if n in kept][: s.size]
    if not order:
        raise DataError(
            f"no parameter contributes {s.threshold:g} %", where=s.model, remedy="lower threshold"
        )
    return tuple(n for n in names if n in set(order))


def _result(s: Reduced, r: Regression, weights: Floats, start: Bools, kept: int) -> Fitted:
    true, guess = (weights @ x[start] for x in (truth(s), cad(s)))
    values, deviation = guess, np.full(len(guess), np.nan)
    if s.method == "ols":
        estimate = OLS(r)
        values, deviation = estimate.values, np.asarray(estimate.relative)
    return Fitted(
        r.parameters,
        true,
        guess,
        values,
        deviation,
        weights,
        tuple(np.array(columns(s).names)[start].tolist()),
        kept,
        *condition_numbers(r),
    )


def _automatic(s: Reduced, r: Regression) -> Fitted:
    base = columns(s).base
    if base is None:
        raise DataError(
            f"the method auto needs a base set, got {s.base or 'all parameters'}",
            where=s.model,
            remedy="name a base set, or use the method ols",
        )
    known = cad_of(s.truth or s.model, s.cad_error, s.seed)
    prior = prior_from_cad(known, base, cad_error=s.cad_error or None)
    estimate = JointPosterior()(r, prior)
    found = _result(
        replace(s, method="cad"),
        r,
        np.eye(len(r.parameters)),
        np.ones(len(r.parameters), dtype=bool),
        len(r.parameters),
    )
    return replace(found, values=estimate.values, deviation=np.asarray(estimate.relative))


def condition_numbers(r: Regression) -> tuple[float, float]:
    """Return the condition numbers of a problem: columns of unit length, and as they are."""
    A = r.stacked()[0]
    return condition(A), float(np.linalg.cond(A))


def predicted(s: Reduced, f: Fitted, values: Floats | None = None) -> tuple[Floats, Regression]:
    """Return the forces that a model predicts (N, n_i), and the motion with the exact ones."""
    r = counted(s, exact(s, s.validation))
    return r.select(f.parameters).W @ (f.values if values is None else values) + r.known, r
