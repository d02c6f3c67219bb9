"""Reduce the model of an identification: rank the parameters, choose a size, estimate again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from mechid.errors import DataError
from mechid.estimation.estimator import Estimator
from mechid.estimation.knowledge import Knowledge
from mechid.estimation.regression import Regression
from mechid.reduction.contribution import contribution
from mechid.reduction.deviation import by_deviation
from mechid.reduction.greedy import greedy
from mechid.reduction.ranking import Ranking
from mechid.reduction.reduce import Reduction, reduce_model
from mechid.reduction.rest import Rest
from mechid.reduction.size import Fixed, OneStandardError, SizeRule, TwoLimits
from mechid.validation.blocks import Blocks
from mechid.validation.crossvalidate import Stop, Watch

Rule: TypeAlias = Literal["contribution", "deviation", "greedy"]
RULES: tuple[Rule, ...] = get_args(Rule)


@dataclass(frozen=True)
class ReduceOptions:
    """How a model is reduced.

    Attributes
    ----------
    rule : str
        Order of elimination: "contribution" to the forces by CAD values, relative "deviation",
        "greedy" by cross-validated error.
    size : int or str
        "limits": the smallest size with a low error, if its condition number is low too;
        "cross": by cross-validation, within one standard error of the best; or a number.
    rest : "zero" or "cad"
        What eliminated parameters are.
    condition : float
        Upper limit of the condition number, for "limits".
    blocks : int
        Blocks of time of the cross-validation.
    """

    rule: Rule = "contribution"
    size: int | Literal["limits", "cross"] = "limits"
    rest: Rest = "zero"
    condition: float = 1e5
    blocks: int = 5


def shrink(
    regression: Regression,
    estimator: Estimator,
    knowledge: Knowledge | None,
    options: ReduceOptions,
    *,
    validation: Sequence[Regression] = (),
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Reduction:
    """Reduce a model; curves go over all sizes, whatever size is chosen.

    Raises
    ------
    DataError
        For options that make no sense, or CAD values that are needed and not known.
    """
    blocks = Blocks(options.blocks)
    if isinstance(options.size, int) and not 1 <= options.size <= len(regression.parameters):
        raise DataError(
            f"a size of {options.size}",
            remedy=f"choose one from 1 to {len(regression.parameters)}, limits or cross",
        )
    return reduce_model(
        _ranking(regression, estimator, knowledge, options, blocks, watch, stop),
        regression,
        estimator=estimator,
        knowledge=knowledge,
        rest=options.rest,
        choose=_size_rule(options),
        validation=validation,
        folds=blocks if options.size == "cross" else None,
        watch=watch,
        stop=stop,
    )


def _ranking(
    regression: Regression,
    estimator: Estimator,
    knowledge: Knowledge | None,
    options: ReduceOptions,
    blocks: Blocks,
    watch: Watch | None,
    stop: Stop,
) -> Ranking:
    match options.rule:
        case "contribution":
            if knowledge is None:
                raise DataError(
                    "contributions go by CAD values, and there are none",
                    remedy="reduce by deviation or greedy",
                )
            return contribution(regression, knowledge.mean).ranking
        case "deviation":
            return by_deviation(
                regression,
                estimator=estimator,
                knowledge=knowledge,
                rest=options.rest,
                watch=watch,
                stop=stop,
            )
        case "greedy":
            return greedy(
                regression,
                knowledge=knowledge,
                rest=options.rest,
                folds=blocks,
                watch=watch,
                stop=stop,
            )
    raise DataError(f"there is no reduction by {options.rule}", remedy=f"use {', '.join(RULES)}")


def _size_rule(options: ReduceOptions) -> SizeRule:
    if isinstance(options.size, int):
        return Fixed(options.size)
    if options.size == "cross":
        return OneStandardError()
    if options.size == "limits":
        return TwoLimits(options.condition)
    raise DataError(f"there is no size {options.size}", remedy="use limits, cross or a number")
