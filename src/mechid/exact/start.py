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

from mechid.dynamics.columns import element_terms
from mechid.errors import MechidError
from mechid.exact.constraint_numbers import exact_constant
from mechid.exact.construct import Construction, construction
from mechid.exact.geometry import Geometry, Vector, cross, dot, exact_geometry
from mechid.exact.numbers import parameter_values, recognise
from mechid.exact.quadrics import SpringEnds, exact_point
from mechid.kinematics.couplings import coupling_constant
from mechid.mechanism.element_laws import measure_parts
from mechid.mechanism.records import (
    GROUND,
    Coupling,
    Frame,
    Joint,
    JointCoordinate,
    Mechanism,
    Point,
    PointCoordinate,
    Vec3,
)
from mechid.mechanism.records import IDENTITY as IDENTICAL

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
    opened : str
        A thread or constraint that does not hold in the pose; its own value there counts.
    zero : bool
        Whether all joint coordinates are zero in the pose, which need not be the reference pose.
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
    opened: str = ""
    zero: bool = False
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

    def length(self, *axes: Sequence[sp.Expr]) -> sp.Expr:
        """Return the product of the lengths of axes, as one square root."""
        square = sp.prod(sum(x * x for x in axis) for axis in axes)
        plain = sp.expand(square.subs(self.values))
        return sp.sqrt(plain if plain.is_rational else sp.simplify(plain))

    def angle(self, name: str, index: int) -> sp.Expr | None:
        """Return an angle in the pose, if it is a part of a turn that is recognised."""
        if self.zero:
            return ZERO
        if self.construction is not None:
            return None
        value, exact = exact_constant(self.mechanism, Coupling("", ((name, index, 1.0),)))
        return value if exact and (value / sp.pi).is_rational else None

    def distance(self, ends: SpringEnds) -> sp.Expr:
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
            yield from map(self.distance, self.springs)


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
    special = [f"the thread of {j.name}" for j in mechanism.joints if j.kind.thread]
    special += [f"constraint {c.name}" for c in mechanism.couplings]
    special += [f"the held coordinate {c.name}" for c in mechanism.coordinates if c.held]
    if special:
        raise MechidError(
            f"{special[0]} takes a reference pose that is closed in exact numbers",
            where="exact pose",
        )
    if geometry.rounded:
        raise MechidError(
            f"a number has no recognised exact form: {geometry.rounded[0]}", where="exact pose"
        )
    found = construction(geometry, springs)
    return replace(
        _own(geometry, springs), poses={}, rounded=(), opened="", zero=False, construction=found
    )


def _turned(mechanism: Mechanism, springs: tuple[SpringEnds, ...]) -> Start:
    names = [body.name for body in mechanism.bodies]
    reader = _Reader(mechanism, frozenset(names))
    joints = {}
    for joint in mechanism.joints:
        on_a, read_b = reader.joint(joint, 0), reader.joint(joint, 1)
        on_b = _closed(joint, on_a, read_b)
        if joint.name in reader.whole:
            on_b = replace(on_b, axes=read_b.axes)
        crossed = joint.kind.crossed
        tilted = crossed is not None and on_b.axes[crossed[1]] != read_b.axes[crossed[1]]
        if on_b.origin != read_b.origin or tilted:
            reader.rounded.append(f"joint {joint.name}: its two frames do not meet exactly")
        joints[joint.name, 0], joints[joint.name, 1] = on_a, on_b
    poses = dict.fromkeys(names, (ORIGIN, IDENTITY))
    points = _points(mechanism, springs)
    read = {p: reader.point(p.body, p.local, f"point {p.name}") for p in points}
    rounded = tuple(dict.fromkeys([*reader.rounded, *_rounded_factors(mechanism)]))
    values, opened = parameter_values(mechanism), _opened(mechanism)
    return Start(mechanism, joints, poses, frozenset(names), rounded, values, read, springs, opened)


def _points(mechanism: Mechanism, springs: tuple[SpringEnds, ...]) -> list[Point]:
    """Return the points of springs, distance constraints and held coordinates."""
    pairs = (*springs, *((d.point_a, d.point_b) for d in mechanism.distances))
    points = [point for pair in pairs for point in pair]
    for c in mechanism.coordinates:
        if c.held and not isinstance(c, JointCoordinate):
            points += [c.point] if isinstance(c, PointCoordinate) else [c.point_a, c.point_b]
    return points


def ratios(direction: Vec3) -> list[float]:
    """Return a direction with a largest component of one."""
    largest = max(abs(t) for t in direction)
    return [t / largest for t in direction]


def _rounded_factors(mechanism: Mechanism) -> Iterator[str]:
    """Name the numbers of threads, couplings and held coordinates that are not recognised."""
    for held in (c for c in mechanism.coordinates if isinstance(c, PointCoordinate) and c.held):
        if not all(recognise(t)[1] for t in ratios(held.direction)):
            yield f"direction of {held.name}"
    for joint in mechanism.joints:
        if joint.kind.thread and not recognise(joint.pitch)[1]:
            yield f"pitch of joint {joint.name}"
    for c in mechanism.couplings:
        texts = c.exprs or (None,) * len(c.terms)
        for (name, _, factor), text in zip(c.terms, texts, strict=True):
            if text is None and not recognise(factor)[1]:
                yield f"constraint {c.name}: factor of {name}"


def _opened(mechanism: Mechanism) -> str:
    """Name a thread or constraint that does not hold in the reference pose, to rounding."""
    for joint in mechanism.joints:
        if joint.kind.thread:
            turning = replace(joint, type="cylindrical")
            lead = Coupling("", ((joint.name, 0, joint.pitch / (2 * np.pi)), (joint.name, 1, -1.0)))
            shift = coupling_constant(replace(mechanism, joints=(turning,)), lead)
            if abs(shift - joint.pitch * round(shift / joint.pitch)) > _CARRIED:
                return f"the thread of {joint.name}"
    for c in mechanism.couplings:
        here = coupling_constant(mechanism, replace(c, constant=None))
        size = 1 + abs(here) + sum(abs(factor) for *_, factor in c.terms)
        if abs(coupling_constant(mechanism, c) - here) > _CARRIED * size:
            return f"constraint {c.name}"
    for d in mechanism.distances:
        places = []
        for p in (d.point_a, d.point_b):
            frame = mechanism.body(p.body).frame
            places.append(np.array(frame.origin) + np.array(frame.rotation) @ np.array(p.local))
        if abs(float(np.linalg.norm(places[1] - places[0])) - d.length) > _CARRIED:
            return f"constraint {d.name}"
    return ""


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


def _whole_frames(mechanism: Mechanism) -> frozenset[str]:
    """Name the joints of which more is measured than the axes that they hold."""
    measures = [m for t in element_terms(mechanism) for m, _ in measure_parts(t.measure)]
    places = [(m[1], m[2]) for m in measures if m[0] == "joint"]
    places += [(name, index) for c in mechanism.couplings for name, index, _ in c.terms]
    places += [(c.joint, c.index) for c in mechanism.coordinates
               if isinstance(c, JointCoordinate) and c.held]  # fmt: skip
    found = {m[1] for m in measures if m[0] in ("slide", "dot")}
    for name, index in places:
        kind = mechanism.joint(name).kind
        step = kind.step(index)
        if step.motion == "slide" and step.axis not in kind.exact_axes[0]:
            found.add(name)
    return frozenset(found)


class _Reader:
    """Reads numbers of bodies, and notes those not recognised.

    Those of `turned` have the axes of the ground in the reference pose.
    """

    def __init__(self, mechanism: Mechanism, turned: frozenset[str]) -> None:
        self._mechanism = mechanism
        self._turned = turned
        self.whole = _whole_frames(mechanism)
        self.rounded: list[str] = []

    def _frame(self, body: str) -> Frame:
        return self._mechanism.body(body).frame if body in self._turned else IDENTICAL

    def point(self, body: str, local: Vec3, what: str) -> Vector:
        frame = self._frame(body)
        place = np.array(frame.origin) + np.array(frame.rotation) @ np.array(local)
        return self._vector(place.tolist(), what)

    def joint(self, joint: Joint, side: int) -> JointAxes:
        body = (joint.body_a, joint.body_b)[side]
        frame = (joint.frame_a, joint.frame_b)[side]
        what = f"joint {joint.name}"
        origin = self.point(body, frame.origin, what)
        axes = IDENTITY
        wanted = (2, 0) if joint.name in self.whole else joint.kind.axes[side]
        read = {k: self._axis(body, frame, k, what) for k in wanted}
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
        turned = np.array(self._frame(body).rotation) @ np.array(frame.rotation)
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
    fixed = [f"constraint {c.name}" for c in mechanism.constraints]
    rounded = [text for text in geometry.rounded if not text.startswith(tuple(fixed))]
    rounded += _rounded_factors(mechanism)
    held = any(c.held for c in mechanism.coordinates)
    zero = len(mechanism.joints) == len(mechanism.bodies) and not fixed and not held
    if zero:
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
    reader = _Reader(mechanism, geometry.turned)
    joints = {}
    for (name, side), f in geometry.frames.items():
        joint = mechanism.joint(name)
        axes = f.axes if joint.kind.exact_axes[side] else IDENTITY
        if name in reader.whole and not (joint.frame_a, joint.frame_b)[side].rotation_expr:
            axes = reader.joint(joint, side).axes
        joints[name, side] = JointAxes(f.origin, axes)
    rounded += reader.rounded
    read = {p: exact_point(geometry, p) for p in _points(mechanism, springs)}
    return Start(
        mechanism,
        joints,
        poses,
        geometry.turned,
        tuple(dict.fromkeys(rounded)),
        parameter_values(mechanism),
        read,
        springs,
        "" if zero else _opened(mechanism),
        zero,
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
