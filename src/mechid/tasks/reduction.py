"""Rank the parameters of a linear problem, choose a size, estimate again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate, without_channel_errors
from mechid.estimation.estimator import Estimator
from mechid.estimation.gaussian_prior import LEAST, MOST
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.estimation.same_law import Frozen
from mechid.options.reduce import ORDERS, Order, ReduceOptions
from mechid.reduction.contribution import Norm, contribution
from mechid.reduction.deviation import by_deviation
from mechid.reduction.greedy import greedy
from mechid.reduction.ranking import Ranking
from mechid.reduction.reduce import Reduction, reduce_model
from mechid.reduction.rest import Rest
from mechid.reduction.size import Fixed, OneStandardError, SizeRule, TwoLimits
from mechid.tasks.estimators import uses_cad
from mechid.validation.blocks import Blocks
from mechid.validation.crossvalidate import Stop, Watch

_FAR = 4.0  # standard deviations of a sample that is an outlier


def reduce_regression(
    regression: Regression,
    estimator: Estimator,
    prior: Prior | None,
    options: ReduceOptions,
    *,
    whole: Estimate | None = None,
    validation: Sequence[Regression] = (),
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Reduction:
    """Reduce a model; curves go over all sizes, whatever size is chosen.

    With CAD values as prior, the models of all sizes take noise, gains and scale of the prior from
    the estimate with all parameters (`whole`, if it is there); the chosen one finds its own.

    Raises
    ------
    DataError
        For options that make no sense, or CAD values that are needed and not known.
    """
    if options.size == "auto":
        options = replace(options, size="cross")
    informed = uses_cad(estimator) and prior is not None
    rest: Rest = ("cad" if informed else "zero") if options.rest == "auto" else options.rest
    blocks = Blocks(options.blocks)
    if isinstance(options.size, int) and not 1 <= options.size <= len(regression.parameters):
        raise DataError(
            f"size must be between 1 and {len(regression.parameters)}, got {options.size}",
            remedy="or choose limits or cross",
        )
    quick, clean = estimator, regression
    if informed:
        whole = estimator(regression, prior) if whole is None else whole
        quick = _frozen(estimator, whole)
        clean = _without_outliers(whole, without_channel_errors(whole, regression))
        validation = [without_channel_errors(whole, r, identification=False) for r in validation]
    return reduce_model(
        _ranking(clean, quick, prior, options.by, rest, blocks, watch, stop),
        clean,
        estimator=quick,
        final=estimator,
        measured=regression,
        prior=prior,
        rest=rest,
        choose=_size_rule(options),
        validation=validation,
        folds=blocks if options.size == "cross" else None,
        watch=watch,
        stop=stop,
    )


def _ranking(
    regression: Regression,
    estimator: Estimator,
    prior: Prior | None,
    by: Order,
    rest: Rest,
    blocks: Blocks,
    watch: Watch | None,
    stop: Stop,
) -> Ranking:
    match by:
        case "contribution" | "stacked-contribution":
            if prior is None:
                raise DataError(
                    "contributions need CAD values, which the model does not give",
                    remedy="reduce by deviation or greedy",
                )
            norm: Norm = "channels" if by == "contribution" else "stacked"
            return contribution(regression, prior.mean, norm=norm).ranking
        case "deviation":
            return by_deviation(
                regression,
                estimator=estimator,
                prior=prior,
                rest=rest,
                watch=watch,
                stop=stop,
            )
        case "greedy":
            return greedy(
                regression,
                prior=prior,
                rest=rest,
                folds=blocks,
                watch=watch,
                stop=stop,
            )
    raise DataError(
        f"unknown order of elimination '{by}'", remedy=f"choose one of: {', '.join(ORDERS)}"
    )


def _without_outliers(whole: Estimate, regression: Regression) -> Regression:
    """Return a problem without single wrong samples, if the estimate found some: models of all
    sizes miss them alike, and by so much that no size would seem better than another."""
    if whole.tails is None:
        return regression
    # NaN: not used.
    wrong = np.abs(whole.residuals) > _FAR * whole.noise
    return replace(regression, valid=regression.valid & ~wrong)


def _frozen(estimator: Estimator, whole: Estimate) -> Frozen:
    inner = getattr(estimator, "inner", estimator)
    scale = getattr(inner, "scale", 1.0)
    if scale == "estimated":
        scale = 1.0
        if whole.agreement is not None:
            scale = float(np.clip(whole.agreement.scale, LEAST, MOST))
    return Frozen(whole, getattr(inner, "prior", "full"), scale)


def _size_rule(options: ReduceOptions) -> SizeRule:
    if isinstance(options.size, int):
        return Fixed(options.size)
    if options.size == "cross":
        return OneStandardError()
    if options.size == "limits":
        return TwoLimits(options.condition)
    raise DataError(f"unknown size '{options.size}'", remedy="use limits, cross or a number")
