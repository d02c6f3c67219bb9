"""Reduction to the independent coordinates: the smallest state, and loops that cannot open.

    M(y) ÿ + h(y, ẏ) = τ,   z = (y, ẏ)

The loops are closed to rounding at every evaluation, so there is nothing to stabilise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mechid.dynamics.forward.dead_centre import Creep, Knot, bounce, refusal
from mechid.dynamics.forward.engine import Engine, Reduced
from mechid.dynamics.forward.formulation import Instant, massive
from mechid.dynamics.loads import Forces
from mechid.kinematics.kernels.dense import dense_rows
from mechid.kinematics.refusals import values_of
from mechid.kinematics.tables import Floats


class Independent:
    """State (y, ẏ)."""

    name = "independent"
    drifts = False

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def start(self, q: Floats, v: Floats) -> Floats:
        """Return z = (y, ẏ) of a closed pose."""
        t = self.engine.kinematics.tables
        values, jacobian = dense_rows(t, q)
        y, yd = np.zeros(self.engine.n_i), np.zeros(self.engine.n_i)
        driven = self.engine.drivers
        rate = (jacobian / t.rows.scale[:, None] / t.columns.scale) @ v
        y[t.rows.driver[driven]], yd[t.rows.driver[driven]] = values[driven], rate[driven]
        y[t.direct.driver], yd[t.direct.driver] = q[t.direct.q], v[t.direct.column]
        self.engine.anchor(y, q)
        return np.concatenate([y, yd])

    def evaluate(self, z: Floats, tau: Floats) -> Instant:
        """Return ż, energies and powers; there are no multipliers."""
        n = self.engine.n_i
        with massive():
            e = self.engine.accelerate(z[:n], z[n:], tau)
        rate = np.concatenate([z[n:], e.ydd])
        return Instant(rate, np.zeros(0), e.kinetic, e.potential, e.power, e.dissipated)

    def _accelerations(self, y: Floats, yd: Floats, tau: Floats) -> tuple[Reduced, Floats]:
        e = self.engine.reduced(y, yd)
        with massive():
            return e, np.asarray(np.linalg.solve(e.M, tau - e.h), dtype=float)

    def inspector(self, forces: Forces, duration: float) -> Callable[[float, Floats], None]:
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
            e, ydd = self._accelerations(y, yd, forces(t, y, yd))
            return Knot(t, y.copy(), yd.copy(), ydd, e.v, ydd @ e.R + e.bias, e.R)

        def inspect(t: float, z: Floats) -> None:
            now = look(t, *self.independent(z))
            when = bounce(last[0], now, look, scale) if last else None
            if when is None and creep.goes_on(now):
                when = t
            if when is not None:
                raise refusal(when, values_of(k, last[0].y))
            last[:] = [now]

        return inspect

    def independent(self, z: Floats) -> tuple[Floats, Floats]:
        """Return y and ẏ: the state itself."""
        return z[: self.engine.n_i], z[self.engine.n_i :]

    def independent_acceleration(self, z: Floats, rate: Floats) -> Floats:
        """Return ÿ: the second half of the rate."""
        return rate[self.engine.n_i :]

    def tree(self, z: Floats) -> tuple[Floats, Floats]:
        """Return q and v of the closed pose."""
        e = self.engine.reduced(*self.independent(z))
        return e.q, e.v

    def constraint_error(self, z: Floats) -> float:
        """Return the largest closure row, dimensionless: rounding."""
        return self.engine.reduced(*self.independent(z)).gap

    def project(self, z: Floats) -> Floats:
        """Return the state: it cannot leave the constraints."""
        return z
