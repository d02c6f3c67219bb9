"""The frame of a body: as given, from its Denavit-Hartenberg row, or from its first joint."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mechid.errors import ModelError
from mechid.mechanism.records import GROUND, IDENTITY, Mat3
from mechid.modelfile import algebra
from mechid.modelfile.dh import Links
from mechid.modelfile.geometry import Geometry
from mechid.modelfile.numbers import Numbers
from mechid.modelfile.places import Heading, Place
from mechid.modelfile.scope import Entry, Scope
from mechid.modelfile.spec_bodies import BodySpec
from mechid.modelfile.spec_geometry import (
    Axis,
    DirectionAlong,
    FrameSpec,
    PointIn,
    PointOn,
    RoundedMatrix,
    RoundedVector,
    TurnSpec,
)
from mechid.modelfile.spec_joints import JointSpec
from mechid.modelfile.transforms import SymbolicTransform, roll_pitch_yaw
from mechid.modelfile.vectors import EXACT_ZERO, Array, Exact, Pose, mat3
from mechid.spatial.rotations import frame_from_axes, snap
from mechid.textfile import expressions
from mechid.textfile.yamlio import Key

_PARALLEL = math.radians(1e-6)
RotationExpr = tuple[tuple[str, str, str], tuple[str, str, str], tuple[str, str, str]]


class Frames:
    """Makes the designed frame of a body; handed to `Geometry`, which keeps the result."""

    def __init__(self, links: Links) -> None:
        self._links = links

    def __call__(self, geometry: Geometry, entry: Entry) -> Pose:
        """Return the frame of a body, as designed in its own scope."""
        spec: BodySpec = entry.spec
        if entry.name in self._links.bodies:
            return self._links.pose(geometry, entry.name)
        path: Key = (*entry.path, "frame")
        frame = spec.frame or FrameSpec()
        origin: Any = frame.origin
        if frame.in_ is not None and (origin is None or isinstance(origin, tuple | RoundedVector)):
            origin = PointIn.model_construct(
                in_=frame.in_, at=(0, 0, 0) if origin is None else origin
            )
        if origin is not None:
            place = geometry.point(origin, entry.scope, (*path, "origin"))
        else:
            place = _default_origin(geometry, entry)
        hard = place.given.get(GROUND)
        axes, relative = self._axes(geometry, entry, frame, place)
        return Pose(hard or Exact.of(place.position), axes, place.name, relative)

    def _axes(
        self, geometry: Geometry, entry: Entry, frame: FrameSpec, origin: Place
    ) -> tuple[Array, tuple[str, SymbolicTransform] | None]:
        """Return the axes, and the exact transform from the body that the frame is given in."""
        path: Key = (*entry.path, "frame")
        R, expr = turned_by(geometry.numbers, frame, entry.scope, path)
        if not frame.axes:
            parent = entry.scope.find("bodies", frame.in_ or GROUND, (*path, "in"))
            if parent == GROUND:
                return np.array(R), None
            base = geometry.designed_pose(parent, entry.scope).R
            texts = expr or [[expressions.text_of(expressions.parse(x)) for x in row] for row in R]
            local = origin.given.get(parent)
            exact = None
            if local is not None and local.expr is not None:
                exact = (parent, SymbolicTransform([list(t) for t in texts], list(local.expr)))
            return np.asarray(snap(base @ np.array(R)), dtype=float), exact
        if frame.rotation is not None or frame.rpy is not None:
            raise ModelError(
                "axes and rotation exclude each other", path=path, remedy="remove one of them"
            )
        if len(frame.axes) != 2:
            raise ModelError(
                f"the frame has the axes {', '.join(frame.axes)}"
                if len(frame.axes) == 3
                else f"the frame has only the axis {frame.axes[0]}",
                path=path,
                remedy="give two of x, y, z (the first one is exact), or no axes",
            )
        first, second = (self._axis(geometry, frame, axis, entry).vector for axis in frame.axes)
        if float(np.linalg.norm(np.cross(first, second))) < _PARALLEL:
            raise ModelError(
                f"the axes {frame.axes[0]} and {frame.axes[1]} of the frame are parallel",
                path=path,
                remedy="choose two directions that differ",
            )
        i, j = ("xyz".index(axis) for axis in frame.axes)
        return np.asarray(frame_from_axes(first, second, (i, j)), dtype=float), None

    def _axis(self, geometry: Geometry, frame: FrameSpec, axis: Axis, entry: Entry) -> Heading:
        spec = getattr(frame, axis)
        if frame.in_ is not None and isinstance(spec, tuple):
            spec = DirectionAlong.model_construct(in_=frame.in_, along=spec)
        return geometry.direction(spec, entry.scope, (*entry.path, "frame", axis))


def turned_by(
    numbers: Numbers, frame: TurnSpec, scope: Scope, path: Key
) -> tuple[Mat3, RotationExpr | None]:
    """Return the rotation of a matrix, or of roll, pitch and yaw, or of neither."""
    if frame.rotation is not None and frame.rpy is not None:
        raise ModelError(
            "rotation and rpy exclude each other", path=path, remedy="remove one of them"
        )
    if frame.rpy is not None:
        turned = roll_pitch_yaw(numbers, frame.rpy, scope, (*path, "rpy")).frame(numbers)
        return turned.rotation, turned.rotation_expr
    if frame.rotation is None:
        return IDENTITY.rotation, None
    return rotation(numbers, frame.rotation, scope, (*path, "rotation"))


def rotation(
    numbers: Numbers, rows: Any, scope: Scope, path: Key
) -> tuple[Mat3, RotationExpr | None]:
    """Return a rotation matrix that is spelled out, and its expressions if it has any."""
    if isinstance(rows, RoundedMatrix):
        exact = [Exact(*pair) for pair in zip(rows.rounded, rows.expr, strict=True)]
    else:
        exact = [numbers.vector(row, scope, (*path, i)) for i, row in enumerate(rows)]
    R = np.array([row.value for row in exact])
    error = float(np.abs(R.T @ R - np.eye(3)).max())
    if error > 1e-9 or np.linalg.det(R) < 0:
        what = "left-handed" if error <= 1e-9 else f"not orthonormal, by {error:.1e}"
        raise ModelError(
            f"the matrix is not a rotation: it is {what}",
            path=path,
            remedy="its columns must be a right-handed set of unit vectors",
        )
    expr = None
    if isinstance(rows, RoundedMatrix) or any(isinstance(s, str) for row in rows for s in row):
        a, b, c = (row.expr for row in exact)
        if a and b and c:
            expr = (a, b, c)
    return mat3(R), expr


def signed(expr: RotationExpr | None, left: Array, right: Array) -> RotationExpr | None:
    """Return the expressions of A R B, if A and B only change signs."""
    diagonals = [np.diag(matrix) for matrix in (left, right)]
    plain = all(
        np.array_equal(matrix, np.diag(d)) and np.array_equal(np.abs(d), np.ones(3))
        for matrix, d in zip((left, right), diagonals, strict=True)
    )
    if expr is None or not plain:
        return None
    signs = np.outer(*diagonals)
    a, b, c = (
        tuple(t if s > 0 else algebra.negate(t) for t, s in zip(texts, row, strict=True))
        for texts, row in zip(expr, signs, strict=True)
    )
    return ((a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2]))


def _default_origin(geometry: Geometry, entry: Entry) -> Place:
    """Return the first point of the first joint of a body that is not given in the body itself."""
    for joint in geometry.model.entries["joints"].values():
        spec = joint.spec
        if not isinstance(spec, JointSpec) or spec.at is None:
            continue
        here: Key = (*joint.path, "between")
        if entry.name not in [joint.scope.find("bodies", name, here) for name in spec.between]:
            continue
        pair = isinstance(spec.at, tuple) and len(spec.at) == 2
        points = spec.at if pair else (spec.at,)
        for i, point in enumerate(points):
            at: Key = (*joint.path, "at", i) if pair else (*joint.path, "at")
            if not _given_in(geometry, point, joint.scope, entry.name, at):
                place = geometry.point(point, joint.scope, at)
                return place if joint.scope is entry.scope else _designed(place, joint, entry)
    return Place(np.zeros(3), {GROUND: EXACT_ZERO})


def _given_in(geometry: Geometry, spec: Any, scope: Scope, body: str, path: Key) -> bool:
    if isinstance(spec, str):
        entry = geometry.model.entries["points"][scope.find("points", spec, path)]
        return _given_in(geometry, entry.spec, entry.scope, body, entry.path)
    if isinstance(spec, PointIn):
        return scope.find("bodies", spec.in_, path) == body
    if isinstance(spec, PointOn):
        return body in [scope.find("bodies", name, path) for name in spec.on]
    return False


def _designed(place: Place, joint: Entry, entry: Entry) -> Place:
    """Return a point of another scope as the scope of the body sees it before reflection."""
    exact = place.given.get(GROUND) or Exact.of(place.position)
    for plane in (*joint.scope.planes, *reversed(entry.scope.planes)):
        exact = plane.of_exact(exact)
    return Place(exact.array, {GROUND: exact}, place.name)
