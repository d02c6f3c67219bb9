"""Gauss elimination over balls: every pivot that excludes zero proves one more rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb


@dataclass(frozen=True)
class Pivots:
    """Result of an elimination with complete pivoting.

    Attributes
    ----------
    rows, columns : tuples of int
        Places of the pivots, in the order found; their minor is nonzero.
    sizes : tuple of float
        Absolute values of the pivots, columns equilibrated.
    left : float
        Largest entry (with its radius) left when no pivot excluded zero any more.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    sizes: tuple[float, ...]
    left: float

    @property
    def rank(self) -> int:
        """Proven lower bound of the rank."""
        return len(self.columns)


def eliminate(rows: Sequence[Sequence[arb]]) -> Pivots:
    """Eliminate with complete pivoting on equilibrated columns until no pivot excludes zero."""
    if not len(rows):
        return Pivots((), (), (), 0.0)
    A = np.array(rows, dtype=object)
    # A column that may be zero throughout holds nothing but rounding: scaled, it would be noise.
    free = np.flatnonzero([not all(t.contains(0) for t in A[:, j]) for j in range(A.shape[1])])
    # Of columns that are alike the largest comes first: a tiny one may be nothing but the rounding
    # of the geometry.
    lengths = np.array([_norm(A[:, j]) for j in free])
    order = np.argsort(-lengths, kind="stable")
    free, lengths = free[order], lengths[order]
    A = A[:, free]
    for j, length in enumerate(lengths.tolist()):
        A[:, j] = A[:, j] / arb(length)
    lines = np.arange(len(A))
    chosen: list[int] = []
    columns: list[int] = []
    sizes: list[float] = []
    while len(A) and len(free):
        mags = _sizes(A)
        i, j = divmod(int(np.argmax(mags)), mags.shape[1])
        pivot = A[i, j]
        if pivot.contains(0):
            # The largest midpoint may lie in a wide ball; any other that excludes zero will do.
            sure = np.array([[not t.contains(0) for t in row] for row in A])
            if not sure.any():
                return Pivots(tuple(chosen), tuple(columns), tuple(sizes), _largest(A))
            i, j = divmod(int(np.argmax(np.where(sure, mags, -1.0))), mags.shape[1])
            pivot = A[i, j]
        chosen.append(int(lines[i]))
        columns.append(int(free[j]))
        sizes.append(float(mags[i, j]))
        row = np.delete(A[i], j) / pivot
        others = np.delete(A, i, axis=0)
        heads = others[:, j]
        others = np.delete(others, j, axis=1)
        # Exact zeros only: of a ball that holds zero, `t != 0` is false too.
        used = np.flatnonzero([not t.is_zero() for t in heads])
        live = np.flatnonzero([not t.is_zero() for t in row])
        if len(used) and len(live):
            block = np.ix_(used, live)
            others[block] = others[block] - np.outer(heads[used], row[live])
        A, free, lines = others, np.delete(free, j), np.delete(lines, i)
    return Pivots(tuple(chosen), tuple(columns), tuple(sizes), 0.0)


def _sizes(A: np.ndarray) -> np.ndarray:
    return np.array([[abs(float(t.mid())) for t in row] for row in A])


def _norm(column: np.ndarray) -> float:
    return max((abs(float(t.mid())) for t in column), default=0.0)


def _largest(A: np.ndarray) -> float:
    return max((float(t.abs_upper()) for row in A for t in row), default=0.0)
