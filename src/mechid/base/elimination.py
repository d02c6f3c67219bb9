"""Sparse elimination of the dependent rows of N, in any numbers.

Columns of N are combined until each dependent parameter has one column of its own, with a one in
its row and zeros in the rows of the other dependent ones. What then stands in the rows of the base
parameters is N_b N_d⁻¹. Joints couple few parameters each; pivots are taken where the least
fill-in threatens, so that long chains cost little more than the sum of their links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Sparse: TypeAlias = dict[str, Any]

_COMPARABLE = 1e-3  # of the largest entry of a row: such pivots are as good as the largest


def eliminate(
    columns: Iterable[Sparse],
    dependent: Iterable[str],
    size: Callable[[Any], float],
    is_zero: Callable[[Any], bool],
) -> dict[str, Sparse]:
    """Return, for each dependent parameter, its column of N N_d⁻¹.

    Parameters
    ----------
    columns : iterable of mappings
        Columns of N, parameter → number; as many as there are dependent parameters, independent.
    dependent : iterable of str
        Rows to eliminate.
    size : function
        Size of a number at the values of the model, 0.0 where it vanishes there.
    is_zero : function
        Whether a number vanishes identically.
    """
    left = [dict(column) for column in columns]
    holders: dict[str, set[int]] = {}
    for k, column in enumerate(left):
        for name in column:
            holders.setdefault(name, set()).add(k)
    free = set(range(len(left)))
    waiting = dict.fromkeys(dependent)
    done: dict[str, int] = {}
    while waiting:
        name = min(waiting, key=lambda n: len(holders.get(n, set()) & free) or len(left) + 1)
        pivot = _pivot(name, holders.get(name, set()) & free, left, size)
        del waiting[name]
        free.discard(pivot)
        done[name] = pivot
        head = left[pivot][name]
        left[pivot] = {n: x / head for n, x in left[pivot].items()}
        for k in list(holders[name]):
            if k != pivot:
                _subtract(left, k, pivot, name, holders, is_zero)
    return {name: left[k] for name, k in done.items()}


def _pivot(
    name: str, candidates: set[int], left: list[Sparse], size: Callable[[Any], float]
) -> int:
    sizes = {k: size(left[k][name]) for k in candidates}
    largest = max(sizes.values(), default=0.0)
    if largest == 0.0:
        raise ZeroDivisionError(name)  # the rows of N were not independent
    good = [k for k, x in sizes.items() if x >= _COMPARABLE * largest]
    return min(good, key=lambda k: (len(left[k]), k))


def _subtract(
    left: list[Sparse],
    k: int,
    pivot: int,
    name: str,
    holders: dict[str, set[int]],
    is_zero: Callable[[Any], bool],
) -> None:
    column = left[k]
    factor = column.pop(name)
    holders[name].discard(k)
    for n, x in left[pivot].items():
        if n == name:
            continue
        if n not in column:
            column[n] = -factor * x
            holders.setdefault(n, set()).add(k)
            continue
        changed = column[n] - factor * x
        if is_zero(changed):
            del column[n]
            holders[n].discard(k)
        else:
            column[n] = changed
