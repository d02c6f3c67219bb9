"""A closed pose in exact numbers, and the joints there.

Three readings of a model are tried. In the first every body has the axes of the ground in the
reference pose, so that the pose is the identity, and the hardpoints must be numbers that are
recognised. In the second every body has its own frame (`exact.geometry`), and the reference pose of
these frames must be recognised. The third has the same frames, and poses nearby that are reached by
square roots (`exact.construct`). Whether the joints are closed in such a pose is decided later, in
the prime field. Constraints do not care how long an axis is, so axes need not be unit vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import sympy as sp

from mechid.errors import MechidError
from mechid.exact.construct import Construction, construction
from mechid.exact.geometry import Geometry, Vector, cross, dot, exact_geometry
from mechid.exact.numbers import parameter_values, recognise
from mechid.exact.quadrics import SpringEnds, exact_point
from mechid.mechanism.records import GROUND, Frame, Joint, Mechanism, Point, Vec3

ZERO, ONE = sp.Integer(0), sp.Integer(1)
IDENTITY: tuple[Vector, Vector, Vector] = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))
ORIGIN: Vector = (ZERO, ZERO, ZERO)
Pose: TypeAlias = tuple[Vector, tuple[Vector, Vector, Vector]]
# Hardpoints went through one rotation and back.
_CARRIED = 4e-15


@dataclass(frozen=True)
class JointAxes:
    """Origin and axes x, y, z of a joint frame in a body; axes are normal, of any length."""

    origin: Vector
    axes: tuple[Vector, Vector, Vector]


@dataclass(frozen=True, eq=False)
class Start:
    """Joint frames in the bodies, and a pose of the bodies.

    Attributes
    ----------
    mechanism : Mechanism
    joints : mapping
        (joint, 0 or 1) → frame in body a or b.
    poses : mapping
        Body → origin and rows of the rotation matrix.
    turned : frozenset of str
        Bodies that have the axes of the ground in the reference pose.
    rounded : tuple of str
        Numbers that were not recognised: their binary value counts.
    values : mapping
        Exact values of the named parameters.
    points : mapping
        Points of bodies in the frames that are used for them.
    springs : tuple
        Ends of springs whose lengths are needed.
    construction : Construction, optional
        The pose, in the place of `poses`.
    """

    mechanism: Mechanism
    joints: dict[tuple[str, int], JointAxes]
    poses: dict[str, Pose]
    turned: frozenset[str]
    rounded: tuple[str, ...]
    values: dict[sp.Symbol, sp.Expr]
    points: dict[Point, Vector]
    springs: tuple[SpringEnds, ...]
    construction: Construction | None = None

    def numbers(self) -> Iterator[sp.Expr]:
        """Yield all numbers."""
        for joint in self.joints.values():
            yield from joint.origin
            for axis in joint.axes:
                yield from axis
        for p, rows in self.poses.values():
            yield from p
            for row in rows:
                yield from row
        for point in self.points.values():
            yield from point

    def length(self, ends: SpringEnds) -> sp.Expr:
        """Return the length of a spring in the pose, a square root."""
        places = []
        for point in ends:
            place = list(self.points[point])
            if point.body in self.poses:
                origin, rows = self.poses[point.body]
                place = [origin[k] + dot(rows[k], place) for k in range(3)]
            places.append(place)
        square = sum((x - y) ** 2 for x, y in zip(*places, strict=True))
        return sp.sqrt(sp.expand(square)).subs(self.values)

    def residual(self) -> Iterator[sp.Expr]:
        """Yield all numbers that need a residue."""
        yield from self.numbers()
        if self.construction is not None:
            yield from self.construction.program.constants
        else:
            yield from map(self.length, self.springs)


def recognised_starts(mechanism: Mechanism, springs: tuple[SpringEnds, ...]) -> Iterator[Start]:
    """Yield readings with the reference pose, the cheapest first.

    Parameters
    ----------
    mechanism : Mechanism
    springs : tuple
        Ends of springs whose lengths are needed.
    """
    yield _turned(mechanism, springs)
    yield _own(exact_geometry(mechanism, "exact"), springs)


def constructed_start(mechanism: Mechanism, springs: tuple[SpringEnds, ...]) -> Start:
    """Return the reading with a pose that is constructed.

    Raises
    ------
    MechidError
        If lengths are not exact, or if no construction is found.
    """
    geometry = exact_geometry(mechanism, "exact")
    if geometry.rounded:
        raise MechidError(
            f"a number has no recognised exact form: {geometry.rounded[0]}", where="exact pose"
        )
    found = construction(geometry, springs)
    return replace(_own(geometry, springs), poses={}, rounded=(), construction=found)


def _turned(mechanism: Mechanism, springs: tuple[SpringEnds, ...]) -> Start:
    reader = _Reader(mechanism)
    joints = {}
    for joint in mechanism.joints:
        on_a, read_b = reader.joint(joint, 0), reader.joint(joint, 1)
        on_b = _closed(joint, on_a, read_b)
        crossed = joint.kind.crossed
        tilted = crossed is not None and on_b.axes[crossed[1]] != read_b.axes[crossed[1]]
        if on_b.origin != read_b.origin or tilted:
            reader.rounded.append(f"joint {joint.name}: its two frames do not meet exactly")
        joints[joint.name, 0], joints[joint.name, 1] = on_a, on_b
    names = [body.name for body in mechanism.bodies]
    poses = dict.fromkeys(names, (ORIGIN, IDENTITY))
    read = {p: reader.point(p.body, p.local, f"point {p.name}") for ends in springs for p in ends}
    rounded = tuple(dict.fromkeys(reader.rounded))
    return Start(mechanism, joints, poses, frozenset(names), rounded, {}, read, springs)


def _closed(joint: Joint, on_a: JointAxes, on_b: JointAxes) -> JointAxes:
    """Return frame b moved onto frame a, as far as the joint demands: nothing, in exact numbers."""
    kind = joint.kind
    apart = [b - a for a, b in zip(on_a.origin, on_b.origin, strict=True)]
    if kind.holds_point:
        apart = [ZERO] * 3
    elif kind.line is not None:
        apart = _along(apart, on_a.axes[kind.line])
    elif kind.normal is not None:
        out = _along(apart, on_a.axes[kind.normal])
        apart = [t - u for t, u in zip(apart, out, strict=True)]
    x, y, z = (sp.expand(a + t) for a, t in zip(on_a.origin, apart, strict=True))
    origin = on_b.origin if kind.holds_nothing else (x, y, z)
    if kind.crossed is None:
        return JointAxes(origin, on_a.axes if kind.held_pairs else on_b.axes)
    i, j = kind.crossed
    tilt = _along(on_b.axes[j], on_a.axes[i])
    u, v, w = (sp.expand(b - t) for b, t in zip(on_b.axes[j], tilt, strict=True))
    return JointAxes(origin, normal_axes((u, v, w), j))


def _along(v: Sequence[sp.Expr], axis: Vector) -> list[sp.Expr]:
    """Return the part of a vector along an axis of any length."""
    share = dot(v, axis) / dot(axis, axis)
    return [share * t for t in axis]


class _Reader:
    """Reads numbers in ground axes of the reference pose, and notes those not recognised."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self.rounded: list[str] = []

    def point(self, body: str, local: Vec3, what: str) -> Vector:
        frame = self._mechanism.body(body).frame
        place = np.array(frame.origin) + np.array(frame.rotation) @ np.array(local)
        return self._vector(place.tolist(), what)

    def joint(self, joint: Joint, side: int) -> JointAxes:
        body = (joint.body_a, joint.body_b)[side]
        frame = (joint.frame_a, joint.frame_b)[side]
        what = f"joint {joint.name}"
        origin = self.point(body, frame.origin, what)
        axes = IDENTITY
        read = {k: self._axis(body, frame, k, what) for k in joint.kind.axes[side]}
        if len(read) == 1:
            ((k, only),) = read.items()
            axes = normal_axes(only, k)
        elif read:
            (i, first), (j, second) = read.items()
            if dot(first, second) != 0:
                self.rounded.append(f"axes of {what}")
            third = 3 - i - j
            sign = 1 if (j - i) % 3 == 1 else -1
            x, y, z = (sp.expand(sign * t) for t in cross(first, second))
            read[third] = (x, y, z)
            axes = (read[0], read[1], read[2])
        return JointAxes(origin, axes)

    def _axis(self, body: str, frame: Frame, k: int, what: str) -> Vector:
        turned = np.array(self._mechanism.body(body).frame.rotation) @ np.array(frame.rotation)
        column = turned[:, k]
        plain = [recognise(float(x), _CARRIED) for x in column]
        if all(exact and x.is_rational for x, exact in plain):
            return (plain[0][0], plain[1][0], plain[2][0])
        return self._vector((column / np.abs(column).max()).tolist(), f"axis of {what}")

    def _vector(self, values: list[float], what: str) -> Vector:
        out = []
        for value in values:
            number, exact = recognise(float(value), _CARRIED)
            if not exact:
                self.rounded.append(what)
            out.append(number)
        return (out[0], out[1], out[2])


def normal_axes(axis: Vector, k: int) -> tuple[Vector, Vector, Vector]:
    """Return three normal axes, not of unit length, with `axis` as number k."""
    sizes = [abs(float(x)) for x in axis]
    helper = sizes.index(min(sizes))
    unit: Vector = (sp.Integer(helper == 0), sp.Integer(helper == 1), sp.Integer(helper == 2))
    first = cross(unit, axis)
    found = {k: axis, (k + 1) % 3: first, (k + 2) % 3: cross(axis, first)}
    return (found[0], found[1], found[2])


def _own(geometry: Geometry, springs: tuple[SpringEnds, ...]) -> Start:
    mechanism = geometry.mechanism
    rounded = list(geometry.rounded)
    if len(mechanism.joints) == len(mechanism.bodies):
        poses = _hung(geometry)
    else:
        poses = {}
        for body in mechanism.bodies:
            turned = body.name in geometry.turned
            found = (ORIGIN, IDENTITY) if turned else _recognised(body.frame)
            if found is None:
                rounded.append(f"pose of {body.name}")
                found = (ORIGIN, IDENTITY)
            poses[body.name] = found
    joints = {
        (name, side): JointAxes(
            f.origin, f.axes if mechanism.joint(name).kind.exact_axes[side] else IDENTITY
        )
        for (name, side), f in geometry.frames.items()
    }
    read = {p: exact_point(geometry, p) for ends in springs for p in ends}
    return Start(
        mechanism,
        joints,
        poses,
        geometry.turned,
        tuple(dict.fromkeys(rounded)),
        parameter_values(mechanism),
        read,
        springs,
    )


def _recognised(frame: Frame) -> Pose | None:
    """Return the pose of a frame, if all its numbers are recognised."""
    read = [
        recognise(value, _CARRIED)
        for value in (*frame.origin, *(x for row in frame.rotation for x in row))
    ]
    if not all(exact for _, exact in read):
        return None
    v = [number for number, _ in read]
    return (v[0], v[1], v[2]), ((v[3], v[4], v[5]), (v[6], v[7], v[8]), (v[9], v[10], v[11]))


def _hung(geometry: Geometry) -> dict[str, Pose]:
    """Return the pose of a mechanism without loops in which the two frames of each joint meet."""
    poses: dict[str, Pose] = {GROUND: (ORIGIN, IDENTITY)}
    waiting = list(geometry.mechanism.joints)
    while waiting:
        joint = next(j for j in waiting if (j.body_a in poses) != (j.body_b in poses))
        waiting.remove(joint)
        side = 0 if joint.body_a in poses else 1
        known, other = geometry.frames[joint.name, side], geometry.frames[joint.name, 1 - side]
        p, R = poses[(joint.body_a, joint.body_b)[side]]
        axes = [[dot(row, axis) for axis in known.axes] for row in R]  # ground ← joint
        back = [[other.axes[k][i] for i in range(3)] for k in range(3)]  # joint ← other body
        turn = [
            [sp.expand(sum(axes[i][k] * back[k][j] for k in range(3))) for j in range(3)]
            for i in range(3)
        ]
        place = [
            sp.expand(p[i] + dot(R[i], known.origin) - dot(turn[i], other.origin)) for i in range(3)
        ]
        poses[(joint.body_a, joint.body_b)[1 - side]] = (
            (place[0], place[1], place[2]),
            tuple((row[0], row[1], row[2]) for row in turn),  # type: ignore[assignment]
        )
    return poses
