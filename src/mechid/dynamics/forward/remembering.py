"""Forward dynamics with hysteresis: its h is a part of the state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.dynamics.forward.formulation import Formulation, Instant
from mechid.dynamics.hysteresis import Remembered
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats, Ints


class Remembering:
    """Any formulation with the h of k terms of hysteresis behind its own state.

    Parameters
    ----------
    inner : Formulation
        Of a model with plain forces in place of hysteresis.
    past : Remembered
    sizes : array (k,)
        Coefficients of the terms, N or N m.
    places : array of int (k,)
        Of the forces among the parameters of the engine.
    """

    def __init__(self, inner: Formulation, past: Remembered, sizes: Floats, places: Ints) -> None:
        self.inner, self.past, self.sizes, self.places = inner, past, sizes, places
        self.name, self.engine, self.drifts = inner.name, inner.engine, inner.drifts

    def own(self, z: Floats) -> Floats:
        """Return the state of the formulation."""
        return z[: -len(self.sizes)]

    def start(self, q: Floats, v: Floats) -> Floats:
        """Return the state of a closed pose; nothing is known of the path before."""
        return np.concatenate([self.inner.start(q, v), np.zeros(len(self.sizes))])

    def evaluate(self, z: Floats, tau: Floats, t: float = 0.0) -> Instant:
        """Return ż and what else is known: what hysteresis takes is dissipated, not fed in."""
        h = z[-len(self.sizes) :]
        self.engine.change(self.places, -self.sizes * h)
        now = self.inner.evaluate(self.own(z), tau, t)
        speeds = self._speeds(*self.inner.tree(self.own(z), t))
        widths = np.array([term.width for term in self.past.terms])
        taken = float(np.sum(self.sizes * h * speeds))
        return replace(
            now,
            rate=np.concatenate([now.rate, (speeds - np.abs(speeds) * h) / widths]),
            power=now.power + taken,
            dissipated=now.dissipated + taken,
        )

    def _speeds(self, q: Floats, v: Floats) -> Floats:
        """Return the speeds (k,) of the coordinates of the terms."""
        model = self.engine.model.kinematics
        found = []
        for term in self.past.terms:
            place = model.compiled.coordinate.get((term.joint, term.index))
            if place is not None and not place.ball:
                found.append(v[place.v])
                continue
            none = np.zeros((1, model.n_independent))
            motion = Motion(model, None, none, none, none, q[None], v[None], 0 * v[None], False)
            found.append(joint_motion(motion, term.joint).speeds[0, term.index])
        return np.array(found)

    def independent(self, z: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Return y and ẏ of a state."""
        return self.inner.independent(self.own(z), t)

    def independent_acceleration(self, z: Floats, rate: Floats, t: float = 0.0) -> Floats:
        """Return ÿ of a state whose derivative is `rate`."""
        return self.inner.independent_acceleration(self.own(z), self.own(rate), t)

    def tree(self, z: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Return the tree coordinates and speeds of a state."""
        return self.inner.tree(self.own(z), t)

    def constraint_error(self, z: Floats, t: float = 0.0) -> float:
        """Return how far the loops are open."""
        return self.inner.constraint_error(self.own(z), t)

    def project(self, z: Floats, t: float = 0.0) -> Floats:
        """Return the nearest state with closed loops; h stays."""
        return np.concatenate([self.inner.project(self.own(z), t), z[-len(self.sizes) :]])
