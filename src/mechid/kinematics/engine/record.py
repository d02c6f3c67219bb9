"""Kernels of the closure, recorded for one mechanism (see `mechid.tape`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mechid.kinematics.kernels import closure, follow, linear, links, rows
from mechid.kinematics.model import KinematicModel
from mechid.tape.branches import all_ways
from mechid.tape.number import (
    Recorder,
    RecordingError,
    Value,
    known_zero,
    larger,
    smaller,
    value_of,
)
from mechid.tape.plain import plain_tables, uncompiled

# A row with fewer entries is taken as pivot if it is not smaller than this part of the largest.
_WEAKER_PIVOT = 0.3


def recorded_factor(
    a: np.ndarray, at: int, m: int, n: int, pivots: np.ndarray, first: int
) -> tuple[Value, Value]:
    """Do what `linear.factor` does, with the pivots of the state of the recording.

    Returns the determinant of the rows that were chosen instead of its sign.
    """
    smallest: Value = 1e300
    largest: Value = 0.0
    determinant: Value = 1.0
    for c in range(n):
        sizes = {r: abs(value_of(a[at + r * n + c])) for r in range(c, m)}
        best = max(sizes.values())
        if not best > 0.0:
            raise RecordingError("the pose of the recording is singular")
        where = min(
            (r for r in sizes if sizes[r] >= _WEAKER_PIVOT * best),
            key=lambda r: (
                sum(not known_zero(a[at + r * n + j]) for j in range(c, n)),
                -sizes[r],
            ),
        )
        top, other = at + c * n, at + where * n
        pivots[first + c] = where
        if where != c:
            determinant = -determinant
            for j in range(n):
                a[top + j], a[other + j] = a[other + j], a[top + j]
        pivot = a[top + c]
        smallest, largest = smaller(smallest, abs(pivot)), larger(largest, abs(pivot))
        determinant = determinant * pivot
        inverse = 1.0 / pivot
        a[top + c] = inverse
        for r in range(c + 1, m):
            low = at + r * n
            f = a[low + c] * inverse
            a[low + c] = f
            if not known_zero(f):
                for j in range(c + 1, n):
                    a[low + j] = a[low + j] - f * a[top + j]
    return smallest / largest, determinant


class RecordedKernels:
    """Kernels as functions of recording numbers; `branching` are those that must be explored."""

    def __init__(self, recorder: Recorder, branching: tuple[Any, ...] = ()) -> None:
        self._instead: dict[Any, Callable[..., Any]] = {linear.factor: recorded_factor}
        pure = (links.cosine_and_sinc, rows.row_value, rows._thread, *branching)
        copies = {k: uncompiled(k, self._instead) for k in pure}
        self._instead |= {k: all_ways(f, recorder) for k, f in copies.items()}
        self._made: dict[Any, Callable[..., Any]] = {}

    def __call__(self, kernel: Any, *args: Any) -> Any:
        """Run a kernel on recording numbers."""
        if kernel not in self._made:
            self._made[kernel] = uncompiled(kernel, self._instead)
        return self._made[kernel](*args)


def numbers(*shape: int) -> np.ndarray:
    """Return zeros that can become recorded numbers."""
    return np.zeros(shape, dtype=object)


def largest(values: np.ndarray, weights: list[float]) -> Value:
    """Return the largest absolute value of some numbers, each times its weight."""
    size: Value = 0.0
    for x, weight in zip(values, weights, strict=True):
        size = larger(size, abs(x) * weight)
    return size


@dataclass(frozen=True)
class RecordedPose:
    """Poses and factors of one sample, in `work` as the kernels leave them there."""

    model: KinematicModel
    run: RecordedKernels
    t: Any
    order: Any
    q: np.ndarray
    y: np.ndarray
    work: Any
    ratio: Value

    @staticmethod
    def record(
        model: KinematicModel, run: RecordedKernels, q: np.ndarray, y: np.ndarray
    ) -> RecordedPose:
        """Place and factor everything at q; independent coordinates in it are those of y."""
        t, order = plain_tables(model.tables), plain_tables(model.order)
        q = q.copy()
        for direct in t.direct:
            q[direct.q] = y[direct.driver]
        work = run(closure.make_work, t, order, q)._replace(sign=numbers(order.pieces.size))
        ratio = run(closure.factor_sample, t, order, q, work)
        return RecordedPose(model, run, t, order, q, y, work, ratio)

    @staticmethod
    def closed(model: KinematicModel, run: RecordedKernels, q: np.ndarray) -> RecordedPose:
        """Place and factor a closed pose: independent coordinates in q are what they should be."""
        y = numbers(model.n_independent)
        for direct in model.tables.direct:
            y[direct.driver] = q[direct.q]
        return RecordedPose.record(model, run, q, y)

    @cached_property
    def rows(self) -> list[int]:
        """Rows that take part in the solution."""
        items = self.order.items
        return [int(r) for p in self.order.pieces for r in items[p.row_start : p.row_end]]

    @cached_property
    def determinants(self) -> list[Value]:
        """Determinant of each piece that has unknowns."""
        pieces = enumerate(self.order.pieces)
        return [self.work.sign[i] for i, p in pieces if p.column_end > p.column_start]

    @cached_property
    def gaps(self) -> np.ndarray:
        """What each row lacks, (n_rows,)."""
        gaps = numbers(self.t.rows.size)
        for r in self.rows:
            value = self.run(
                rows.row_value, self.t, r, self.q, self.work.markers, self.work.directions
            )
            driver = self.t.rows[r].driver
            gaps[r] = value - self.y[driver] if driver >= 0 else value
        return gaps

    def largest_gap(self) -> Value:
        """Return the dimensionless size of the largest gap."""
        return largest(self.gaps[self.rows], [self.t.rows[r].scale for r in self.rows])

    def closing_step(self) -> np.ndarray:
        """Return the step of Newton's method in tree speeds, (n_v,).

        All pieces together: what earlier ones move is taken along to first order.
        """
        step = numbers(self.t.columns.size)
        self.run(closure.solve_bias, self.t, self.order, self.gaps, step, self.work)
        return step

    def size(self, step: np.ndarray) -> Value:
        """Return the dimensionless size of a step in tree speeds."""
        return largest(step, [column.weight for column in self.order.columns])

    def advanced(self, step: np.ndarray) -> np.ndarray:
        """Return the coordinates after a step in tree speeds."""
        q = self.q.copy()
        self.run(links.advance, self.t, q, step, 1.0)
        return q

    def admissible(self) -> np.ndarray:
        """Return R (n_i, n_v), the tree speeds per unit of each independent speed."""
        R = numbers(len(self.y), self.t.columns.size)
        self.run(closure.admissible, self.t, self.order, R, self.work)
        return R

    def rates(
        self, R: np.ndarray, yd: np.ndarray, ydd: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return v, v̇ and b = v̇ - R ÿ, each (n_v,)."""
        n = self.t.columns.size
        v, vd, b, zero = (numbers(n) for _ in range(4))
        bias = numbers(self.t.rows.size)
        self.run(
            follow.finish_sample, self.t, self.order, yd, ydd, R, v, vd, b, zero, bias, self.work
        )
        return v, vd, b

    def jacobian(self) -> np.ndarray:
        """Return the dimensionless J (n_rows, n_dependent), as `branch.dependent_jacobians`."""
        t, work = self.t, self.work
        n = t.rows.size
        entries, J = numbers(t.path.size), numbers(n, t.columns.size)
        placed = (work.vectors[0], work.axes, work.markers, work.directions)
        self.run(rows.row_entries, t, np.arange(n), 0, n, *placed, entries)
        for r, row in enumerate(t.rows):
            for k in range(row.start, row.end):
                c = t.path[k].column
                J[r, c] = J[r, c] + entries[k] * (row.scale * t.columns[c].scale)
        return J[:, [column.piece >= 0 for column in self.order.columns]]
