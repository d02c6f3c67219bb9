"""Reduction to the independent coordinates: the smallest state, and loops that cannot open.

    M(y) ÿ + h(y, ẏ) = τ + loads,   z = (y, ẏ)

The loops are closed to rounding at every evaluation, so there is nothing to stabilise.
"""

from __future__ import annotations

import numpy as np

from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.forward.formulation import Instant, massive
from mechid.kinematics.kernels.dense import dense_rows
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
