"""Loops that are meant to be planar, and whose axes are not quite parallel: rounded CAD numbers.

Such a loop can move in the plane if its axes are parallel, and not at all if they are not; in
between, arithmetic decides. Axes are compared in the bodies that carry them, whose geometry is
exact, not in the reference pose, which may be approximate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mechid.errors import ModelError
from mechid.mechanism.records import GROUND, Frame, Joint, Mechanism

_Floats = npt.NDArray[np.float64]
# rad. What rounding of the arithmetic leaves, and what no designer means.
_EXACT, _MEANT = 5e-14, 1e-3
_MOST = 6  # joints of a loop: with more, it moves also if axes are not parallel


@dataclass(frozen=True)
class Tilt:
    """A joint whose axis is off the normal of a planar loop, by an angle (rad)."""

    joint: str
    angle: float
    loop: tuple[str, ...]


def refuse_tilted_axes(mechanism: Mechanism) -> None:
    """Reject a planar loop whose axes are not quite parallel.

    Raises
    ------
    ModelError
        With the joints, and the angle of the worst.
    """
    for tilts in _tilted_loops(mechanism):
        worst = max(tilts, key=lambda tilt: tilt.angle)
        raise ModelError(
            f"the axes of the planar loop {', '.join(worst.loop)} are not parallel: that of "
            f"{worst.joint} is off by {worst.angle:.2g} rad",
            path=("joints", worst.joint),
            remedy="give them the same direction, or write an aligned model: "
            "mechid check MODEL --align -o FILE",
        )


def aligned(mechanism: Mechanism) -> tuple[Mechanism, tuple[Tilt, ...]]:
    """Return a mechanism whose planar loops have parallel axes, and what was turned by how much.

    Examples
    --------
    >>> import mechid
    >>> from mechid.mechanism.planar import aligned
    >>> aligned(mechid.load("four_bar"))[1]
    ()
    """
    loops = list(_tilted_loops(mechanism))
    tilts = tuple(max(loop, key=lambda tilt: tilt.angle) for loop in loops)
    joints = {joint.name: joint for joint in mechanism.joints}
    for loop in loops:
        members = [joints[name] for name in loop[0].loop]
        normals = _normals(mechanism, members)
        for joint in members:
            joints[joint.name] = _in_plane(joint, normals)
    changed = tuple(joints[joint.name] for joint in mechanism.joints)
    return replace(mechanism, joints=changed), tilts


def _normals(mechanism: Mechanism, loop: list[Joint]) -> dict[str, _Floats]:
    """Return the normal of a loop in each of its bodies: the axis there that most others have.

    One axis that is wrong does not turn the others.
    """
    pose = {body.name: np.array(body.frame.rotation) for body in mechanism.bodies}
    pose[GROUND] = np.eye(3)
    axes = [
        (body, _axis(_frame(joint, body)))
        for joint in loop
        if joint.kind.hinge
        for body in (joint.body_a, joint.body_b)
    ]
    first = pose[axes[0][0]] @ axes[0][1]
    there = [(pose[body] @ z) * np.sign((pose[body] @ z) @ first) for body, z in axes]
    common = np.median(there, axis=0)
    common /= np.linalg.norm(common)
    normals = {}
    for body in {b for joint in loop for b in (joint.body_a, joint.body_b)}:
        wanted = pose[body].T @ common
        own = [z * np.sign(z @ wanted) for name, z in axes if name == body] or [wanted]
        normals[body] = min(own, key=lambda z: float(np.linalg.norm(z - wanted)))
    return normals


def _in_plane(joint: Joint, normals: dict[str, _Floats]) -> Joint:
    """Return a hinge about the normals of its bodies, or a guide across them."""
    frames = []
    for frame, normal in (
        (joint.frame_a, normals[joint.body_a]),
        (joint.frame_b, normals[joint.body_b]),
    ):
        if joint.kind.hinge:
            z = _axis(frame)
            turn = _shortest_turn(z, normal if z @ normal > 0 else -normal)
        else:
            s = np.array(frame.rotation)[:, joint.kind.slides[0]]
            across = s - (s @ normal) * normal
            turn = _shortest_turn(s, across / np.linalg.norm(across))
        frames.append(_rotated(frame, turn))
    moved = replace(joint, frame_a=frames[0], frame_b=frames[1])
    if joint.kind.hinge:
        return moved
    turn = _shortest_turn(
        _carried(moved, joint.body_a, normals[joint.body_a]), normals[joint.body_b]
    )
    return replace(moved, frame_b=_rotated(moved.frame_b, turn))


def _tilted_loops(mechanism: Mechanism) -> Iterator[list[Tilt]]:
    """Yield the axes of each planar loop that is not exact."""
    flat = [joint for joint in mechanism.joints if joint.kind.hinge or joint.kind.guide]
    chain, cut = _tree(flat)
    above = {_other(joint, here): (joint, here) for joint, here in chain}
    for joint in cut:
        loop = _loop(joint, above)
        names = tuple(j.name for j, _ in loop)
        tilts = [Tilt(j.name, angle, names) for j, angle in _angles(loop)]
        if len(loop) <= _MOST and tilts and _EXACT < max(tilt.angle for tilt in tilts) < _MEANT:
            yield tilts


def _angles(loop: list[tuple[Joint, str]]) -> Iterator[tuple[Joint, float]]:
    """Yield how far each joint of a loop is off the plane of the one before it."""
    hinges = [k for k, (joint, _) in enumerate(loop) if joint.kind.hinge]
    if len(hinges) < 2:
        return
    order = [*loop[hinges[0] :], *loop[: hinges[0]]]
    first, here = order[0]
    normal = _axis(_frame(first, _other(first, here)))
    for joint, body in [*order[1:], order[0]]:
        frame = _frame(joint, body)
        if joint.kind.hinge:
            yield joint, float(np.linalg.norm(np.cross(normal, _axis(frame))))
            normal = _axis(_frame(joint, _other(joint, body)))
        else:
            yield joint, abs(float(normal @ np.array(frame.rotation)[:, joint.kind.slides[0]]))
            normal = _carried(joint, body, normal)


def _tree(joints: Iterable[Joint]) -> tuple[list[tuple[Joint, str]], list[Joint]]:
    """Return joints that span their bodies, each with the body it is reached from, and the rest."""
    left = list(joints)
    chain: list[tuple[Joint, str]] = []
    cut: list[Joint] = []
    while left:
        bodies = [left[0].body_a]
        for here in bodies:  # which grows, in order of distance: loops are as short as can be
            for joint in [j for j in left if here in (j.body_a, j.body_b)]:
                left.remove(joint)
                if _other(joint, here) in bodies:
                    cut.append(joint)
                else:
                    chain.append((joint, here))
                    bodies.append(_other(joint, here))
    return chain, cut


def _loop(joint: Joint, above: dict[str, tuple[Joint, str]]) -> list[tuple[Joint, str]]:
    """Return the joints of a loop in order, each with the body from which it is passed."""
    ways = []
    for body in (joint.body_a, joint.body_b):
        way = [body]
        while way[-1] in above:
            way.append(above[way[-1]][1])
        ways.append(way)
    down, up = ways
    meet = next(body for body in down if body in up)
    first = [(above[b][0], above[b][1]) for b in reversed(down[: down.index(meet)])]
    last = [(above[b][0], b) for b in up[: up.index(meet)]]
    return [*first, (joint, joint.body_a), *last]


def _other(joint: Joint, body: str) -> str:
    return joint.body_b if body == joint.body_a else joint.body_a


def _frame(joint: Joint, body: str) -> Frame:
    return joint.frame_a if body == joint.body_a else joint.frame_b


def _axis(frame: Frame) -> _Floats:
    return np.array(frame.rotation)[:, 2]


def _carried(joint: Joint, here: str, normal: _Floats) -> _Floats:
    """Return a direction of one body in the other one of a joint that does not turn."""
    one, other = (np.array(_frame(joint, b).rotation) for b in (here, _other(joint, here)))
    return np.asarray(other @ one.T @ normal)


def _shortest_turn(a: _Floats, b: _Floats) -> _Floats:
    """Return the rotation by the smallest angle that takes one direction to another."""
    v = np.cross(a, b)
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.asarray(np.eye(3) + K + K @ K / (1 + a @ b))


def _rotated(frame: Frame, turn: _Floats) -> Frame:
    if np.array_equal(turn, np.eye(3)):
        return frame
    rows = np.asarray(turn @ np.array(frame.rotation)).tolist()
    x, y, z = ((row[0], row[1], row[2]) for row in rows)
    return replace(frame, rotation=(x, y, z), rotation_expr=None)
