"""Forward dynamics with friction that depends on the load: drives do not transmit all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.dynamics.drive import Driven
from mechid.dynamics.forward.formulation import Formulation, Instant
from mechid.dynamics.load_friction import LoadFriction
from mechid.dynamics.loads import Forces
from mechid.kinematics.tables import Floats


class Rubbing:
    """Any formulation behind drives whose friction depends on the load.

    Parameters
    ----------
    inner : Formulation
        Of the mechanism without that friction.
    friction : LoadFriction
    driven : Driven
        Coordinates with a given motion: what is found of them is the load.
    """

    def __init__(self, inner: Formulation, friction: LoadFriction, driven: Driven) -> None:
        self.inner, self.friction, self.driven = inner, friction, driven
        self.name, self.engine, self.drifts = inner.name, inner.engine, inner.drifts

    def loads(self, tau: Floats, yd: Floats) -> Floats:
        """Return what drives with the forces τ (n_i,) transmit."""
        return np.asarray(self.friction.transmitted(tau[None], yd[None])[0])

    def behind(self, forces: Forces) -> Forces:
        """Return what drives with given forces transmit, as a function of t, y and ẏ."""
        return lambda t, y, yd: self.loads(forces(t, y, yd), yd)

    def evaluate(self, z: Floats, tau: Floats, t: float = 0.0) -> Instant:
        """Return ż and what else is known; what the drives lose is fed in and dissipated."""
        _, yd = self.inner.independent(z, t)
        now = self.inner.evaluate(z, self.loads(tau, yd), t)
        needed = now.tau * self.friction.factors(yd[None], now.tau[None])[0]
        whole = np.array(tau, dtype=float)
        whole[self.driven.index] = needed[self.driven.index]
        lost = float((whole - now.tau) @ yd)
        return replace(now, tau=whole, power=now.power + lost, dissipated=now.dissipated + lost)

    def start(self, q: Floats, v: Floats) -> Floats:
        """Return the state of a closed pose."""
        return self.inner.start(q, v)

    def independent(self, z: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Return y and ẏ of a state."""
        return self.inner.independent(z, t)

    def independent_acceleration(self, z: Floats, rate: Floats, t: float = 0.0) -> Floats:
        """Return ÿ of a state whose derivative is `rate`."""
        return self.inner.independent_acceleration(z, rate, t)

    def tree(self, z: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Return the tree coordinates and speeds of a state."""
        return self.inner.tree(z, t)

    def constraint_error(self, z: Floats, t: float = 0.0) -> float:
        """Return how far the loops are open."""
        return self.inner.constraint_error(z, t)

    def project(self, z: Floats, t: float = 0.0) -> Floats:
        """Return the nearest state with closed loops."""
        return self.inner.project(z, t)
