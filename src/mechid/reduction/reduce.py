"""Reduce a model: estimate nested models along an order, choose a size, keep all curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate
from mechid.estimation.estimator import Estimator
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.reduction.curves import Curves, reduction_curves
from mechid.reduction.ranking import Ranking
from mechid.reduction.rest import Rest, completed, restrict
from mechid.reduction.size import Size, SizeRule, TwoLimits
from mechid.shown import Plotted, Tabular
from mechid.validation.blocks import Blocks, Fold
from mechid.validation.crossvalidate import Stop, Watch


@dataclass(frozen=True, eq=False, repr=False)
class Reduction(Plotted, Tabular):
    """A reduced model and the curves behind it.

    Attributes
    ----------
    ranking : Ranking
        Order of the parameters and the rule it comes from.
    curves : Curves
        Condition numbers and errors of each size.
    size : Size
        The chosen one, and why.
    rest : "zero" or "cad"
        What eliminated parameters are.
    estimate : Estimate
        Of the chosen parameters; with rest "cad", of all, those eliminated at their CAD values.
    complete : bool
        False if it was stopped: then larger sizes were not looked at.
    """

    ranking: Ranking
    curves: Curves
    size: Size
    rest: Rest
    estimate: Estimate
    complete: bool

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        return {
            "size": f"{self.size.size} of {len(self.ranking.order)} parameters: {self.size.why}",
            "rule": self.ranking.rule,
            "eliminated": "stay at their CAD values" if self.rest == "cad" else "count as zero",
            "estimated": self.chosen,
            "complete": self.complete,
        }

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the parameters that are estimated, most important first."""
        return self.ranking.order[: self.size.size]


def reduce_model(
    ranking: Ranking,
    regression: Regression,
    *,
    estimator: Estimator = OrdinaryLeastSquares(),  # noqa: B008 (frozen)
    final: Estimator | None = None,
    measured: Regression | None = None,
    prior: Prior | None = None,
    rest: Rest = "zero",
    choose: SizeRule = TwoLimits(),  # noqa: B008 (frozen)
    sizes: Sequence[int] | None = None,
    validation: Sequence[Regression] = (),
    folds: Blocks | Sequence[Fold] | None = None,
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Reduction:
    """Eliminate parameters along an order, and estimate the model of the chosen size.

    Parameters
    ----------
    ranking : Ranking
        Of `contribution`, `by_deviation`, `greedy`, or your own.
    regression : Regression
        Motion of identification, with all parameters of the ranking.
    estimator : Estimator
        Of all sizes; plain least squares takes a second or two for a hundred of them.
    final : Estimator, optional
        Of the chosen size, if it is another.
    measured : Regression, optional
        What the final estimator takes, if errors of the channels are taken away in `regression`.
    prior : Prior, optional
        For estimators that need it, and for rest "cad".
    rest : "zero" or "cad"
        What eliminated parameters are.
    choose : callable (Curves) → Size
        `TwoLimits`, `OneStandardError` (needs folds) or `Fixed`.
    sizes, validation, folds, watch, stop
        As for `reduction_curves`.
    """
    order = ranking.order
    if len(order) != len(regression.parameters):
        raise DataError(
            f"the ranking must have the {len(regression.parameters)} parameters of the "
            f"problem, got {len(order)}",
            remedy="rank the parameters of this problem",
        )
    wanted = len(order) if sizes is None else len(set(sizes))
    curves = reduction_curves(
        order,
        regression,
        estimator,
        prior=prior,
        rest=rest,
        sizes=sizes,
        validation=validation,
        folds=folds,
        watch=watch,
        stop=stop,
    )
    size = choose(curves)
    if not 1 <= size.size <= len(order):
        raise DataError(
            f"the size must be between 1 and {len(order)}, got {size.size}",
            remedy=f"choose from 1 to {len(order)}",
        )
    kept = order[: size.size]
    measured = regression if measured is None else measured
    problem = restrict(measured, kept, rest=rest, prior=prior)
    known = None if prior is None else prior.select(kept)
    estimate = (final or estimator)(problem, known)
    if rest == "cad" and prior is not None:
        estimate = completed(estimate, measured, prior)
    complete = len(curves) == wanted and ranking.complete
    return Reduction(ranking, curves, size, rest, estimate, complete)
