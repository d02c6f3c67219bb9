"""Sparse elimination: a basis of vectors with few entries in floats, and N N_d⁻¹ in any numbers.

Transfers touch one or two bodies each. Reduced one after the other by those before, the work per
vector does not grow with the mechanism, where an SVD of all of them grows with the cube.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, TypeAlias

SparseVector: TypeAlias = Mapping[Any, float]  # entries by index or by parameter name
Sparse: TypeAlias = dict[str, Any]

# Entries that cancel leave rounding; it must not become fill.
_ROUNDING = 1e-14
_COMPARABLE = 1e-3  # of the largest entry of a row: such pivots are as good as the largest


@dataclass(frozen=True, eq=False)
class SparseBasis:
    """Independent vectors, each with a pivot entry of 1 where all vectors after it are zero.

    Attributes
    ----------
    pivots : mapping
        Place of the pivot → number of the vector.
    vectors : list of mappings
    """

    pivots: dict[Any, int] = field(default_factory=dict)
    vectors: list[tuple[Any, dict[Any, float]]] = field(default_factory=list)

    @property
    def rank(self) -> int:
        """Number of independent vectors."""
        return len(self.vectors)

    def left_over(self, vector: SparseVector) -> dict[Any, float]:
        """Return what the basis leaves of a vector."""
        left = dict(vector)
        waiting: list[int] = []
        for place in left:
            if place in self.pivots:
                heappush(waiting, self.pivots[place])
        while waiting:
            # Earlier vectors first: they may bring in the pivots of later ones, never the reverse.
            place, reducer = self.vectors[heappop(waiting)]
            factor = left.pop(place, 0.0)
            if factor == 0.0:
                continue
            for i, x in reducer.items():
                if i == place:
                    continue
                before = left.get(i, 0.0)
                after = before - factor * x
                if abs(after) <= _ROUNDING * max(abs(before), abs(factor * x)):
                    left.pop(i, None)
                else:
                    if before == 0.0 and i in self.pivots:
                        heappush(waiting, self.pivots[i])
                    left[i] = after
        return left

    def contains(self, vector: SparseVector, tolerance: float) -> bool:
        """Return whether a vector of unit length lies in the span."""
        return all(abs(x) <= tolerance for x in self.left_over(vector).values())

    def add(self, vector: SparseVector, tolerance: float) -> bool:
        """Add a vector of unit length unless the basis leaves nothing of it above the tolerance.

        Returns whether the vector was new.
        """
        left = self.left_over(vector)
        # Of equal entries the first one, in the order in which the vector gives them.
        place = max(left, key=lambda i: abs(left[i]), default=None)
        if place is None or abs(left[place]) <= tolerance:
            return False
        head = left[place]
        self.pivots[place] = len(self.vectors)
        kept = {i: x / head for i, x in left.items() if abs(x) > _ROUNDING * abs(head)}
        self.vectors.append((place, kept))
        return True


def sparse_basis(vectors: Iterable[SparseVector], tolerance: float) -> SparseBasis:
    """Return a basis of the span of vectors of unit length.

    Parameters
    ----------
    vectors : iterable of mappings
        Place → entry.
    tolerance : float
        A vector of which less is left depends on those before it.
    """
    basis = SparseBasis()
    # Those with few entries first: they bring in the least fill.
    for vector in sorted(vectors, key=len):
        basis.add(vector, tolerance)
    return basis


def eliminate(
    columns: Iterable[Sparse],
    dependent: Iterable[str],
    size: Callable[[Any], float],
    is_zero: Callable[[Any], bool],
) -> dict[str, Sparse]:
    """Return, for each dependent parameter, its column of N N_d⁻¹.

    Columns of N are combined until each dependent parameter has one column of its own, with a one
    in its row and zeros in the rows of the other dependent ones. Joints couple few parameters each;
    pivots are taken where the least fill-in threatens, so that long chains cost little more than
    the sum of their links.

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
