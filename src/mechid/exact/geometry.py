"""The geometry of a mechanism in exact numbers: points and axes of every joint, in its bodies.

Each body keeps its own frame, or, where that makes more of its numbers exact, a frame with the axes
and the origin of the ground in the reference pose: hardpoints are decimals there, while in a frame
built from them they are sums of square roots. The number of base parameters does not depend on the
frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import sympy as sp

from mechid.exact.constraint_numbers import rounded_constraints
from mechid.exact.numbers import Balls, parameter_values, recognise, symbolic
from mechid.mechanism.records import GROUND, Expr3, Frame, Joint, Mechanism, Point, Vec3

Vector: TypeAlias = tuple[sp.Expr, sp.Expr, sp.Expr]
Frames: TypeAlias = Literal["model", "exact"]

# Hardpoints of the reference pose went through one rotation and back.
_CARRIED = 4e-15
_UNIT = 1e-14  # rounding of the length of a unit vector
_ORTHOGONAL = 1e-50  # of 60 digits


@dataclass(frozen=True)
class ExactFrame:
    """A joint frame in its body: origin and three unit axes."""

    origin: Vector
    axes: tuple[Vector, Vector, Vector]


@dataclass(frozen=True, eq=False)
class Geometry:
    """Exact joint frames.

    Attributes
    ----------
    mechanism : Mechanism
    frames : mapping
        (joint, 0 or 1) → frame in body a or b.
    turned : frozenset of str
        Bodies that are described in ground axes of the reference pose instead of their own frame.
    rounded : tuple of str
        Numbers that were not recognised: their binary value counts.
    values : mapping
        Exact values of the named parameters.
    """

    mechanism: Mechanism
    frames: dict[tuple[str, int], ExactFrame]
    turned: frozenset[str]
    rounded: tuple[str, ...]
    values: dict[sp.Symbol, sp.Expr]
    balls: Balls = field(repr=False)

    @cached_property
    def ends(self) -> dict[str, list[tuple[Joint, int]]]:
        """Joints of each body, with the side it is on: searching all joints would be quadratic."""
        return joint_ends(self.mechanism)

    def point(self, body: str, local: Vec3, expr: Expr3 | None = None) -> Vector:
        """Return a point of a body, in the frame that is used for it."""
        return _Reader(self.mechanism, body in self.turned).point(body, local, expr)

    def direction(self, body: str, local: Vec3) -> Vector:
        """Return a unit direction fixed in a body, in the frame that is used for it."""
        return _Reader(self.mechanism, body in self.turned).direction(body, local)

    def vector(self, body: str, local: Vec3) -> Vector:
        """Return a vector fixed in a body with its length."""
        length = float(np.linalg.norm(local))
        size = 1 if abs(length - 1) < _UNIT else recognise(length)[0]
        along = local if size == 1 else (local[0] / length, local[1] / length, local[2] / length)
        x, y, z = self.direction(body, along)
        return (size * x, size * y, size * z)


@dataclass
class _Reader:
    """Reads numbers of one body, and notes those that are not recognised."""

    mechanism: Mechanism
    turned: bool
    rounded: list[str] = field(default_factory=list)

    def point(self, body: str, local: Vec3, expr: Expr3 | None, what: str = "") -> Vector:
        if not self.turned:
            if expr is not None:
                x, y, z = (symbolic(text) for text in expr)
                return (x, y, z)
            return self._numbers(local, 0.0, what)
        frame = self.mechanism.body(body).frame
        place = np.array(frame.origin) + np.array(frame.rotation) @ np.array(local)
        return self._numbers(place.tolist(), _CARRIED, what)

    def read(self, points: Sequence[Point]) -> None:
        """Note what is not recognised of the points of constraints."""
        for p in points:
            self.point(p.body, p.local, p.expr, f"point {p.name} on {p.body}")

    def direction(self, body: str, local: Vec3, what: str = "") -> Vector:
        if self.turned:
            turned = np.array(self.mechanism.body(body).frame.rotation) @ np.array(local)
            local = (float(turned[0]), float(turned[1]), float(turned[2]))
        return self._unit(local, _CARRIED if self.turned else 0.0, what)

    def frame(self, joint: Joint, side: int) -> ExactFrame:
        body = (joint.body_a, joint.body_b)[side]
        given = (joint.frame_a, joint.frame_b)[side]
        what = f"joint {joint.name} on {body}"
        origin = self.point(body, given.origin, given.origin_expr, what)
        if given.rotation_expr is not None and not self.turned:
            rows = [[symbolic(text) for text in row] for row in given.rotation_expr]
            x, y, z = ((rows[0][k], rows[1][k], rows[2][k]) for k in range(3))
            return ExactFrame(origin, (x, y, z))
        needed = joint.kind.exact_axes[side]
        if any(joint.name == name for c in self.mechanism.couplings for name, _, _ in c.terms):
            needed += tuple(k for k in (2, 0) if k not in needed)  # where its angle is zero counts
        return ExactFrame(origin, self._triple(body, given, needed, what))

    def _triple(
        self, body: str, frame: Frame, needed: tuple[int, ...], what: str
    ) -> tuple[Vector, Vector, Vector]:
        """Return three orthonormal axes; only the needed ones must be exact."""
        order = needed + tuple(k for k in (2, 0) if k not in needed)
        noted = len(self.rounded)
        found = [self.direction(body, _column(frame, order[0]), what)]
        if not needed:
            del self.rounded[noted:]
        noted = len(self.rounded)
        second = self.direction(body, _column(frame, order[1]), what)
        if len(needed) < 2:
            del self.rounded[noted:]
        overlap = dot(found[0], second)
        if abs(sp.N(overlap, 60)) > _ORTHOGONAL:
            if len(needed) == 2:
                self.rounded.append(f"{what}: axes")
            second = _across(found[0], _column_in(self, body, frame, order[1]))
        found.append(second)
        axes: dict[int, Vector] = dict(zip(order, found, strict=True))
        third = ({0, 1, 2} - set(axes)).pop()
        i, j = (third + 1) % 3, (third + 2) % 3
        axes[third] = cross(axes[i], axes[j])
        return (axes[0], axes[1], axes[2])

    def _numbers(self, values: Sequence[float], tolerance: float, what: str) -> Vector:
        out = []
        for value in values:
            number, exact = recognise(value, tolerance)
            if not exact:
                self.rounded.append(f"{what}: {value!r}")
            out.append(number)
        return (out[0], out[1], out[2])

    def _unit(self, v: Vec3, tolerance: float, what: str) -> Vector:
        """Recognise a unit vector: by its components, or by their ratios."""
        plain = [recognise(x, max(tolerance, 1e-15)) for x in v]
        if all(exact for _, exact in plain):
            numbers = [x for x, _ in plain]
            if abs(sp.N(sum(x * x for x in numbers) - 1, 60)) < 1e-50:
                return (numbers[0], numbers[1], numbers[2])
        k = int(np.argmax(np.abs(v)))
        ratios = [recognise(x / abs(v[k]), max(tolerance, 1e-15)) for x in v]
        if not all(exact and x.is_rational for x, exact in ratios):
            self.rounded.append(f"{what}: direction {v!r}")
            return _unit_near(v)
        return normalised([x for x, _ in ratios])


def exact_geometry(mechanism: Mechanism, frames: Frames = "model") -> Geometry:
    """Return joint frames in exact numbers.

    Parameters
    ----------
    mechanism : Mechanism
    frames : "model" or "exact"
        "model": every body in its own frame. "exact": in the frame that leaves fewer numbers
        rounded.
    """
    turned: set[str] = set()
    found: dict[tuple[str, int], ExactFrame] = {}
    rounded = rounded_constraints(mechanism)
    for body, ends in joint_ends(mechanism).items():
        own = _Reader(mechanism, False)
        points = [p for c in mechanism.distances for p in (c.point_a, c.point_b) if p.body == body]
        own.read(points)
        best = (own, {(j.name, side): own.frame(j, side) for j, side in ends})
        if own.rounded and frames == "exact" and body != GROUND:
            other = _Reader(mechanism, True)
            other.read(points)
            tried = {(j.name, side): other.frame(j, side) for j, side in ends}
            if len(other.rounded) < len(own.rounded):
                best = (other, tried)
                turned.add(body)
        rounded += best[0].rounded
        found |= best[1]
    values = parameter_values(mechanism)
    return Geometry(mechanism, found, frozenset(turned), tuple(rounded), values, Balls(values))


def joint_ends(mechanism: Mechanism) -> dict[str, list[tuple[Joint, int]]]:
    """Return the joints of each body in the order of the model, and the side it is on."""
    sides: dict[str, list[tuple[Joint, int]]] = {}
    for joint in mechanism.joints:
        for side, body in enumerate((joint.body_a, joint.body_b)):
            sides.setdefault(body, []).append((joint, side))
    return sides


def dot(a: Sequence[sp.Expr], b: Sequence[sp.Expr]) -> sp.Expr:
    """Return a · b."""
    return sum((x * y for x, y in zip(a, b, strict=True)), sp.Integer(0))


def cross(a: Vector, b: Vector) -> Vector:
    """Return a × b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def normalised(v: Sequence[sp.Expr]) -> Vector:
    """Return v / |v|."""
    length = sp.sqrt(sum(x * x for x in v))
    return (v[0] / length, v[1] / length, v[2] / length)


def _unit_near(v: Sequence[float]) -> Vector:
    """Return a rational vector of exactly unit length next to a float one (stereographic)."""
    k = int(np.argmax(np.abs(v)))
    t = [sp.Rational(x / (1 + abs(v[k]))) for x in v]
    t[k] = sp.Integer(0)
    square = sum((x * x for x in t), sp.Integer(0))
    out = [2 * x / (1 + square) for x in t]
    out[k] = (1 - square) / (1 + square) * (1 if v[k] > 0 else -1)
    return (out[0], out[1], out[2])


def _across(a: Vector, near: Sequence[float]) -> Vector:
    """Return a unit vector exactly across the unit vector a, next to a float one.

    A reflection that carries an axis to a carries the two others to directions across; between
    them, sine and cosine are rational. No square root is taken: of long rationals it is slow.
    """
    sizes = [float(x) for x in a]
    k = int(np.argmax(np.abs(sizes)))
    i, j = (k + 1) % 3, (k + 2) % 3
    w = list(a)
    w[k] = w[k] + (1 if sizes[k] > 0 else -1)
    scale = 1 + (a[k] if sizes[k] > 0 else -a[k])
    p, q = ([sp.Integer(m == n) - w[n] * w[m] / scale for m in range(3)] for n in (i, j))
    x, y = (float(np.dot([float(t) for t in r], near)) for r in (p, q))
    c, s, _ = _unit_near((x / np.hypot(x, y), y / np.hypot(x, y), 0.0))
    out = [c * m + s * n for m, n in zip(p, q, strict=True)]
    return (out[0], out[1], out[2])


def _column_in(reader: _Reader, body: str, frame: Frame, k: int) -> Vec3:
    """Return an axis of a joint frame in the frame that is used for its body, in floats."""
    v = np.array(_column(frame, k))
    if reader.turned:
        v = np.array(reader.mechanism.body(body).frame.rotation) @ v
    return (float(v[0]), float(v[1]), float(v[2]))


def _column(frame: Frame, k: int) -> Vec3:
    r = frame.rotation
    return (r[0][k], r[1][k], r[2][k])
