"""Reduction to the independent coordinates: the smallest state, and loops that cannot open.

    M(y) ÿ + h(y, ẏ) = τ,   z = (y, ẏ)

The loops are closed to rounding at every evaluation, so there is nothing to stabilise. Driven
coordinates d are no part of the state: with the free ones f,

    M_ff ÿ_f = (τ - h)_f - M_fd ÿ_d,   τ_d = (M ÿ + h)_d
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mechid.dynamics.drive import Driven, nothing_driven
from mechid.dynamics.forward.dead_centre import Creep, Knot, bounce, refusal
from mechid.dynamics.forward.engine import Accelerated, Engine
from mechid.dynamics.forward.formulation import Instant, massive
from mechid.dynamics.kernels.stages import Split
from mechid.dynamics.loads import Forces
from mechid.kinematics.kernels.dense import dense_rows
from mechid.kinematics.refusals import values_of
from mechid.kinematics.tables import Floats

if TYPE_CHECKING:
    from mechid.dynamics.forward.compiled import CompiledStages


class Independent:
    """State (y, ẏ) of the coordinates that are not driven."""

    name = "independent"
    drifts = False

    def __init__(self, engine: Engine, driven: Driven | None = None) -> None:
        self.engine = engine
        self.driven = driven or nothing_driven(engine.n_i)
        self._start: tuple[bytes, Floats, Floats] | None = None
        self.split = Split(self.driven.free, self.driven.index, np.zeros(0, dtype=np.int64))

    def start(self, q: Floats, v: Floats) -> Floats:
        """Return z = (y, ẏ) of a closed pose; poses are followed from there."""
        y, yd = self._coordinates(q, v)
        self.engine.anchor(y, q)
        free = self.driven.free
        return np.concatenate([y[free], yd[free]])

    def _coordinates(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Return y and ẏ of a closed pose; a simulation asks for those of its start twice."""
        pose = q.tobytes() + v.tobytes()
        if self._start is not None and self._start[0] == pose:
            return self._start[1:]
        t = self.engine.kinematics.tables
        values, jacobian = dense_rows(t, q)
        y, yd = np.zeros(self.engine.n_i), np.zeros(self.engine.n_i)
        driven = self.engine.drivers
        rate = (jacobian / t.rows.scale[:, None] / t.columns.scale) @ v
        y[t.rows.driver[driven]], yd[t.rows.driver[driven]] = values[driven], rate[driven]
        y[t.direct.driver], yd[t.direct.driver] = q[t.direct.q], v[t.direct.column]
        self._start = (pose, y, yd)
        return y, yd

    def evaluate(self, z: Floats, tau: Floats, t: float = 0.0) -> Instant:
        """Return ż, energies and powers; there are no multipliers."""
        y, yd = self.independent(z, t)
        e = self._accelerations(y, yd, tau, t)
        free = self.driven.free
        return Instant(
            rate=np.concatenate([yd[free], e.ydd[free]]),
            tau=e.tau,
            multipliers=np.zeros(0),
            kinetic=e.kinetic,
            potential=e.potential,
            power=e.power,
            dissipated=e.dissipated,
        )

    def _accelerations(self, y: Floats, yd: Floats, tau: Floats, t: float) -> Accelerated:
        with massive():
            if not self.driven:
                return self.engine.accelerate(y, yd, tau)
            return self.engine.accelerate(y, yd, tau, self.split, self.driven.at(t)[2])

    def inspector(
        self, forces: Forces, duration: float, stages: CompiledStages | None = None
    ) -> Callable[[float, Floats], None]:
        """Return a function that is to see the state after every step, from the start on.

        It raises a SingularPoseError where the step before bounced off a dead centre, or where
        steps only creep towards one.
        """
        k = self.engine.kinematics
        dependent = k.order.columns.piece >= 0
        scale = np.where(dependent, k.tables.columns.scale, np.inf)
        creep = Creep(duration, scale)
        last: list[Knot] = []

        def look(t: float, y: Floats, yd: Floats) -> Knot:
            self._accelerations(y, yd, forces(t, y, yd), t)
            return Knot(t, *self.engine.motion())

        def inspect(t: float, z: Floats) -> None:
            now = stages.knot(t, z) if stages else None
            now = now or look(t, *self.independent(z, t))
            when = bounce(last[0], now, look, scale) if last else None
            if when is None and creep.goes_on(now):
                when = t
            if when is not None:
                raise refusal(when, values_of(k, last[0].y))
            last[:] = [now]

        return inspect

    def independent(self, z: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Return y and ẏ: the state itself, and what is driven."""
        n = len(z) // 2
        if not self.driven:
            return z[:n], z[n:]
        y, yd = np.zeros(self.engine.n_i), np.zeros(self.engine.n_i)
        y[self.driven.free], yd[self.driven.free] = z[:n], z[n:]
        self.driven.set(t, y, yd)
        return y, yd

    def independent_acceleration(self, z: Floats, rate: Floats, t: float = 0.0) -> Floats:
        """Return ÿ: the second half of the rate, and what is driven."""
        ydd = np.zeros(self.engine.n_i)
        ydd[self.driven.free] = rate[len(rate) // 2 :]
        if self.driven:
            ydd[self.driven.index] = self.driven.at(t)[2]
        return ydd

    def tree(self, z: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Return q and v of the closed pose."""
        e = self.engine.reduced(*self.independent(z, t))
        return e.q, e.v

    def constraint_error(self, z: Floats, t: float = 0.0) -> float:
        """Return the largest closure row, dimensionless: rounding."""
        return self.engine.reduced(*self.independent(z, t)).gap

    def project(self, z: Floats, t: float = 0.0) -> Floats:
        """Return the state: it cannot leave the constraints."""
        return z
