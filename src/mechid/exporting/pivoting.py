"""Recorded kernels that pick their pivots where the code runs, by selections.

A recorded matrix is otherwise factored with the pivots of the home pose, which become small when a
crank turns far; `kinematics.engine` has the kernels behind it then, exported code has nothing.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from mechid.kinematics.engine.record import RecordedKernels, recorded_factor
from mechid.kinematics.kernels import linear
from mechid.tape.number import (
    Condition,
    Number,
    Recorder,
    Value,
    known_zero,
    larger,
    select,
    smaller,
)

# Larger systems keep the pivots of the home pose: selections grow with the third power.
MOST_UNKNOWNS = 7


class PivotingKernels(RecordedKernels):
    """Kernels as functions of recording numbers, with row pivoting in small systems."""

    def __init__(self, recorder: Recorder, branching: tuple[object, ...] = ()) -> None:
        super().__init__(recorder, branching)
        # exchanges of rows, by where the pivots of a system begin in the array of all
        self._swaps: dict[tuple[int, int], list[tuple[int, int, Condition | bool]]] = {}
        self._instead |= {linear.factor: self._factor, linear.substitute: self._substitute}
        self._plain = getattr(linear.substitute, "py_func", linear.substitute)

    def solve(self, A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, Value]:
        """Return x of A x = b for a square matrix of recorded numbers, and its smallest pivot."""
        n, x = len(b), b.copy()
        factors, pivots = A.flatten(), np.zeros(n, dtype=np.int64)
        self._factor(factors, 0, n, n, pivots, 0)
        self._substitute(factors, 0, n, pivots, 0, x)
        inverse = reduce(larger, (abs(factors[i * n + i]) for i in range(n)))
        return x, 1.0 / inverse

    def _factor(
        self, a: np.ndarray, at: int, m: int, n: int, pivots: np.ndarray, first: int
    ) -> tuple[Value, Value]:
        """Do what `linear.factor` does; return the determinant instead of its sign."""
        self._swaps.pop((id(pivots), first), None)
        if n > MOST_UNKNOWNS:
            return recorded_factor(a, at, m, n, pivots, first)
        A = a[at : at + m * n].reshape(m, n)
        swaps = self._swaps[id(pivots), first] = []
        smallest: Value = 1e300
        largest: Value = 0.0
        determinant: Value = 1.0 if m == n else 0.0
        for c in range(n):
            for r in range(c + 1, m):
                if known_zero(A[r, c]):
                    continue
                better = True if known_zero(A[c, c]) else abs(A[r, c]) > abs(A[c, c])
                swaps.append((c, r, better))
                determinant = select(better, -determinant, determinant)
                for j in range(n):
                    A[c, j], A[r, j] = _swapped(better, A[c, j], A[r, j])
            pivot = A[c, c]
            smallest, largest = smaller(smallest, abs(pivot)), larger(largest, abs(pivot))
            determinant = determinant * pivot
            A[c, c] = 1.0 / pivot if isinstance(pivot, Number) or pivot else np.inf
            for r in range(c + 1, m):
                A[r, c] = A[r, c] * A[c, c]
                if not known_zero(A[r, c]):
                    A[r, c + 1 :] = A[r, c + 1 :] - A[c, c + 1 :] * A[r, c]
        return smallest / largest, determinant

    def _substitute(
        self, a: np.ndarray, at: int, n: int, pivots: np.ndarray, first: int, b: np.ndarray
    ) -> None:
        """Do what `linear.substitute` does."""
        if n <= MOST_UNKNOWNS:
            for c, r, better in self._swaps[id(pivots), first]:
                b[c], b[r] = _swapped(better, b[c], b[r])
            pivots = np.arange(first + n) - first
        self._plain(a, at, n, pivots, first, b)


def _swapped(better: Condition | bool, x: Value, y: Value) -> tuple[Value, Value]:
    return select(better, y, x), select(better, x, y)
