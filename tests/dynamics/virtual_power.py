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
    Coefficient,
    ForceElement,
    Mechanism,
    Point,
)

Array = npt.NDArray[np.float64]
# Kinds of force elements that are written once more here.
WRITTEN_TWICE = (
    "spring_damper",
    "torsion_spring",
    "polynomial_spring_damper",
    "piecewise_spring_damper",
    "bushing",
    "friction",
    "transmission",
    "force",
    "moment",
    "joint_force",
)
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
    """Force J s̈ + k (s - s0) + c ṡ + r sign ṡ on a measure s, and what is added to it.

    `spring`, `stored` and `drag` (N,) are further forces of the pose, their energy, and further
    forces of the speed.
    """

    s: Array
    rate: Array
    second: Array
    partial: Array  # (N, n_i)
    inertia: float = 0.0
    stiffness: float = 0.0
    free: float = 0.0
    damping: float = 0.0
    coulomb: float = 0.0
    spring: Array | float = 0.0
    stored: Array | float = 0.0
    drag: Array | float = 0.0

    @property
    def force(self) -> Array:
        spring = self.stiffness * (self.s - self.free) + self.spring
        rest = self.damping * self.rate + self.coulomb * np.sign(self.rate) + self.drag
        return np.asarray(self.inertia * self.second + spring + rest)

    @property
    def potential(self) -> Array:
        return np.asarray(self.stiffness * (self.s - self.free) ** 2 / 2 + self.stored)

    @property
    def loss(self) -> Array:
        dry = self.coulomb * np.abs(self.rate)
        return np.asarray(self.damping * self.rate**2 + dry + self.drag * self.rate)

    @property
    def size(self) -> Array:
        parts = (
            self.inertia * self.second,
            self.stiffness * self.s,
            self.stiffness * self.free,
            self.damping * self.rate,
            self.coulomb,
            self.spring,
            self.drag,
        )
        largest = sum(float(np.abs(x).max()) for x in parts)
        return np.asarray(largest * np.abs(self.partial).max(axis=0))


def straight_lines(x: Array, knots: tuple[float, ...], slopes: list[float]) -> tuple[Array, Array]:
    """Force with these slopes between knots, zero at zero, and its integral from zero."""
    far = 10 + np.abs([*x, *knots, 0.0]).max()
    nodes = np.unique([-far, *knots, 0.0, far])
    steps = np.array(slopes)[np.searchsorted(knots, (nodes[1:] + nodes[:-1]) / 2)]
    height = np.concatenate([[0.0], np.cumsum(steps * np.diff(nodes))])
    height -= height[np.searchsorted(nodes, 0.0)]
    force = np.interp(x, nodes, height)
    area = []
    for end in x:
        ends = sorted((0.0, end))
        grid = np.array([ends[0], *nodes[(nodes > ends[0]) & (nodes < ends[1])], ends[1]])
        area.append(np.sign(end) * np.trapezoid(np.interp(grid, nodes, height), grid))
    return force, np.array(area)


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

    def _turning(self, e: ForceElement, s: Array, v: Array) -> Array:
        """Hysteresis: Dahl's law from sample to sample, or that of states alone."""
        width, h = e["hysteresis_width"], np.zeros(len(s))
        if not value(e["hysteresis"]):
            return h
        if self.motion.time is None or not self.motion.ordered or len(s) < 2:
            return np.asarray(value(e["hysteresis"]) * v / (np.abs(v) + width))
        for k, step in enumerate(np.diff(s), start=1):
            h[k] = np.sign(step) + (h[k - 1] - np.sign(step)) * np.exp(-abs(step) / width)
        return value(e["hysteresis"]) * h

    @cached_property
    def laws(self) -> list[Law]:
        """Force elements but loads, one entry per motor of a transmission."""
        return list(self._laws())

    def _laws(self) -> Iterator[Law]:
        for e in self.mechanism.elements:
            match e.kind:
                case "spring_damper":
                    s = self._length(*e.points)
                    yield self._law(s, e["stiffness"], e["free_length"], e["damping"])
                case "torsion_spring":
                    s = self._joint(*e.coordinates[0])
                    yield self._law(s, e["stiffness"], e["free_angle"], e["damping"])
                case "friction":
                    s = self._joint(*e.coordinates[0])
                    drag = _dry(e, s[1]) + self._turning(e, s[0], s[1])
                    yield Law(*s, damping=value(e["viscous"]), drag=drag)
                case "polynomial_spring_damper":
                    yield self._polynomial(e)
                case "piecewise_spring_damper":
                    yield self._piecewise(e)
                case "bushing":
                    yield from self._bushing(e)
                case "transmission":
                    for motor in e.parts:
                        parts = [self._joint(*c) for c in e.coordinates]
                        total = [
                            sum(g * p[i] for g, p in zip(motor.ratios, parts, strict=True))
                            for i in range(4)
                        ]
                        yield Law(
                            *(np.asarray(x) for x in total),
                            inertia=value(motor["inertia"]),
                            damping=value(motor["viscous"]),
                            coulomb=value(motor["coulomb"]),
                        )
                case "force" | "moment" | "joint_force":
                    pass  # loads
                case _:
                    raise NotImplementedError(f"{e.kind}: write its force down here, too")

    @cached_property
    def loads(self) -> Sized:
        """Generalised forces of the loads: they drive, so they count against τ."""
        force = np.zeros_like(self.motion.y)
        size = np.zeros(force.shape[1])
        for e in self.mechanism.elements:
            if e.kind == "joint_force":
                partial = self._joint(*e.coordinates[0])[3]
                force += value(e["force"]) * partial
                size += abs(value(e["force"])) * np.abs(partial).max(axis=0)
            if e.kind not in ("force", "moment"):
                continue
            at = (*e.points, Point("", e.body, (0.0, 0.0, 0.0)))[0]
            axes = self._points(self.motion, [Point("", e.axes_of, (0.0, 0.0, 0.0))])
            vector = value(e["magnitude"]) * axes.rotation[:, 0] @ np.array(e.direction)
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
            potential += law.potential
        return kinetic, potential

    @cached_property
    def losses(self) -> Array:
        """Power that dampers and friction take, (N,)."""
        return sum((law.loss for law in self.laws), np.zeros(len(self.motion.y)))

    def _polynomial(self, e: ForceElement) -> Law:
        s = self._line(e)
        x, v = s[0] - e["free"], s[1]
        k = np.array([value(c) for c in e["stiffness"]])
        up = np.polynomial.Polynomial([-value(e["preload"]), *k])
        drag = sum(
            (value(c) * np.sign(v) * np.abs(v) ** n for n, c in enumerate(e["damping"], start=1)),
            np.zeros_like(v),
        )
        # The preload has the potential -f s, not -f (s - s0): another constant.
        stored = up.integ()(x) - value(e["preload"]) * e["free"]
        return Law(*s, spring=up(x), stored=stored, drag=drag)

    def _piecewise(self, e: ForceElement) -> Law:
        s = self._line(e)
        spring = drag = np.zeros_like(s[0])
        stored = spring
        if e["stiffness"]:
            slopes = [value(c) for c in e["stiffness"]]
            spring, stored = straight_lines(s[0] - e["free"], e["knots"], slopes)
        if e["damping"]:
            drag, _ = straight_lines(s[1], e["speed_knots"], [value(c) for c in e["damping"]])
        f = value(e["preload"])
        return Law(*s, spring=spring - f, stored=stored - f * s[0], drag=drag)

    def _bushing(self, e: ForceElement) -> Iterator[Law]:
        joint = self.mechanism.joint(e.coordinates[0][0])
        frames = [(joint.body_a, Rigid.of(joint.frame_a)), (joint.body_b, Rigid.of(joint.frame_b))]

        def read(m: Motion) -> Array:
            """Rates of the six, (N, 6); then their values, (N, 6)."""
            f = self._frames(m, frames)
            back = np.swapaxes(f.rotation[:, 0], 1, 2)
            R, p = back @ f.rotation[:, 1], f.position[:, 1] - f.position[:, 0]
            w = np.einsum("nij,nj->ni", back, f.omega[:, 1] - f.omega[:, 0])
            v = f.velocity[:, 1] - f.velocity[:, 0] - np.cross(f.omega[:, 0], p)
            slide = [np.einsum("nij,nj->ni", back, x) for x in (v, p)]
            turn = [skew_part(np.cross(w[:, None], R, axisb=1, axisc=1)), skew_part(R)]
            return np.concatenate([slide[0], turn[0], slide[1], turn[1]], axis=1)

        now, units = read(self.motion), [read(unit) for unit in self.units]
        lists = (e["stiffness"], e["damping"], e["preload"])
        k, c, f = ([value(x) for x in given] or [0.0] * 6 for given in lists)
        for i in range(6):
            s, partial = now[:, 6 + i], np.stack([u[:, i] for u in units], axis=1)
            none = np.zeros_like(s)
            law = {"stiffness": k[i], "damping": c[i], "spring": none - f[i]}
            yield Law(s, now[:, i], none, partial, stored=-f[i] * s, **law)

    def _line(self, e: ForceElement) -> tuple[Array, Array, Array, Array]:
        return self._length(*e.points) if e.points else self._joint(*e.coordinates[0])

    def _law(self, s: tuple[Array, ...], k: Coefficient, free: Coefficient, c: Coefficient) -> Law:
        return Law(*s, stiffness=value(k), free=value(free), damping=value(c))

    def _points(self, motion: Motion, points: list[Point]) -> FrameMotion:
        return self._frames(motion, [(p.body, Rigid(np.eye(3), np.array(p.local))) for p in points])

    def _frames(self, motion: Motion, frames: list[tuple[str, Rigid]]) -> FrameMotion:
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


def skew_part(R: Array) -> Array:
    """Vector of the skew part of matrices, (N, 3)."""
    S = (R - np.swapaxes(R, 1, 2)) / 2
    return np.stack([S[:, 2, 1], S[:, 0, 2], S[:, 1, 0]], axis=1)


def _dry(e: ForceElement, v: Array) -> Array:
    """Friction besides the viscous part."""
    sign = np.tanh(v / e["smoothing"]) if e["smoothing"] else np.sign(v)
    sided = np.where(v > 0, value(e["coulomb_positive"]), value(e["coulomb_negative"]))
    drop = 0.0
    if e["stribeck_speed"]:
        fade = np.exp(-(np.abs(v / e["stribeck_speed"]) ** e["stribeck_exponent"]))
        drop = value(e["stribeck"]) * fade
    return np.asarray((value(e["coulomb"]) + sided + drop) * sign)


def value(c: Coefficient) -> float:
    return c.value or 0.0


def _norm(x: Array) -> float:
    """Largest length of the vectors."""
    return float(np.linalg.norm(x, axis=-1).max())
