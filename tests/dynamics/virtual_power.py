"""Inverse dynamics written once more: virtual power of bodies and elements, from the records.

Bodies are masses with a centre and a central inertia; partial velocities are the velocities for
unit speeds of the independent coordinates. Nothing of the library's dynamics is used, only solved
motions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mechid.kinematics.compile import Rigid
from mechid.kinematics.frames import FrameMotion, frame_motion
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import (
    GROUND,
    Coefficient,
    Friction,
    Load,
    Mechanism,
    Point,
    SpringDamper,
    TorsionSpring,
    Transmission,
)

Array = npt.NDArray[np.float64]
SIX = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def tensor(six: npt.ArrayLike) -> Array:
    """Symmetric matrix of (xx, xy, xz, yy, yz, zz)."""
    I = np.zeros((3, 3))  # noqa: E741
    for (i, j), x in zip(SIX, np.asarray(six, float), strict=True):
        I[i, j] = I[j, i] = x
    return I


def ten(mass: float, center: npt.ArrayLike, central: npt.ArrayLike) -> Array:
    """φ of a body: mass, first moments, inertia about the frame origin (Steiner)."""
    c = np.asarray(center, float)
    about = tensor(central) + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.array([mass, *(mass * c), *(about[i, j] for i, j in SIX)])


@dataclass(frozen=True)
class Sized:
    """Generalised forces (N, n_i) and the size of the terms that they are sums of, (n_i,)."""

    force: Array
    size: Array


@dataclass(frozen=True)
class Law:
    """Force J s̈ + k (s - s0) + c ṡ + r sign ṡ on a measure s; energies and losses from it."""

    s: Array
    rate: Array
    second: Array
    partial: Array  # (N, n_i)
    inertia: float = 0.0
    stiffness: float = 0.0
    free: float = 0.0
    damping: float = 0.0
    coulomb: float = 0.0

    @property
    def force(self) -> Array:
        spring = self.stiffness * (self.s - self.free)
        rest = self.damping * self.rate + self.coulomb * np.sign(self.rate)
        return self.inertia * self.second + spring + rest

    @property
    @cached_property
    def energy(self) -> Array:
        stored = self.stiffness * (self.s - self.free) ** 2
        return (self.inertia * self.rate**2 + stored) / 2

    @property
    def loss(self) -> Array:
        return self.damping * self.rate**2 + self.coulomb * np.abs(self.rate)

    @property
    def size(self) -> Array:
        parts = (
            self.inertia * self.second,
            self.stiffness * self.s,
            self.stiffness * self.free,
            self.damping * self.rate,
            self.coulomb,
        )
        largest = sum(float(np.abs(x).max()) for x in parts)
        return np.asarray(largest * np.abs(self.partial).max(axis=0))


class VirtualPower:
    """Bodies and elements of a solved motion."""

    def __init__(self, motion: Motion) -> None:
        self.motion = motion
        self.mechanism: Mechanism = motion.model.mechanism
        self.gravity = np.array(self.mechanism.gravity)
        self.units = [self._unit(j) for j in range(motion.y.shape[1])]
        self._joints: dict[tuple[str, int], tuple[Array, Array, Array, Array]] = {}

    def _unit(self, j: int) -> Motion:
        yd = np.zeros_like(self.motion.y)
        yd[:, j] = 1
        m = self.motion
        return solve_motion(m.model, m.y, yd, time=m.time, ordered=m.ordered)

    @cached_property
    def frames(self) -> FrameMotion:
        return self.motion.bodies()

    @cached_property
    def partials(self) -> tuple[Array, Array]:
        """Velocities and angular velocities of body frames, (n_i, N, n_b, 3)."""
        frames = [unit.bodies() for unit in self.units]
        return np.array([f.velocity for f in frames]), np.array([f.omega for f in frames])

    @cached_property
    def cad(self) -> list[tuple[float, Array, Array]]:
        """Mass, centre and central inertia of every body."""
        found = []
        for body in self.mechanism.bodies:
            x = body.inertia
            assert x is not None or body.massless, body.name
            if x is None:
                found.append((0.0, np.zeros(3), np.zeros(6)))
            else:
                found.append((x.mass, np.array(x.center), np.array(x.inertia_center)))
        return found

    def body(self, b: int, mass: float, center: Array, central: Array) -> Sized:
        """(m a_G - m g) · ∂v_G/∂ẏ + (I α + ω × I ω) · ∂ω/∂ẏ."""
        f = self.frames
        R, w, alpha = f.rotation[:, b], f.omega[:, b], f.alpha[:, b]
        arm = R @ center
        a_G = f.acceleration[:, b] + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        I = R @ tensor(central) @ np.swapaxes(R, 1, 2)  # noqa: E741
        spin = np.einsum("nij,nj->ni", I, w)
        moment = np.einsum("nij,nj->ni", I, alpha) + np.cross(w, spin)
        V, W = self.partials
        v_G = V[:, :, b] + np.cross(W[:, :, b], arm)
        force = np.einsum("ni,jni->nj", mass * (a_G - self.gravity), v_G)
        force += np.einsum("ni,jni->nj", moment, W[:, :, b])
        # How large the terms are that cancel, bounds of norms over all samples.
        length = float(np.linalg.norm(center))
        turn = _norm(alpha) + _norm(w) ** 2
        push = mass * (_norm(f.acceleration[:, b]) + _norm(self.gravity) + turn * length)
        twist = push * length + float(np.linalg.norm(tensor(central))) * turn
        size = [push * _norm(v) + twist * _norm(x) for v, x in zip(V, W, strict=True)]
        return Sized(force, np.array(size))

    @cached_property
    def laws(self) -> list[Law]:
        """Force elements but loads, one entry per motor of a transmission."""
        return list(self._laws())

    def _laws(self) -> Iterator[Law]:
        for e in self.mechanism.elements:
            match e:
                case SpringDamper():
                    s = self._length(e.point_a, e.point_b)
                    yield self._law(s, e.stiffness, e.free_length, e.damping)
                case TorsionSpring():
                    s = self._joint(e.joint, e.index)
                    yield self._law(s, e.stiffness, e.free_angle, e.damping)
                case Friction():
                    s = self._joint(e.joint, e.index)
                    yield Law(*s, damping=value(e.viscous), coulomb=value(e.coulomb))
                case Transmission():
                    for motor, row in zip(e.motors, e.matrix, strict=True):
                        parts = [self._joint(*c) for c in e.coordinates]
                        total = [
                            sum(g * p[i] for g, p in zip(row, parts, strict=True)) for i in range(4)
                        ]
                        yield Law(
                            *(np.asarray(x) for x in total),
                            inertia=value(motor.inertia),
                            damping=value(motor.viscous),
                            coulomb=value(motor.coulomb),
                        )

    @cached_property
    def loads(self) -> Sized:
        """Generalised forces of the loads: they drive, so they count against τ."""
        force = np.zeros_like(self.motion.y)
        size = np.zeros(force.shape[1])
        for e in self.mechanism.elements:
            if not isinstance(e, Load):
                continue
            at = e.point or Point("", e.body, (0.0, 0.0, 0.0))
            axes = self._points(self.motion, [Point("", e.axes_of or GROUND, (0.0, 0.0, 0.0))])
            vector = axes.rotation[:, 0] @ np.array(e.vector)
            for j, unit in enumerate(self.units):
                f = self._points(unit, [at])
                rate = f.omega[:, 0] if e.kind == "moment" else f.velocity[:, 0]
                force[:, j] += np.einsum("ni,ni->n", vector, rate)
                size[j] += _norm(vector) * _norm(rate)
        return Sized(force, size)

    @cached_property
    def inverse(self) -> Sized:
        """τ for the CAD values of the records."""
        parts = [self.body(b, *x) for b, x in enumerate(self.cad)]
        loads = self.loads
        force, size = -loads.force, loads.size
        for part in parts:
            force, size = force + part.force, size + part.size
        for law in self.laws:
            force, size = force + law.force[:, None] * law.partial, size + law.size
        return Sized(force, size)

    @cached_property
    def energy(self) -> tuple[Array, Array]:
        """Kinetic and potential energy for the CAD values, (N,) each."""
        f = self.frames
        kinetic, potential = np.zeros(len(self.motion.y)), np.zeros(len(self.motion.y))
        for b, (mass, center, central) in enumerate(self.cad):
            R, w = f.rotation[:, b], f.omega[:, b]
            arm = R @ center
            v_G = f.velocity[:, b] + np.cross(w, arm)
            local = np.einsum("nji,nj->ni", R, w)
            kinetic += mass * np.sum(v_G**2, axis=1) / 2
            kinetic += np.einsum("ni,ij,nj->n", local, tensor(central), local) / 2
            potential -= mass * (f.position[:, b] + arm) @ self.gravity
        for law in self.laws:
            kinetic += law.inertia * law.rate**2 / 2
            potential += law.stiffness * (law.s - law.free) ** 2 / 2
        return kinetic, potential

    @cached_property
    def losses(self) -> Array:
        """Power that dampers and friction take, (N,)."""
        return sum((law.loss for law in self.laws), np.zeros(len(self.motion.y)))

    def _law(self, s: tuple[Array, ...], k: Coefficient, free: Coefficient, c: Coefficient) -> Law:
        return Law(*s, stiffness=value(k), free=value(free), damping=value(c))

    def _points(self, motion: Motion, points: list[Point]) -> FrameMotion:
        frames = [(p.body, Rigid(np.eye(3), np.array(p.local))) for p in points]
        return frame_motion(motion.model, motion.q, motion.v, motion.vd, frames)

    def _length(self, a: Point, b: Point) -> tuple[Array, Array, Array, Array]:
        f = self._points(self.motion, [a, b])
        d, v, w = (x[:, 1] - x[:, 0] for x in (f.position, f.velocity, f.acceleration))
        s = np.linalg.norm(d, axis=1)
        n = d / s[:, None]
        rate = np.sum(n * v, axis=1)
        second = np.sum(n * w, axis=1) + (np.sum(v * v, axis=1) - rate**2) / s
        unit = [self._points(u, [a, b]).velocity for u in self.units]
        partial = [np.sum(n * (x[:, 1] - x[:, 0]), axis=1) for x in unit]
        return s, rate, second, np.stack(partial, axis=1)

    def _joint(self, name: str, index: int) -> tuple[Array, Array, Array, Array]:
        if (name, index) not in self._joints:
            j = joint_motion(self.motion, name)
            partial = [joint_motion(unit, name).speeds[:, index] for unit in self.units]
            s = (j.coordinates[:, index], j.speeds[:, index], j.accelerations[:, index])
            self._joints[name, index] = (*s, np.stack(partial, axis=1))
        return self._joints[name, index]


def value(c: Coefficient) -> float:
    return c.value or 0.0


def _norm(x: Array) -> float:
    """Largest length of the vectors."""
    return float(np.linalg.norm(x, axis=-1).max())
