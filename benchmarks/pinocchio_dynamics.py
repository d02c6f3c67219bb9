"""The same observation matrix and the same motion with Pinocchio, called from Python.

W: close the loops, `computeJointTorqueRegressor` on the tree, project on the admissible motions.
Motion: in the independent coordinates (close, `crba`, `rnea`, project), or on the tree with
`constraintDynamics`. Joints are numbered depth first, which `crba` needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from pinocchio_peer import AXES, Peer, joint_model, placement
from scipy.integrate import solve_ivp
from scipy.linalg.lapack import dgetrs

from mechid.kinematics.tables import Floats
from mechid.kinematics.tree import TreeJoint
from mechid.mechanism.records import GROUND, Body, ForceElement, Point

# Entries of the inertia matrix in the order of mechid and of Pinocchio.
OUR_ORDER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
PIN_ORDER = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


@dataclass(frozen=True)
class Strut:
    """Spring and damper between two points, each a frame of the model or a place in the ground."""

    frames: tuple[int | None, int | None]
    places: tuple[Floats, Floats]
    stiffness: float
    damping: float
    free: float


@dataclass
class Motion:
    """Independent coordinates at the wanted times (N, n_i), and calls of the rates."""

    y: Floats
    evaluations: int


@dataclass
class Anchor:
    """The last closed pose, from which the next one is predicted."""

    q: Floats
    y: Floats
    R: Floats | None = field(default=None)


class DynamicPeer(Peer):
    """Observation matrix and forward dynamics of a mechanism."""

    # ------------------------------------------------------------------ model

    def _add_joints(self) -> None:
        bodies = {body.name: body for body in self.kinematics.mechanism.bodies}
        self.model.gravity.linear = np.array(self.kinematics.mechanism.gravity)
        for step in depth_first(self.kinematics.tree.joints):
            if step.reverse:
                raise NotImplementedError(f"joint {step.joint.name} is walked backwards")
            number = self.model.addJoint(
                self.joint[step.parent],
                joint_model(step.joint.type),
                self.fixed[step.parent] * placement(step.joint.frame_a),
                step.joint.name,
            )
            self.joint[step.child] = number
            self.fixed[step.child] = placement(step.joint.frame_b).inverse()
            own = body_inertia(bodies[step.child])
            self.model.appendBodyToJoint(number, own, self.fixed[step.child])

    def _add_coordinates(self) -> None:
        super()._add_coordinates()
        elements = self.kinematics.mechanism.elements
        self.struts = [self._strut(e) for e in elements if e.kind == "spring_damper"]
        if len(self.struts) < len(elements):
            raise NotImplementedError("elements other than springs and dampers")

    def _strut(self, e: ForceElement) -> Strut:
        ends = [self._end(p) for p in e.points]
        frames, places = zip(*ends, strict=True)
        values = (e[key].value for key in ("stiffness", "damping", "free_length"))
        return Strut(frames, places, *(float(x or 0.0) for x in values))

    def _end(self, p: Point) -> tuple[int | None, Floats]:
        local = np.array(p.local)
        frame = None if p.body == GROUND else self._add_frame(p.body, pin.SE3(np.eye(3), local))
        return frame, local

    # ------------------------------------------------------------------ observation matrix

    def observe(self, y: Floats, yd: Floats, ydd: Floats, dt: float) -> Floats:
        """Return RᵀY of every sample, (N, n_i, 10 n_b), in Pinocchio's parameters."""
        model, data = self.model, self.data
        q, v, vd = self.home(), np.zeros(model.nv), np.zeros(model.nv)
        W = np.empty((*y.shape, 10 * (model.njoints - 1)))
        drive = self._unit_speeds(y.shape[1])
        for k in range(len(y)):
            q = pin.integrate(model, q, v * dt + vd * (0.5 * dt * dt))
            q, factors, _ = self._close(q, y[k])
            v = self._speeds(factors, yd[k])
            vd = self._accelerations(factors, q, v, ydd[k])
            R = dgetrs(*factors, drive, trans=1)[0]
            np.matmul(R.T, pin.computeJointTorqueRegressor(model, data, q, v, vd), out=W[k])
        return W

    def in_body_frames(self, W: Floats) -> Floats:
        """Return the inertial columns of the same W in the order and the frames of mechid."""
        blocks = []
        for body in self.kinematics.mechanism.bodies:
            first = 10 * (self.joint[body.name] - 1)
            change = moved_parameters(self.fixed[body.name])
            blocks.append(W[:, :, first : first + 10] @ change)
        return np.concatenate(blocks, axis=2)

    def _unit_speeds(self, n_i: int) -> Floats:
        drive = np.zeros((self.model.nv, n_i), order="F")
        drive[self.first_driver :] = np.eye(n_i)
        return drive

    # ------------------------------------------------------------------ forward dynamics

    def closed(self, y: Floats, steps: int = 20) -> Floats:
        """Return the closed pose of these coordinates, led there from the home pose."""
        q, home = self.home(), self.kinematics.home_y
        for part in np.linspace(0, 1, steps + 1)[1:]:
            q, _, _ = self._close(q, home + part * (y - home))
        return q

    def simulate_independent(self, y0: Floats, times: Floats, rtol: float) -> Motion:
        """Integrate (y, ẏ) from rest with DOP853, closing the loops at every evaluation."""
        n = y0.size
        anchor = Anchor(self.closed(y0), y0)
        drive = self._unit_speeds(n)

        def rate(_: float, z: Floats) -> Floats:
            return np.concatenate((z[n:], self._reduced(z[:n], z[n:], anchor, drive)))

        span = (times[0], times[-1])
        z0 = np.concatenate((y0, np.zeros(n)))
        done = solve_ivp(rate, span, z0, "DOP853", times, rtol=rtol, atol=1e-2 * rtol)
        return Motion(done.y[:n].T, done.nfev)

    def _reduced(self, y: Floats, yd: Floats, anchor: Anchor, drive: Floats) -> Floats:
        """Return ÿ; on the way, move the anchor."""
        model, data = self.model, self.data
        q = anchor.q.copy()
        if anchor.R is not None:
            q = pin.integrate(model, q, anchor.R @ (y - anchor.y))
        q, factors, _ = self._close(q, y)
        R = dgetrs(*factors, drive, trans=1)[0]
        v = R @ yd
        vd = self._accelerations(factors, q, v, np.zeros(y.size))
        force = self._strut_forces(v) - pin.rnea(model, data, q, v, vd)
        M = pin.crba(model, data, q)
        anchor.q, anchor.y, anchor.R = q, y.copy(), R
        return np.linalg.solve(R.T @ M @ R, R.T @ force)

    def _strut_forces(self, v: Floats) -> Floats:
        """Return the generalised forces of springs and dampers on the tree.

        The Jacobians of the joints must be those of the pose.
        """
        total = np.zeros(v.size)
        for strut in self.struts:
            J = np.zeros((3, v.size))
            reach = np.zeros(3)
            for sign, frame, place in zip((-1, 1), strut.frames, strut.places, strict=True):
                if frame is None:
                    reach += sign * place
                    continue
                reach += sign * pin.updateFramePlacement(self.model, self.data, frame).translation
                J += sign * pin.getFrameJacobian(self.model, self.data, frame, AXES)[:3]
            s = np.sqrt(reach @ reach)
            along = (reach / s) @ J
            total -= (strut.stiffness * (s - strut.free) + strut.damping * (along @ v)) * along
        return total

    def simulate_on_tree(self, y0: Floats, times: Floats, step: float) -> Motion:
        """Integrate (q, v) from rest with classical RK4 and `constraintDynamics`."""
        model, nq = self.model, self.model.nq
        plain, balls = coordinate_places(model)
        contacts, datas = self._rigid_closures()
        data = model.createData()
        pin.initConstraintDynamics(model, data, contacts, datas)

        def rate(z: Floats) -> Floats:
            q, v = z[:nq], z[nq:]
            pin.computeJointJacobians(model, self.data, q)
            tau = self._strut_forces(v)
            vd = pin.constraintDynamics(model, data, q, v, tau, contacts, datas)
            return np.concatenate((coordinate_rates(q, v, plain, balls), vd))

        z = np.concatenate((self.closed(y0), np.zeros(model.nv)))
        per_output = round((times[1] - times[0]) / step)
        y = [self._coordinates(z[:nq])]
        for _ in times[1:]:
            for _ in range(per_output):
                z = runge_kutta(rate, z, step)
                z[:nq] = pin.normalize(model, z[:nq])
            y.append(self._coordinates(z[:nq]))
        return Motion(np.array(y), 4 * per_output * (len(times) - 1))

    def _rigid_closures(self) -> tuple[object, object]:
        contacts, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for joint in self.kinematics.tree.cut:
            a, b = joint.body_a, joint.body_b
            contact = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D,
                self.model,
                self.joint[a],
                self.fixed[a] * placement(joint.frame_a),
                self.joint[b],
                self.fixed[b] * placement(joint.frame_b),
            )
            contacts.append(contact)
            datas.append(contact.createData())
        return contacts, datas

    def _coordinates(self, q: Floats) -> Floats:
        pin.framesForwardKinematics(self.model, self.data, q)
        y = np.zeros(len(self.direct) + len(self.points))
        for row, coordinate, _ in self.direct:
            y[row - self.first_driver] = q[coordinate]
        for row, frame, axis in self.points:
            y[row - self.first_driver] = self.data.oMf[frame].translation[axis]
        return y


def coordinate_places(model: pin.Model) -> tuple[Floats, list[tuple[int, int]]]:
    """Return the places (coordinates, speeds) of plain coordinates, and the first ones of balls."""
    plain, balls = [], []
    for joint in list(model.joints)[1:]:
        if joint.nq == joint.nv:
            plain += [(joint.idx_q + i, joint.idx_v + i) for i in range(joint.nq)]
        else:
            balls.append((joint.idx_q, joint.idx_v))
    return np.array(plain).T, balls


def coordinate_rates(q: Floats, v: Floats, plain: Floats, balls: list[tuple[int, int]]) -> Floats:
    """Return q̇; the quaternions of balls (x, y, z, w) turn with ω in the frame of the child."""
    rates = np.empty(q.size)
    rates[plain[0]] = v[plain[1]]
    for at, first in balls:
        x, y, z, w = q[at : at + 4]
        a, b, c = 0.5 * v[first : first + 3]
        rates[at : at + 4] = (
            w * a + y * c - z * b,
            w * b + z * a - x * c,
            w * c + x * b - y * a,
            -x * a - y * b - z * c,
        )
    return rates


def runge_kutta(rate, z: Floats, h: float) -> Floats:
    """Return the state after one step of the classical method."""
    a = rate(z)
    b = rate(z + 0.5 * h * a)
    c = rate(z + 0.5 * h * b)
    d = rate(z + h * c)
    return z + (h / 6) * (a + 2 * b + 2 * c + d)


def depth_first(steps: list[TreeJoint] | tuple[TreeJoint, ...]) -> list[TreeJoint]:
    """Return the joints of a tree such that every branch is finished before the next begins."""

    def branch(parent: str) -> list[TreeJoint]:
        return [x for s in steps if s.parent == parent for x in (s, *branch(s.child))]

    return branch(GROUND)


def body_inertia(body: Body) -> pin.Inertia:
    """Return the CAD inertia of a body, in its frame."""
    if body.inertia is None:
        return pin.Inertia.Zero()
    matrix = symmetric(np.array(body.inertia.inertia_center), OUR_ORDER)
    return pin.Inertia(body.inertia.mass, np.array(body.inertia.center), matrix)


def moved_parameters(pose: pin.SE3) -> Floats:
    """Return the 10×10 matrix from mechid's ten in a body frame to Pinocchio's ten in its joint's.

    `pose` is the body frame in the frame of the joint. The ten make up the second moments of mass
    of the points (x, 1), a 4×4 matrix P, which becomes X P Xᵀ.
    """
    X = pose.homogeneous
    columns = []
    for ten in np.eye(10):
        matrix = symmetric(ten[4:], OUR_ORDER)
        P = np.empty((4, 4))
        P[:3, :3] = 0.5 * np.trace(matrix) * np.eye(3) - matrix
        P[3, :3] = P[:3, 3] = ten[1:4]
        P[3, 3] = ten[0]
        P = X @ P @ X.T
        there = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
        columns.append([P[3, 3], *P[:3, 3], *(there[i, j] for i, j in PIN_ORDER)])
    return np.array(columns).T


def symmetric(six: Floats, order: tuple[tuple[int, int], ...]) -> Floats:
    """Return a symmetric matrix from six entries."""
    matrix = np.empty((3, 3))
    for value, (i, j) in zip(six, order, strict=True):
        matrix[i, j] = matrix[j, i] = value
    return matrix
