"""Lagrange multipliers on positions and Euler parameters of all bodies.

The state is (q, q̇) of the reference-point formulation, 14 numbers per body; the equations are
those of `dynamics.reference_point.augmented`. Angles are integrated beside it, because a pose shows
them within ±π only. Slow and plain: the formulation of the literature, and the check of the others.
"""

from __future__ import annotations

import numpy as np

from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.forward.formulation import Baumgarte, Instant
from mechid.dynamics.reference_point.augmented import accelerations, constraint_error
from mechid.dynamics.reference_point.body_matrix import speed_map
from mechid.dynamics.reference_point.elements import Readings, load_wrenches, read
from mechid.dynamics.reference_point.mass import mass_and_bias
from mechid.dynamics.reference_point.model import reference_model
from mechid.dynamics.reference_point.state import state_from_motion
from mechid.dynamics.tables import COULOMB, DAMPING, INERTIA, PRELOAD, STIFFNESS
from mechid.kinematics.frames import body_frames, frame_motion
from mechid.kinematics.reference_point.drivers import joint_coordinate_row
from mechid.kinematics.reference_point.evaluate import compile_rows, gamma, jacobian, values
from mechid.kinematics.reference_point.system import Pose, moved, pose_at
from mechid.kinematics.tables import Floats
from mechid.spatial.rotations import matrix_from_quaternion

_RANK = 1e-10
_ROUNDING = 1e-14


class Augmented:
    """State (q, q̇), 7 numbers per body each, and the angles that count full turns.

    These are the independent coordinates, what elements measure, and `Pose.turns`, in this order.
    """

    name = "augmented"
    drifts = True

    def __init__(self, engine: Engine, baumgarte: Baumgarte) -> None:
        self.engine = engine
        self.baumgarte = baumgarte
        self.model = reference_model(engine.model.mechanism)
        system = self.model.system
        mechanism, numbers = system.mechanism, self.model.elements.numbers
        turning = tuple(
            joint_coordinate_row(name, mechanism.joint(name), k, numbers)
            for name, k in system.turning_coordinates
        )
        turns = compile_rows(turning, self.model.n_bodies)
        self._followed = (system.drivers, self.model.elements.rows, turns)
        self._n = 7 * self.model.n_bodies
        # Numbers near which angles lie, of the last state that was looked at.
        self._y, self._near, turned = (np.zeros(len(rows.rows)) for rows in self._followed)
        self._pose = Pose(np.zeros(self._n), turned)

    def start(self, q: Floats, v: Floats) -> Floats:
        """Return the state of all bodies of a closed tree state."""
        k = self.engine.kinematics
        frames = frame_motion(k, q[None], v[None], np.zeros_like(v)[None], body_frames(k))
        state = state_from_motion(self.model, frames)[0]
        t = k.tables
        self._y[t.direct.driver] = q[t.direct.q]  # angles count their turns from here
        self._pose = pose_at(self.model.system, state.q)
        for i, place in enumerate(self.model.system.turning_coordinates):
            if place in k.compiled.coordinate:
                self._pose.turns[i] = q[k.compiled.coordinate[place].q]
        self._follow(state.q)
        self.engine.anchor(self._y, q)
        return np.concatenate([state.q, state.qd, self._y, self._near, self._pose.turns])

    def _follow(self, q: Floats) -> None:
        """Take the angles of a pose that are nearest to those at hand."""
        self._y = values(self.model.system.drivers, q, self._y)
        self._pose = moved(self.model.system, self._pose, q)
        elements = self.model.elements
        near = elements.near(self._near, self._y, q)
        self._near = values(elements.rows, q, near)

    def _parts(self, z: Floats) -> tuple[Floats, Floats]:
        """Return q, with unit quaternions, and q̇; its angles are kept."""
        q, qd = z[: self._n].copy(), z[self._n : 2 * self._n]
        bodies = q.reshape(-1, 7)
        bodies[:, 3:] /= np.linalg.norm(bodies[:, 3:], axis=1, keepdims=True)
        ends = np.cumsum([len(rows.rows) for rows in self._followed])[:-1]
        self._y, self._near, turns = np.split(z[2 * self._n :], ends)
        self._pose = Pose(q, turns)
        self._follow(q)
        return q, qd

    def evaluate(self, z: Floats, tau: Floats) -> Instant:
        """Return ż, multipliers of all constraint rows, energies and powers."""
        q, qd = self._parts(z)
        phi = self.engine.phi
        solved = accelerations(
            self.model,
            q,
            qd,
            tau,
            phi=phi,
            alpha=self.baumgarte.alpha,
            beta=self.baumgarte.beta,
            near=self._near,
            pose=self._pose,
        )
        yd = jacobian(self.model.system.drivers, q) @ qd
        rotation = matrix_from_quaternion(q.reshape(-1, 7)[:, 3:])
        loads = load_wrenches(self.model.elements, rotation).ravel()
        power = float(tau @ yd + loads @ (speed_map(q, "euler") @ qd))
        readings = read(self.model.elements, q, qd, solved.qdd, self._near)
        potential, dissipated = self._elements(readings)
        M, _ = mass_and_bias(self.model, phi, q, qd, self._near)
        weight = sum(
            phi[10 * i] * self.model.gravity @ b[:3]
            + self.model.gravity @ (rotation[i] @ phi[10 * i + 1 : 10 * i + 4])
            for i, b in enumerate(q.reshape(-1, 7))
        )
        return Instant(
            np.concatenate([qd, solved.qdd, *(jacobian(x, q) @ qd for x in self._followed)]),
            solved.multipliers,
            float(0.5 * qd @ M @ qd),
            float(potential - weight),
            power,
            dissipated,
        )

    def _elements(self, readings: Readings) -> tuple[float, float]:
        """Potential energy of springs, and the power that dampers and friction take."""
        potential = dissipated = 0.0
        columns = iter(self.engine.phi[10 * self.model.n_bodies :])
        for term, s, rate in zip(
            self.model.elements.terms, readings.value, readings.rate, strict=True
        ):
            c = float(term.column.value or 0.0) if term.known else float(next(columns))
            match term.takes:
                case t if t == STIFFNESS:
                    potential += 0.5 * c * (s - term.offset) ** 2
                case t if t == PRELOAD:
                    potential -= c * s
                case t if t == DAMPING:
                    dissipated += c * rate**2
                case t if t == COULOMB:
                    dissipated += c * abs(rate)
                case t if t == INERTIA:
                    pass  # in the mass matrix
        return potential, dissipated

    def independent(self, z: Floats) -> tuple[Floats, Floats]:
        """Return y and ẏ."""
        q, qd = self._parts(z)
        return self._y, jacobian(self.model.system.drivers, q) @ qd

    def independent_acceleration(self, z: Floats, rate: Floats) -> Floats:
        """Return ÿ: second derivatives of the driver rows."""
        q, qd = self._parts(z)
        drivers = self.model.system.drivers
        qdd = rate[self._n : 2 * self._n]
        return np.asarray(jacobian(drivers, q) @ qdd - gamma(drivers, q, qd))

    def tree(self, z: Floats) -> tuple[Floats, Floats]:
        """Return the closed tree state with the same independent coordinates."""
        closed = self.engine.reduced(*self.independent(z))
        return closed.q, closed.v

    def _scaled(self, q: Floats) -> Floats:
        system = self.model.system
        return np.asarray(
            constraint_error(self.model, q, self._pose) * system.closure.scale(system.size)
        )

    def constraint_error(self, z: Floats) -> float:
        """Return the largest closure row, dimensionless."""
        return float(np.abs(self._scaled(self._parts(z)[0])).max(initial=0.0))

    def project(self, z: Floats) -> Floats:
        """Close the loops by least-squares steps, then take the nearest admissible speeds."""
        q, qd = self._parts(z)
        system = self.model.system
        s, rows = system.q_scale, system.closure.scale(system.size)[:, None]
        for _ in range(4):
            C = rows * jacobian(system.closure, q) * s
            error = self._scaled(q)
            if np.abs(error).max(initial=0.0) < _ROUNDING:
                break
            q = q - s * np.linalg.lstsq(C, error, rcond=_RANK)[0]
        qd = qd - s * np.linalg.lstsq(C, C @ (qd / s), rcond=_RANK)[0]
        self._follow(q)
        return np.concatenate([q, qd, self._y, self._near, self._pose.turns])
