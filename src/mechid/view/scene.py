"""What the page draws, from the records of a mechanism and a solved motion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mechid.kinematics.frames import body_frames, frame_motion
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import GROUND, GROUND_BODY, Body, Joint, Mechanism, Point, Shape
from mechid.spatial.rotations import quaternion_from_matrix
from mechid.tables.names import find_point, points_of
from mechid.view.elements import drawn_elements, drawn_rods

SAMPLES = 600  # of the motion in the page: smooth to the eye, and a page of a few megabytes at most
_STEP = 0.02  # seconds between samples of a motion without times
_SAME = 1e-9  # of the size: points nearer to each other are drawn once


def scene(
    mechanism: Mechanism, motion: Motion | None = None, traces: Iterable[str | Point] = ()
) -> dict[str, Any]:
    """Return what `render_page` draws.

    Parameters
    ----------
    mechanism : Mechanism
    motion : Motion, optional
        A solved motion of this mechanism, thinned to 600 samples for the page. Without one, the
        page is a still picture of the assembled pose.
    traces : iterable of str or Point
        Points whose paths are drawn: `body.point` (see `mechid.tables.find_point`), or points.
    """
    model = kinematic_model(mechanism) if motion is None else motion.model
    index = {GROUND: 0} | {body.name: k for k, body in enumerate(mechanism.bodies, start=1)}
    points = [p if isinstance(p, Point) else find_point(mechanism, p) for p in traces]
    return {
        "title": mechanism.title or mechanism.name,
        "subtitle": _subtitle(model),
        "up": up_direction(mechanism),
        "size": model.size,
        "bodies": [_body(model, body) for body in (GROUND_BODY, *mechanism.bodies)],
        "joints": [_joint(model, joint, index) for joint in mechanism.joints if not joint.hidden],
        "elements": [*drawn_elements(mechanism, index), *drawn_rods(mechanism, index)],
        "motion": _motion(_still(model) if motion is None else motion),
        "traces": [
            {"name": f"{p.body}.{p.name}", "body": index[p.body], "point": list(p.local)}
            for p in points
        ],
    }


def up_direction(mechanism: Mechanism) -> list[float]:
    """Return the direction against gravity; without gravity y for a linkage in the xy plane, or z.

    A linkage lies in the xy plane if every axis it turns about is along z.
    """
    g = np.array(mechanism.gravity)
    if np.any(g):
        return [float(x) for x in -g / np.linalg.norm(g)]
    axes = [
        np.array(mechanism.body(joint.body_a).frame.rotation) @ np.array(joint.frame_a.rotation)
        for joint in mechanism.joints
        if joint.kind.n_turns == 1
    ]
    flat = bool(axes) and all(abs(R[2, 2]) > 1 - _SAME for R in axes)
    return [0.0, 1.0, 0.0] if flat else [0.0, 0.0, 1.0]


def _subtitle(model: KinematicModel) -> str:
    def count(n: int, one: str, many: str) -> str:
        return f"{n} {one if n == 1 else many}"

    m, passive = model.mechanism, len(model.passive)
    parts = [
        count(len(m.bodies), "body", "bodies"),
        count(len(m.joints), "joint", "joints"),
        count(model.n_independent + passive, "degree of freedom", "degrees of freedom")
        + (f" ({passive} passive)" if passive else ""),
    ]
    return " · ".join(parts)


def _still(model: KinematicModel) -> Motion:
    y, v = model.home_y[None], np.zeros((1, model.compiled.n_v))
    rest = np.zeros_like(y)
    return Motion(model, None, y, rest, rest, model.home_q[None], v, v, True)


def _motion(motion: Motion) -> dict[str, Any]:
    n = motion.y.shape[0]
    kept = np.unique(np.linspace(0, n - 1, min(n, SAMPLES)).round().astype(int))
    time = motion.time if motion.time is not None else _STEP * np.arange(n)
    q, v, vd = motion.q[kept], motion.v[kept], motion.vd[kept]
    frames = frame_motion(motion.model, q, v, vd, body_frames(motion.model))
    poses = np.concatenate([frames.position, quaternion_from_matrix(frames.rotation)], axis=2)
    ground = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    return {
        "time": time[kept].tolist(),
        "poses": [[ground, *pose] for pose in poses.tolist()],
        "coordinates": [
            {"name": c.name, "unit": c.unit, "values": motion.y[kept, i].tolist()}
            for i, c in enumerate(motion.model.mechanism.coordinates)
        ],
    }


def _body(model: KinematicModel, body: Body) -> dict[str, Any]:
    """Corners and shapes; of points in one place the first, which is the named one, is kept."""
    # Where a joint that holds nothing measures from, nothing stands on the ground.
    air = [
        Point(joint.name, GROUND, joint.frame_a.origin)
        for joint in model.mechanism.joints
        if joint.kind.holds_nothing and joint.body_a == body.name == GROUND
    ]
    kept: list[Point] = []
    for point in points_of(model.mechanism, body.name).values():
        if all(np.linalg.norm(_minus(point, p)) > _SAME * model.size for p in (*kept, *air)):
            kept.append(point)
    return {
        "name": body.name,
        "points": [list(point.local) for point in kept],
        "labels": [point.name for point in kept],
        "color": body.color,
        "shape": [_shape(shape) for shape in body.shapes] or None,
    }


def _minus(a: Point, b: Point) -> Floats:
    return np.subtract(a.local, b.local)


def _shape(shape: Shape) -> dict[str, Any]:
    points = [list(point) for point in shape.points]
    match shape.kind:
        case "wheel":
            radius, width = shape.sizes
            return {
                "kind": "wheel",
                "center": points[0],
                "axis": points[1],
                "radius": radius,
                "width": width,
            }
        case "box":
            return {"kind": "box", "center": points[0], "size": list(shape.sizes)}
        case "cylinder":
            ends = {"from": points[0], "to": points[1]}
            return {"kind": "cylinder", **ends, "radius": shape.sizes[0]}
        case "sphere":
            return {"kind": "sphere", "center": points[0], "radius": shape.sizes[0]}


def _joint(model: KinematicModel, joint: Joint, index: dict[str, int]) -> dict[str, Any]:
    kind = joint.kind
    return {
        "name": joint.name,
        "kind": joint.type,
        "bodies": [joint.body_a, joint.body_b],
        "body": index[joint.body_a],
        "point": _place(model, joint),
        "axis": _column(joint.frame_a.rotation, kind.axes[0][0]) if kind.axes[0] else None,
        "axis2": _column(joint.frame_b.rotation, kind.crossed[1]) if kind.crossed else None,
        "body2": index[joint.body_b],
        "glyph": [list(piece) for piece in kind.glyph],
        "icon": kind.icon,
    }


def _place(model: KinematicModel, joint: Joint) -> list[float]:
    """Where the sign of a joint is drawn, on body a.

    A slide whose two points are apart is drawn half way between them in the assembled pose: at its
    ends there are other joints.
    """
    half, axis = 0.0, _column(joint.frame_a.rotation, joint.kind.line or 0)
    if len(joint.kind.slides) == 1:
        k = joint.kind.units.index("m")
        half = float(joint_motion(_still(model), joint.name).coordinates[0, k]) / 2
    return [x + half * z for x, z in zip(joint.frame_a.origin, axis, strict=True)]


def _column(rotation: Sequence[Sequence[float]], k: int) -> list[float]:
    return [row[k] for row in rotation]
