"""Sparse elimination: a basis of the span of vectors with few entries each.

Vectors are taken one after the other and reduced by those before. Transfers touch one or two bodies
each, so that the work per vector does not grow with the mechanism, where an SVD of all of them
grows with the cube.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeAlias

SparseVector: TypeAlias = Mapping[int, float]

# Entries that cancel leave rounding; it must not become fill.
_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class SparseBasis:
    """Independent vectors, each with a pivot entry of 1 where all vectors after it are zero.

    Attributes
    ----------
    pivots : mapping
        Place of the pivot → number of the vector.
    vectors : list of mappings
    """

    pivots: dict[int, int] = field(default_factory=dict)
    vectors: list[tuple[int, dict[int, float]]] = field(default_factory=list)

    @property
    def rank(self) -> int:
        """Number of independent vectors."""
        return len(self.vectors)

    def left_over(self, vector: SparseVector) -> dict[int, float]:
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
        """Say whether a vector of unit length lies in the span."""
        return all(abs(x) <= tolerance for x in self.left_over(vector).values())


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
        left = basis.left_over(vector)
        if not left:
            continue
        place = max(left, key=lambda i: (abs(left[i]), -i))
        head = left[place]
        if abs(head) <= tolerance:
            continue
        basis.pivots[place] = len(basis.vectors)
        kept = {i: x / head for i, x in left.items() if abs(x) > _ROUNDING * abs(head)}
        basis.vectors.append((place, kept))
    return basis
