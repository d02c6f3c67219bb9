"""Closed loops on the tree of another engine: poses, speeds, accelerations, forces.

The engine supplies the kinematics of its links and the dynamics of its tree. What closes the loops
is written here over these, from the definitions in NOTATION.md: Newton's method for poses, rows of
the engine's Jacobians for speeds, their rates for accelerations, and d'Alembert's principle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mechid.kinematics.compile import Rigid
from mechid.kinematics.frames import FrameMotion
from mechid.mechanism.records import GROUND, Coupling, Joint, Mechanism

from ..dynamics.virtual_power import VirtualPower
from .links import Link, home_coordinates

Array = npt.NDArray[np.float64]
ROUNDING = 1e-13  # of Newton steps, which are of the order of 1
STEPS = 30


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Links of a tree at q: poses, Jacobians (6, n_v), and accelerations at v̇ = 0 (6,).

    Linear first, of the origins, in ground axes.
    """

    position: dict[str, Array]
    rotation: dict[str, Array]
    jacobian: dict[str, Array]
    bias: dict[str, Array]


class TreeEngine(Protocol):
    """What another engine is asked for."""

    name: str
    links: list[Link]
    native: tuple[str, ...]  # elements that the engine itself has, by name
    n_v: int

    def home(self) -> Array: ...
    def place(self, joint: str, index: int) -> tuple[int, int, float]: ...
    def ties(self, q: Array) -> list[tuple[Array, float]]: ...
    def integrate(self, q: Array, step: Array) -> Array: ...
    def kinematics(self, q: Array, v: Array) -> Kinematics: ...
    def forces(self, q: Array, v: Array, vd: Array) -> Array: ...
    def mass_matrix(self, q: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class State:
    """One pose with speeds and accelerations; `R` (n_v, n_i) are the admissible motions."""

    y: Array
    ydd: Array
    q: Array
    v: Array
    vd: Array
    R: Array
    rest: Array  # v̇ at ÿ = 0
    kinematics: Kinematics


class ClosedTree:
    """A mechanism on the tree of an engine."""

    def __init__(self, mechanism: Mechanism, engine: TreeEngine) -> None:
        self.mechanism, self.engine = mechanism, engine
        self.main = {link.body: link.name for link in engine.links[::-1]} | {GROUND: GROUND}
        self.q = engine.home()
        self.sums = {
            c.name: self._sum(c, self.q) if c.constant is None else c.constant
            for c in mechanism.couplings
        }

    # ------------------------------------------------------------------ motion

    def follow(self, y: Array, yd: Array, ydd: Array, wanted: Array) -> list[State]:
        """Go along a path (N, n_i) from the last pose; return the states that are wanted."""
        found = []
        for k in range(len(y)):
            self.q = self._closed(self.q, y[k])
            if k in wanted:
                found.append(self._state(y[k], yd[k], ydd[k]))
        return found

    def _closed(self, q: Array, y: Array) -> Array:
        for _ in range(STEPS):
            k = self.engine.kinematics(q, np.zeros(self.engine.n_v))
            residual, J, _ = self._rows(q, np.zeros(self.engine.n_v), k)
            value, D, _ = self._independent(q, np.zeros(self.engine.n_v), k)
            gap = np.concatenate([residual, value - y])
            step = np.linalg.lstsq(np.vstack([J, D]), -gap)[0]
            q = self.engine.integrate(q, step)
            if np.abs(step).max() < ROUNDING * max(1.0, float(np.abs(q).max())):
                return q
        raise ArithmeticError(f"{self.engine.name}: Newton's method does not converge")

    def _state(self, y: Array, yd: Array, ydd: Array) -> State:
        q, zero = self.q, np.zeros(self.engine.n_v)
        k = self.engine.kinematics(q, zero)
        _, J, _ = self._rows(q, zero, k)
        _, D, _ = self._independent(q, zero, k)
        all_rows = np.vstack([J, D])
        right = np.vstack([np.zeros((len(J), len(y))), np.eye(len(y))])
        R = np.linalg.lstsq(all_rows, right)[0]
        v = R @ yd
        k = self.engine.kinematics(q, v)
        _, _, bias = self._rows(q, v, k)
        _, _, drift = self._independent(q, v, k)
        rest = np.linalg.lstsq(all_rows, -np.concatenate([bias, drift]))[0]
        return State(y, ydd, q, v, R @ ydd + rest, R, rest, k)

    # ------------------------------------------------------------------ rows

    def _rows(self, q: Array, v: Array, k: Kinematics) -> tuple[Array, Array, Array]:
        """Residual, Jacobian and bias of welds, ties of the engine, couplings and distances."""
        n = self.engine.n_v
        residual, rows, bias = [np.zeros(0)], [np.zeros((0, n))], [np.zeros(0)]
        for link in self.engine.links:
            a, b = self.main[link.body], link.name
            if a != b:
                turn = _vector(k.rotation[b] @ k.rotation[a].T)
                residual.append(np.concatenate([k.position[b] - k.position[a], turn]))
                rows.append(k.jacobian[b] - k.jacobian[a])
                bias.append(k.bias[b] - k.bias[a])
        for row, value in self.engine.ties(q):
            residual.append(np.array([value]))
            rows.append(row[None])
            bias.append(np.zeros(1))
        for c in self.mechanism.constraints:
            if isinstance(c, Coupling):
                row = np.zeros(n)
                for joint, index, factor in c.terms:
                    _, j, sign = self.engine.place(joint, index)
                    row[j] += factor * sign
                gap, second = self._sum(c, q) - self.sums[c.name], 0.0
            else:
                ends = [(p.body, Rigid(np.eye(3), np.array(p.local))) for p in
                        (c.point_a, c.point_b)]  # fmt: skip
                (pa, _, Ja, ca), (pb, _, Jb, cb) = (self.frame(k, v, *end) for end in ends)
                d, J, acceleration = pb - pa, (Jb - Ja)[:3], (cb - ca)[:3]
                s = float(np.linalg.norm(d))
                u, rate = d / s, J @ v
                row, gap = u @ J, s - c.length
                second = u @ acceleration + (rate @ rate - (u @ rate) ** 2) / s
            residual.append(np.array([gap]))
            rows.append(row[None])
            bias.append(np.array([second]))
        return np.concatenate(residual), np.vstack(rows), np.concatenate(bias)

    def _sum(self, c: Coupling, q: Array) -> float:
        places = [(self.engine.place(joint, index), f) for joint, index, f in c.terms]
        return float(sum(f * sign * q[i] for (i, _, sign), f in places))

    def _independent(self, q: Array, v: Array, k: Kinematics) -> tuple[Array, Array, Array]:
        """y, D and drift of the independent coordinates: ẏ = D v, ÿ = D v̇ + drift."""
        n = len(self.mechanism.coordinates)
        values, rows, drift = np.zeros(n), np.zeros((n, self.engine.n_v)), np.zeros(n)
        angles: dict[str, tuple[Array, Array, Array]] = {}
        for r, c in enumerate(self.mechanism.coordinates):
            joint = self.mechanism.joint(c.joint)
            at = c.index - joint.kind.n_scalars
            if at < 0:
                i, j, sign = self.engine.place(c.joint, c.index)
                values[r], rows[r, j] = sign * q[i], sign
            else:
                if joint.name not in angles:
                    angles[joint.name] = self._angles(joint, v, k)
                values[r], rows[r], drift[r] = (x[at] for x in angles[joint.name])
        return values, rows, drift

    def _angles(self, joint: Joint, v: Array, k: Kinematics) -> tuple[Array, Array, Array]:
        """Roll, pitch, yaw of frame b in frame a (R = Rz Ry Rx), their rows and their drift."""
        link = next(x for x in self.engine.links if x.joint is joint)
        on_a, on_b = (link.parent, link.name)[:: -1 if link.reverse else 1]
        a = self.frame(k, v, joint.body_a, Rigid.of(joint.frame_a), on_a)
        b = self.frame(k, v, joint.body_b, Rigid.of(joint.frame_b), on_b)
        A = a[1]
        R = A.T @ b[1]
        roll = np.arctan2(R[2, 1], R[2, 2])
        yaw = np.arctan2(R[1, 0], R[0, 0])
        pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
        z = np.array([0.0, 0.0, 1.0])
        line = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
        x = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), -np.sin(pitch)])
        E = np.array([x, line, z]).T
        back = np.linalg.inv(E)
        D = back @ A.T @ (b[2] - a[2])[3:]
        rate = D @ v
        turning = rate[2] * z + rate[1] * line
        Ed = np.array([np.cross(turning, x), np.cross(rate[2] * z, line), np.zeros(3)]).T
        wa, wb = a[2][3:] @ v, b[2][3:] @ v
        relative = A.T @ ((b[3] - a[3])[3:] - np.cross(wa, wb))
        return np.array([roll, pitch, yaw]), D, back @ (relative - Ed @ rate)

    def frame(
        self, k: Kinematics, v: Array, body: str, local: Rigid, link: str | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """Pose, Jacobian and bias of a frame of a body."""
        if body == GROUND:
            n = self.engine.n_v
            return local.translation, local.rotation, np.zeros((6, n)), np.zeros(6)
        link = link or self.main[body]
        R, J, bias = k.rotation[link], k.jacobian[link], k.bias[link].copy()
        arm = R @ local.translation
        moved = J.copy()
        moved[:3] += np.cross(J[3:], arm, axisa=0, axisc=0)
        w = J[3:] @ v
        bias[:3] += np.cross(bias[3:], arm) + np.cross(w, np.cross(w, arm))
        return k.position[link] + arm, R @ local.rotation, moved, bias

    # ------------------------------------------------------------------ dynamics

    def equations(self, states: list[State]) -> tuple[Array, Array, Array]:
        """τ at the accelerations of the states (N, n_i); mass matrix; τ at ÿ = 0."""
        power = ElementsOn(self, states)
        tau, rest, M = [], [], []
        for s in states:
            tau.append(s.R.T @ self.engine.forces(s.q, s.v, s.vd))
            rest.append(s.R.T @ self.engine.forces(s.q, s.v, s.rest))
            M.append(s.R.T @ self.engine.mass_matrix(s.q) @ s.R)
        elements, inertia, held = power.forces()
        return np.array(tau) + elements, np.array(M) + inertia, np.array(rest) + held


@dataclass(frozen=True, eq=False)
class _Moved:
    """Speeds and accelerations of all states: as they are, or of one unit speed."""

    y: Array
    v: list[Array]
    vd: list[Array]


class ElementsOn(VirtualPower):
    """Forces of the elements that the engine has not, by their definitions on its kinematics."""

    def __init__(self, tree: ClosedTree, states: list[State]) -> None:
        self.tree, self.states = tree, states
        left = tuple(e for e in tree.mechanism.elements if e.name not in tree.engine.native)
        self.mechanism = replace(tree.mechanism, elements=left)
        y = np.array([s.y for s in states])
        self.motion = _Moved(y, [s.v for s in states], [s.vd for s in states])
        self.units = [
            _Moved(y, [s.R[:, j] for s in states], [0 * s.v for s in states])
            for j in range(y.shape[1])
        ]
        self._joints = {}

    def forces(self) -> tuple[Array, Array, Array]:
        """Forces, inertias, and forces at ÿ = 0, on the independent coordinates."""
        force = -self.loads.force
        M = np.zeros((*force.shape, force.shape[1]))
        for law in self.laws:
            force = force + law.force[:, None] * law.partial
            M += law.inertia * law.partial[:, :, None] * law.partial[:, None, :]
        ydd = np.array([s.ydd for s in self.states])
        return force, M, force - np.einsum("nij,nj->ni", M, ydd)

    def _frames(self, motion: _Moved, frames: list[tuple[str, Rigid]]) -> FrameMotion:
        p, R, speed, rate = [], [], [], []
        for s, v, vd in zip(self.states, motion.v, motion.vd, strict=True):
            # The bias is quadratic in the speeds of the state: of a unit speed it is not asked for.
            found = [self.tree.frame(s.kinematics, s.v, body, local) for body, local in frames]
            p.append([f[0] for f in found])
            R.append([f[1] for f in found])
            speed.append([f[2] @ v for f in found])
            rate.append([f[2] @ vd + f[3] for f in found])
        s, a = np.array(speed), np.array(rate)
        return FrameMotion(np.array(p), np.array(R), s[..., :3], s[..., 3:], a[..., :3], a[..., 3:])

    def _joint(self, name: str, index: int) -> tuple[Array, Array, Array, Array]:
        i, j, sign = self.tree.engine.place(name, index)
        found = [(sign * s.q[i], sign * s.v[j], sign * s.vd[j]) for s in self.states]
        partial = np.array([sign * s.R[j] for s in self.states])
        value, rate, second = np.array(found).T
        return value, rate, second, partial


def _vector(R: Array) -> Array:
    """Rotation vector of a small turn, to third order."""
    return np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2


def start_of(mechanism: Mechanism, engine: TreeEngine, q: Array) -> Array:
    """Fill the scalar coordinates of the reference pose into the coordinates of an engine."""
    for joint in mechanism.joints:
        scalars, _ = home_coordinates(mechanism, joint)
        for index, value in enumerate(scalars):
            i, _, sign = engine.place(joint.name, index)
            q[i] = sign * value
    return q
