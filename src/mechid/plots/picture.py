"""A still picture of a mechanism: bodies, joints and force elements of one pose, on paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.joint_kinds import JOINT_KINDS
from mechid.mechanism.records import Mechanism
from mechid.plots.style import COLORS, INK, Plot, styled
from mechid.spatial.rotations import matrix_from_quaternion
from mechid.view.scene import scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FLAT = 1e-6  # of the size: what lies nearer to a plane is drawn in it
_TURN, _TILT = np.radians(-60.0), np.radians(20.0)  # of the view of a spatial mechanism
_ROUND = 24  # corners of a circle
_LABELS = 12  # more bodies than this are drawn without names
_COILS = 7
_WIDTH = 5.2  # inches


@styled
def picture(mechanism: Mechanism, motion: Motion | None = None) -> Plot:
    """Return a drawing of a mechanism in its assembled pose, or at the start of a motion."""
    drawn = scene(mechanism, None if motion is None else motion.part(slice(0, 1)))
    poses = np.array(drawn["motion"]["poses"][0])
    rotations = matrix_from_quaternion(poses[:, 3:])

    def place(body: int, local: Sequence[float]) -> Floats:
        return np.asarray(poses[body, :3] + rotations[body] @ np.array(local))

    corners = [
        np.array([place(i, p) for p in body["points"]]).reshape(-1, 3)
        for i, body in enumerate(drawn["bodies"])
    ]
    view = paper(np.concatenate(corners), np.array(drawn["up"]))
    flat = np.concatenate(corners) @ view.T
    wide, high = np.ptp(flat, axis=0) + 0.1 * drawn["size"]
    height = _WIDTH * float(np.clip(high / wide, 0.35, 1.0))
    figure = Plot(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_aspect("equal")
    axes.axis("off")
    axes.margins(0.06)
    for i, body in enumerate(drawn["bodies"]):
        color = INK if i == 0 else body["color"] or COLORS[(i - 1) % len(COLORS)]
        for shape in body["shape"] or ():
            cloud = np.array([place(i, p) for p in _cloud(shape)]) @ view.T
            axes.fill(*_outline(cloud).T, color=color, alpha=0.15, lw=0.8, ec=color)
        if i == 0:
            axes.plot(*(corners[0] @ view.T).T, "^", color=INK, ms=9, alpha=0.35, mew=0, zorder=1)
        else:
            _body(axes, corners[i] @ view.T, color)
            if len(drawn["bodies"]) <= _LABELS + 1 and len(corners[i]):
                _label(axes, np.mean(corners[i] @ view.T, axis=0), body["name"])
    for element in drawn["elements"]:
        ends = [place(element[f"body_{s}"], element[f"point_{s}"]) @ view.T for s in "ab"]
        _element(axes, element["kind"], *ends)
    for joint in drawn["joints"]:
        kind = JOINT_KINDS[joint["kind"]]
        sliding = bool(kind.slides) and not kind.has_orientation
        at = place(joint["body"], joint["point"]) @ view.T
        if joint["axis"] is not None:
            along = 0.04 * drawn["size"] * (view @ rotations[joint["body"]] @ joint["axis"])
            axes.plot(*np.transpose([at - along, at + along]), color=INK, lw=1.0, zorder=3)
        face = "white" if joint["axis"] is not None else INK
        axes.plot(*at, "s" if sliding else "o", color=INK, mfc=face, ms=5, mew=1.0, zorder=4)
    return figure


def paper(points: Floats, up: Floats) -> Floats:
    """Return two directions (2, 3), right and up on paper, to draw points (n, 3) in.

    Points of a plane are seen along its normal, others from a little above.
    """
    side = np.eye(3)[int(np.argmin(np.abs(up)))]
    right = side - up * (up @ side)
    right /= np.linalg.norm(right)
    back = np.cross(up, right)
    centered = points - points.mean(axis=0)
    _, s, Vt = np.linalg.svd(centered, full_matrices=True)
    if len(s) < 3 or s[2] < _FLAT * s[0]:
        normal = Vt[2] * np.sign(Vt[2][int(np.argmax(np.abs(Vt[2])))])
        vertical = up - normal * (up @ normal)
        if np.linalg.norm(vertical) < 0.1:  # a horizontal plane, seen from above
            vertical = np.eye(3)[1] - normal * normal[1]
        vertical /= np.linalg.norm(vertical)
        return np.array([np.cross(vertical, normal), vertical])
    across = np.cos(_TURN) * right + np.sin(_TURN) * back
    away = np.cross(up, across)
    return np.array([across, np.cos(_TILT) * up + np.sin(_TILT) * away])


def _body(axes: Axes, corners: Floats, color: str) -> None:
    style: dict[str, Any] = {"color": color, "solid_capstyle": "round", "zorder": 2}
    outline = _outline(corners)
    if len(outline) > 2:
        axes.fill(*outline.T, color=color, alpha=0.25, lw=0)
        axes.plot(*np.vstack([outline, outline[:1]]).T, lw=2.2, **style)
    else:
        axes.plot(*outline.T, lw=4.5, marker="o", ms=4.5, **style)


def _outline(points: Floats) -> Floats:
    """Return the corners of the convex hull in the plane, or the two ends of a line."""
    from scipy.spatial import ConvexHull, QhullError

    if len(points) < 3:
        return points
    centered = points - points.mean(axis=0)
    _, s, Vt = np.linalg.svd(centered, full_matrices=False)
    if s[1] > 1e-3 * s[0]:
        try:
            return np.asarray(points[ConvexHull(points).vertices])
        except QhullError:
            pass
    along = centered @ Vt[0]
    return points[[int(np.argmin(along)), int(np.argmax(along))]]


def _cloud(shape: dict[str, Any]) -> Floats:
    """Return points in the body frame whose outline is that of a shape."""
    match shape["kind"]:
        case "box":
            corners = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T
            return np.asarray(np.array(shape["center"]) + corners * np.array(shape["size"]))
        case "sphere":
            middle = np.array(shape["center"])
            return np.concatenate([_ring(middle, axis, shape["radius"]) for axis in np.eye(3)])
        case "wheel":
            middle, axis = np.array(shape["center"]), np.array(shape["axis"])
            half = 0.5 * shape["width"] * axis / np.linalg.norm(axis)
            ends = middle - half, middle + half
        case _:
            ends = np.array(shape["from"]), np.array(shape["to"])
            axis = ends[1] - ends[0]
    return np.concatenate([_ring(end, axis, shape["radius"]) for end in ends])


def _ring(center: Floats, axis: Floats, radius: float) -> Floats:
    _, _, Vt = np.linalg.svd(np.reshape(axis, (1, 3)), full_matrices=True)
    angle = np.linspace(0, 2 * np.pi, _ROUND, endpoint=False)
    return np.asarray(center + radius * np.column_stack([np.cos(angle), np.sin(angle)]) @ Vt[1:])


def _element(axes: Axes, kind: str, a: Floats, b: Floats) -> None:
    length = float(np.linalg.norm(b - a))
    if length == 0:
        axes.plot(*a, "*", color=INK, ms=8, alpha=0.6, zorder=5)
        return
    if kind.startswith("spring"):
        across = np.array([a[1] - b[1], b[0] - a[0]]) * 0.05
        steps = np.linspace(0.2, 0.8, 2 * _COILS)
        swing = np.where(np.arange(2 * _COILS) % 2, 1.0, -1.0)
        coils = a + np.outer(steps, b - a) + np.outer(swing, across)
        axes.plot(*np.vstack([a, coils, b]).T, color=INK, lw=1.0, alpha=0.7, zorder=3)
    else:
        axes.plot(*np.array([a, b]).T, ":", color=INK, lw=1.6, alpha=0.7, zorder=3)


def _label(axes: Axes, at: Floats, text: str) -> None:
    box = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.7}
    axes.annotate(text, (float(at[0]), float(at[1])), xytext=(0, 5), textcoords="offset points",
                  fontsize=7, ha="center", va="bottom", color=INK, bbox=box, zorder=6)  # fmt: skip
