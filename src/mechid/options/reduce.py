"""How a model is reduced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from mechid.shown import changes_repr

Order: TypeAlias = Literal["contribution", "stacked-contribution", "deviation", "greedy"]
ORDERS: tuple[Order, ...] = get_args(Order)


@dataclass(frozen=True)
class ReduceOptions:
    """How a model is reduced.

    Attributes
    ----------
    by : str
        Order of elimination: "contribution" to the forces by CAD values, each force in its own
        measure; "stacked-contribution", N and N m alike, as the sources have it; relative standard
        "deviation"; "greedy" by cross-validated error.
    size : int or str
        "cross" or "auto": by cross-validation, within one standard error of the best; "limits": the
        smallest size with a low error, if its condition number is low too; or a number.
    rest : "zero", "cad" or "auto"
        What eliminated parameters are; "auto": CAD values, where the estimator uses them.
    condition : float
        Upper limit of the condition number, for "limits".
    blocks : int
        Blocks of time of the cross-validation.
    """

    by: Order = "contribution"
    size: int | Literal["auto", "limits", "cross"] = "auto"
    rest: Literal["auto", "zero", "cad"] = "auto"
    condition: float = 1e5
    blocks: int = 5

    __repr__ = changes_repr
