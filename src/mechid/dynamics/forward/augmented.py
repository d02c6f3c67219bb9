"""Lagrange multipliers on positions and Euler parameters of all bodies.

The state is (q, q̇) of the reference-point formulation, 14 numbers per body; the equations are
those of `dynamics.reference_point.augmented`. Angles are integrated beside it, because a pose shows
them within ±π only. Slow and plain: the formulation of the literature, and the check of the others.
"""

from __future__ import annotations

import numpy as np

from mechid.dynamics.drive import Driven, nothing_driven
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.forward.formulation import Baumgarte, Instant
from mechid.dynamics.reference_point.augmented import accelerations, constraint_error
from mechid.dynamics.reference_point.elements import Readings, factors, read
from mechid.dynamics.reference_point.mass import mass_and_bias
from mechid.dynamics.reference_point.model import reference_model
from mechid.dynamics.reference_point.state import state_from_motion
from mechid.kinematics.frames import body_frames, frame_motion
from mechid.kinematics.reference_point.drivers import joint_coordinate_row
from mechid.kinematics.reference_point.evaluate import compile_rows, gamma, jacobian, values
from mechid.kinematics.reference_point.system import Pose, moved, pose_at
from mechid.kinematics.tables import Floats
from mechid.mechanism.element_laws import LOAD, law_potential
from mechid.spatial.rotations import matrix_from_quaternion

_RANK = 1e-10
_ROUNDING = 1e-14


class Augmented:
    """State (q, q̇), 7 numbers per body each, and the angles that count full turns.

    These are the independent coordinates, what elements measure, and `Pose.turns`, in this order.
    """

    name = "augmented"
    drifts = True

    def __init__(self, engine: Engine, baumgarte: Baumgarte, driven: Driven | None = None) -> None:
        self.engine = engine
        self.baumgarte = baumgarte
        self.driven = driven or nothing_driven(engine.n_i)
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

    def evaluate(self, z: Floats, tau: Floats, t: float = 0.0) -> Instant:
        """Return ż, multipliers of all constraint rows, energies and powers."""
        q, qd = self._parts(z)
        phi = self.engine.phi
        yd = jacobian(self.model.system.drivers, q) @ qd
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
            driven=self._driven(yd, t),
        )
        rotation = matrix_from_quaternion(q.reshape(-1, 7)[:, 3:])
        readings = read(self.model.elements, q, qd, solved.qdd, self._near)
        potential, dissipated, supplied = self._elements(readings)
        M, _ = mass_and_bias(self.model, phi, q, qd, self._near)
        weight = sum(
            phi[10 * i] * self.model.gravity @ b[:3]
            + self.model.gravity @ (rotation[i] @ phi[10 * i + 1 : 10 * i + 4])
            for i, b in enumerate(q.reshape(-1, 7))
        )
        return Instant(
            rate=np.concatenate([qd, solved.qdd, *(jacobian(x, q) @ qd for x in self._followed)]),
            tau=solved.tau,
            multipliers=solved.multipliers,
            kinetic=float(0.5 * qd @ M @ qd),
            potential=float(potential - weight),
            power=float(solved.tau @ yd) + supplied,
            dissipated=dissipated,
        )

    def _driven(self, yd: Floats, t: float) -> dict[int, float] | None:
        """Return the accelerations of driven coordinates, with Baumgarte's terms."""
        if not self.driven:
            return None
        d = self.driven.index
        y, rate, acceleration = self.driven.at(t)
        alpha, beta = self.baumgarte.alpha, self.baumgarte.beta
        wanted = acceleration - 2 * alpha * (yd[d] - rate) - beta**2 * (self._y[d] - y)
        return dict(zip(d.tolist(), wanted.tolist(), strict=True))

    def _elements(self, readings: Readings) -> tuple[float, float, float]:
        """Potential energy of springs, power that dampers and friction take, power of loads."""
        potential = dissipated = supplied = 0.0
        columns = iter(self.engine.phi[10 * self.model.n_bodies :])
        taken = factors(self.model.elements, readings)
        for i, term in enumerate(self.model.elements.terms):
            c = float(term.column.value or 0.0) if term.known else float(next(columns))
            if term.order == 0:
                potential += c * law_potential(term.law, float(readings.value[i]), *term.shape)
            elif term.law == LOAD:
                supplied -= c * taken[i] * readings.rate[i]
            elif term.order == 1:
                dissipated += c * taken[i] * readings.rate[i]
        return potential, dissipated, supplied

    def independent(self, z: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Return y and ẏ."""
        q, qd = self._parts(z)
        return self._y, jacobian(self.model.system.drivers, q) @ qd

    def independent_acceleration(self, z: Floats, rate: Floats, t: float = 0.0) -> Floats:
        """Return ÿ: second derivatives of the driver rows."""
        q, qd = self._parts(z)
        drivers = self.model.system.drivers
        qdd = rate[self._n : 2 * self._n]
        return np.asarray(jacobian(drivers, q) @ qdd - gamma(drivers, q, qd))

    def tree(self, z: Floats, t: float = 0.0) -> tuple[Floats, Floats]:
        """Return the closed tree state with the same independent coordinates."""
        closed = self.engine.reduced(*self.independent(z))
        return closed.q, closed.v

    def _scaled(self, q: Floats) -> Floats:
        system = self.model.system
        return np.asarray(
            constraint_error(self.model, q, self._pose) * system.closure.scale(system.size)
        )

    def constraint_error(self, z: Floats, t: float = 0.0) -> float:
        """Return the largest closure row, dimensionless."""
        return float(np.abs(self._scaled(self._parts(z)[0])).max(initial=0.0))

    def project(self, z: Floats, t: float = 0.0) -> Floats:
        """Close the loops by least-squares steps, then take the nearest admissible speeds."""
        q, qd = self._parts(z)
        s = self.model.system.q_scale
        y, yd, _ = self.driven.at(t)
        for left in reversed(range(5)):
            C, error = self._constraints(q, y)
            if not left or np.abs(error).max(initial=0.0) < _ROUNDING:
                break
            q = q - s * np.linalg.lstsq(C, error, rcond=_RANK)[0]
        speed = C @ (qd / s)
        if self.driven:
            speed[-len(yd) :] -= self._driver_scale * yd
        qd = qd - s * np.linalg.lstsq(C, speed, rcond=_RANK)[0]
        self._follow(q)
        return np.concatenate([q, qd, self._y, self._near, self._pose.turns])

    def _constraints(self, q: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return dimensionless rows of closure and driven coordinates, and their errors."""
        system, d = self.model.system, self.driven.index
        rows = system.closure.scale(system.size)[:, None]
        C, error = rows * jacobian(system.closure, q), self._scaled(q)
        if self.driven:
            scale = self._driver_scale
            C = np.vstack([C, scale[:, None] * jacobian(system.drivers, q)[d]])
            error = np.concatenate([error, scale * (values(system.drivers, q, self._y)[d] - y)])
        return C * system.q_scale, error

    @property
    def _driver_scale(self) -> Floats:
        system = self.model.system
        return np.asarray(system.drivers.scale(system.size)[self.driven.index])
