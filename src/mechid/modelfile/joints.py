"""Joints: the two joint frames from points and directions (see docs/reference/conventions.md)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mechid.errors import ModelError
from mechid.mechanism.joint_kinds import JOINT_KINDS, JointKind
from mechid.mechanism.records import Frame, Joint, Limit
from mechid.modelfile.frames import signed, turned_by
from mechid.modelfile.geometry import FLIP, Geometry
from mechid.modelfile.limits import limit
from mechid.modelfile.places import Heading
from mechid.modelfile.points import PointBook
from mechid.modelfile.scope import Entry
from mechid.modelfile.spec_joints import JointSpec
from mechid.modelfile.vectors import EXACT_ZERO, Array, Exact, mat3, perpendicular
from mechid.spatial.rotations import frame_from_axes, snap
from mechid.textfile.yamlio import Key

_PERPENDICULAR = 1e-6


def joint(entry: Entry, geometry: Geometry, book: PointBook) -> Joint:
    """Return the record of a joint."""
    spec: JointSpec = entry.spec
    path, scope = entry.path, entry.scope
    a, b = (
        scope.find("bodies", name, (*path, "between", i)) for i, name in enumerate(spec.between)
    )
    if a == b:
        raise ModelError(
            f"the joint connects {a} with itself",
            path=(*path, "between"),
            remedy="name two different bodies",
        )
    _check_keys(spec, path)
    if spec.frames is not None:
        frames = _spelled_out(spec, (a, b), entry, geometry)
    else:
        frames = _frames(spec, (a, b), entry, geometry, book)
    pitch = 0.0
    if spec.pitch is not None:
        pitch = geometry.numbers.value(spec.pitch, scope, (*path, "pitch"))
        pitch = pitch if scope.reflection is None else -pitch
    limits = _limits(spec, entry, geometry)
    return Joint(entry.name, spec.type, a, b, *frames, pitch, limits, spec.hidden, spec.source)


def reversed_by_mirror(kind: JointKind, spec: Any) -> tuple[int, ...]:
    """Return which displacements of a joint a mirrored copy measures the other way round."""
    if kind.holds_nothing and getattr(spec, "frames", None) is not None:
        return (0, 1, 2)  # without frames of its own a free joint keeps the axes of its bodies
    return kind.reversed


def _check_keys(spec: JointSpec, path: Key) -> None:
    keys = ("at", "axis", "axes", "zero", "pitch", "limits", "frames")
    given = [key for key in keys if getattr(spec, key) is not None]
    required, allowed = JOINT_KINDS[spec.type].needs, JOINT_KINDS[spec.type].takes
    article = "an" if spec.type[0] in "aeio" else "a"
    if spec.frames is not None:
        required = tuple(k for k in required if k == "pitch")
        allowed = ("frames", *(k for k in allowed if k in ("pitch", "limits")))
    for key in given:
        if key not in allowed:
            remedy = {"axes": "use axis", "axis": "use axes: [fixed in a, fixed in b]"}.get(key, "")
            if spec.frames is not None:
                remedy = "frames already define it"
            elif key not in ("axis", "axes") or not set(allowed) & {"axis", "axes"}:
                remedy = "remove it"
            raise ModelError(
                f"{article} {spec.type} joint has no {key}", path=(*path, key), remedy=remedy
            )
    for key in required:
        if key not in given:
            raise ModelError(
                f"{key} is missing",
                path=path,
                remedy=f"{article} {spec.type} joint needs {' and '.join(required)}",
            )


def _spelled_out(
    spec: JointSpec, bodies: tuple[str, str], entry: Entry, geometry: Geometry
) -> tuple[Frame, Frame]:
    assert spec.frames is not None
    frames = []
    for i, (frame, body) in enumerate(zip(spec.frames, bodies, strict=True)):
        path: Key = (*entry.path, "frames", i)
        origin = geometry.numbers.vector(frame.origin, entry.scope, (*path, "origin"))
        R, expr = turned_by(geometry.numbers, frame, entry.scope, path)
        if entry.scope.planes:
            origin = geometry.actual_point(origin, body, entry.scope)
            left, right = _turned(JOINT_KINDS[spec.type], body, entry, geometry)
            R, expr = mat3(left @ np.array(R) @ right), signed(expr, left, right)
        frames.append(Frame(origin.value, R, origin.expr, expr))
    return frames[0], frames[1]


def _turned(kind: JointKind, body: str, entry: Entry, geometry: Geometry) -> tuple[Array, Array]:
    """Return A and B, with which the mirror image of a joint frame R in a body is A R B."""
    mirror = geometry.mirror_matrix(body, entry.scope)
    if entry.scope.reflection is None:
        return mirror, np.eye(3)
    if kind.n_turns == 0:
        return mirror, FLIP
    return -mirror, np.eye(3)  # so that equal angles are mirror images


def _frames(
    spec: JointSpec, bodies: tuple[str, str], entry: Entry, geometry: Geometry, book: PointBook
) -> tuple[Frame, Frame]:
    kind = JOINT_KINDS[spec.type]
    origins = _origins(spec, bodies, entry, geometry, book)
    if kind.holds_nothing:
        matrices = [np.eye(3), np.eye(3)]
    elif not kind.axes[0]:
        matrices = [np.asarray(snap(geometry.pose(body).R.T), dtype=float) for body in bodies]
    else:
        if kind.crossed:
            designed = _universal(spec, bodies, entry, geometry)
        else:
            designed = _axial(spec, bodies, entry, geometry)
        matrices = []
        for body, R in zip(bodies, designed, strict=True):
            left, right = _turned(kind, body, entry, geometry)
            matrices.append(left @ R @ right)
    frames = [
        Frame(origin.value, mat3(R), origin.expr)
        for origin, R in zip(origins, matrices, strict=True)
    ]
    return frames[0], frames[1]


def _origins(
    spec: JointSpec, bodies: tuple[str, str], entry: Entry, geometry: Geometry, book: PointBook
) -> list[Exact]:
    if spec.at is None:
        return [EXACT_ZERO, EXACT_ZERO]
    origins = []
    pair = isinstance(spec.at, tuple) and len(spec.at) == 2
    for i, body in enumerate(bodies):
        path: Key = (*entry.path, "at", i) if pair else (*entry.path, "at")
        point: Any = spec.at[i] if pair else spec.at  # type: ignore[index]
        place = book.named(point, body, entry.scope, path)
        origins.append(geometry.fixed_in(place, body, entry.scope))
    return origins


def _headings(value: Any, key: str, entry: Entry, geometry: Geometry) -> tuple[Heading, Heading]:
    path: Key = (*entry.path, key)
    if isinstance(value, tuple) and len(value) == 2:
        a, b = (geometry.direction(v, entry.scope, (*path, i)) for i, v in enumerate(value))
        return a, b
    heading = geometry.direction(value, entry.scope, path)
    return heading, heading


def _axial(
    spec: JointSpec, bodies: tuple[str, str], entry: Entry, geometry: Geometry
) -> tuple[Array, Array]:
    """Return the frames of a joint with one axis: z is the axis."""
    scope, (a, b) = entry.scope, bodies
    axis_a, axis_b = _headings(spec.axis, "axis", entry, geometry)
    z_a, z_b = geometry.direction_in(axis_a, a, scope), geometry.direction_in(axis_b, b, scope)
    if spec.zero is not None:
        zero_a, zero_b = _headings(spec.zero, "zero", entry, geometry)
        x_a, x_b = geometry.direction_in(zero_a, a, scope), geometry.direction_in(zero_b, b, scope)
        for i, (z, x) in enumerate(((z_a, x_a), (z_b, x_b))):
            _refuse_parallel(z, x, (*entry.path, "zero", i))
        return frame_from_axes(z_a, x_a, (2, 0)), frame_from_axes(z_b, x_b, (2, 0))
    R_a = frame_from_axes(z_a, perpendicular(z_a), (2, 0))
    x = _carried(R_a[:, 0], a, b, entry, geometry)
    if float(np.linalg.norm(np.cross(z_b, x))) < _PERPENDICULAR:  # only in a very rough pose
        x = perpendicular(z_b)
    return R_a, frame_from_axes(z_b, x, (2, 0))


def _universal(
    spec: JointSpec, bodies: tuple[str, str], entry: Entry, geometry: Geometry
) -> tuple[Array, Array]:
    """Return the frames of a universal joint: z of a and x of b are its axes."""
    scope, (a, b) = entry.scope, bodies
    first, second = _headings(spec.axes, "axes", entry, geometry)
    between = math.degrees(
        math.atan2(
            float(np.linalg.norm(np.cross(first.vector, second.vector))),
            float(first.vector @ second.vector),
        )
    )
    shared = not (isinstance(spec.at, tuple) and len(spec.at) == 2)
    off = abs(between - 90)
    if (shared and off > math.degrees(_PERPENDICULAR)) or off > 89.9:
        raise ModelError(
            f"the axes of the universal joint are {between:.6g}° apart, not 90°",
            path=(*entry.path, "axes"),
            remedy="make them perpendicular, or give at: [on a, on b] if the pose is rough",
        )
    z_a = geometry.direction_in(first, a, scope)
    x_b = geometry.direction_in(second, b, scope)
    if spec.zero is not None:
        zero_a, zero_b = _headings(spec.zero, "zero", entry, geometry)
        x_a, z_b = geometry.direction_in(zero_a, a, scope), geometry.direction_in(zero_b, b, scope)
        for i, (z, x) in enumerate(((z_a, x_a), (x_b, z_b))):
            _refuse_parallel(z, x, (*entry.path, "zero", i))
    else:
        x_a = _carried(x_b, b, a, entry, geometry)
        z_b = _carried(z_a, a, b, entry, geometry)
    return frame_from_axes(z_a, x_a, (2, 0)), frame_from_axes(x_b, z_b, (0, 2))


def _carried(v: Array, of: str, to: str, entry: Entry, geometry: Geometry) -> Array:
    """Return components in one body of a direction fixed in another, in the reference pose."""
    R_of = geometry.designed_pose(of, entry.scope).R
    R_to = geometry.designed_pose(to, entry.scope).R
    return np.asarray(snap(R_to.T @ (R_of @ v)), dtype=float)


def _refuse_parallel(axis: Array, zero: Array, path: Key) -> None:
    if float(np.linalg.norm(np.cross(axis, zero))) < _PERPENDICULAR:
        raise ModelError(
            "this zero direction is parallel to the axis",
            path=path,
            remedy="choose a direction across the axis",
        )


def _limits(spec: JointSpec, entry: Entry, geometry: Geometry) -> tuple[Limit, ...]:
    if spec.limits is None:
        return ()
    path: Key = (*entry.path, "limits")
    kind = JOINT_KINDS[spec.type]
    coordinates = kind.coordinates[: kind.n_scalars]
    ranges: list[Any] = spec.limits if isinstance(spec.limits, list) else [spec.limits]
    if len(ranges) != len(coordinates):
        raise ModelError(
            f"{len(ranges)} range(s) for {len(coordinates)} coordinate(s)",
            path=path,
            remedy=f"give one [lower, upper] for each of {', '.join(coordinates)}",
        )
    limits = []
    mirrored = reversed_by_mirror(kind, spec) if entry.scope.reflection is not None else ()
    for i, pair in enumerate(ranges):
        here = (*path, i) if isinstance(spec.limits, list) else path
        lower, upper = (
            None if s is None else geometry.numbers.value(s, entry.scope, here)
            for s in (pair or (None, None))
        )
        limits.append(limit(lower, upper, here, reverse=i in mirrored))
    return tuple(limits)
