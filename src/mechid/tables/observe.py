"""What a solved motion gives, as named columns: coordinates, points, bodies, joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from mechid.kinematics.compile import STILL, Rigid
from mechid.kinematics.frames import FrameMotion, frame_motion
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import Motion, checked_motion
from mechid.mechanism.records import Joint
from mechid.spatial.rotations import quaternion_from_matrix, rpy_from_matrix
from mechid.tables.files import Floats
from mechid.tables.names import find_point, known_name

Columns: TypeAlias = dict[str, Floats]
Orientation: TypeAlias = Literal["quaternion", "fixed", "moving"]


def point_motion(motion: Motion, name: str) -> FrameMotion:
    """Return the motion of a point named as for `find_point`, shapes (N, 3), ground axes.

    Rotation and angular rates are those of the body that carries the point.

    Parameters
    ----------
    motion : Motion
    name : str
        `body.point`, `body.joint`, or `body` for the origin of its frame.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> motion = mechid.solve_motion(mechid.load("pendulum"), [[0.0]], [[2.0]])
    >>> tip = mechid.point_motion(motion, "bob.tip")
    >>> np.allclose(np.linalg.norm(tip.velocity), 0.5 * 2.0)  # m/s
    True
    """
    motion = checked_motion(motion)
    frames = _frames_of(motion, [name])
    return FrameMotion(*(getattr(frames, field)[:, 0] for field in FrameMotion.__annotations__))


def coordinate_columns(motion: Motion) -> Columns:
    """Return the independent coordinates `y`, speeds `y.d` and accelerations `y.dd`, by name."""
    columns: Columns = {}
    for i, coordinate in enumerate(motion.model.mechanism.coordinates):
        columns[coordinate.name] = motion.y[:, i]
        columns[f"{coordinate.name}.d"] = motion.yd[:, i]
        columns[f"{coordinate.name}.dd"] = motion.ydd[:, i]
    return columns


def point_columns(motion: Motion, names: Sequence[str]) -> Columns:
    """Return position, velocity and acceleration of points: `body.point.x`, `.vx`, `.ax`, …"""
    frames = _frames_of(motion, names)
    columns: Columns = {}
    for k, name in enumerate(names):
        for letter, values in (
            ("", frames.position),
            ("v", frames.velocity),
            ("a", frames.acceleration),
        ):
            columns |= _vector(f"{name}.{letter}", values[:, k])
    return columns


def body_columns(
    motion: Motion, names: Sequence[str], orientation: Orientation = "quaternion"
) -> Columns:
    """Return the motion of body frames: position and orientation, their rates and accelerations.

    Parameters
    ----------
    motion : Motion
    names : sequence of str
    orientation : {"quaternion", "fixed", "moving"}
        `qw`, `qx`, `qy`, `qz`, or roll, pitch, yaw about fixed or about moving axes (NOTATION.md).
        Signs and turns are continuous along an ordered motion.
    """
    known = [body.name for body in motion.model.mechanism.bodies]
    for name in names:
        known_name(name, known, f"there is no moving body {name}")
    frames = frame_motion(
        motion.model, motion.q, motion.v, motion.vd, [(name, STILL) for name in names]
    )
    columns: Columns = {}
    for k, name in enumerate(names):
        columns |= _vector(f"{name}.", frames.position[:, k])
        columns |= _orientation(name, frames.rotation[:, k], orientation, motion.ordered)
        columns |= _vector(f"{name}.v", frames.velocity[:, k])
        columns |= _vector(f"{name}.omega_", frames.omega[:, k])
        columns |= _vector(f"{name}.a", frames.acceleration[:, k])
        columns |= _vector(f"{name}.alpha_", frames.alpha[:, k])
    return columns


def joint_columns(motion: Motion, names: Sequence[str]) -> Columns:
    """Return the coordinates of joints, `joint.angle`, with their rates `.d` and `.dd`.

    The rates of an orientation are the angular velocity `omega_x`, … and acceleration `alpha_x`, …
    of b relative to a, in the axes of a's joint frame.
    """
    known = [joint.name for joint in motion.model.mechanism.joints]
    columns: Columns = {}
    for name in names:
        known_name(name, known, f"there is no joint {name}")
        columns |= _joint(motion, motion.model.mechanism.joint(name))
    return columns


def _joint(motion: Motion, joint: Joint) -> Columns:
    moved = joint_motion(motion, joint.name)
    columns = {
        f"{joint.name}.{coordinate}": moved.coordinates[:, k]
        for k, coordinate in enumerate(joint.kind.coordinates)
    }
    plain = joint.kind.n_scalars
    for k, coordinate in enumerate(joint.kind.coordinates[:plain]):
        columns[f"{joint.name}.{coordinate}.d"] = moved.speeds[:, k]
        columns[f"{joint.name}.{coordinate}.dd"] = moved.accelerations[:, k]
    if joint.kind.has_orientation:
        columns |= _vector(f"{joint.name}.omega_", moved.speeds[:, plain:])
        columns |= _vector(f"{joint.name}.alpha_", moved.accelerations[:, plain:])
    return columns


def _frames_of(motion: Motion, names: Sequence[str]) -> FrameMotion:
    points = [find_point(motion.model.mechanism, name) for name in names]
    frames = [(p.body, Rigid(np.eye(3), np.array(p.local))) for p in points]
    return frame_motion(motion.model, motion.q, motion.v, motion.vd, frames)


def _vector(stem: str, values: Floats) -> Columns:
    return {f"{stem}{axis}": values[:, k] for k, axis in enumerate("xyz")}


def _orientation(name: str, R: Floats, orientation: Orientation, ordered: bool) -> Columns:
    if orientation == "quaternion":
        e = quaternion_from_matrix(R)
        if ordered and len(e) > 1:
            flips = np.where(np.einsum("ni,ni->n", e[1:], e[:-1]) < 0, -1.0, 1.0)
            e[1:] *= np.cumprod(flips)[:, None]
        return {f"{name}.q{axis}": e[:, k] for k, axis in enumerate("wxyz")}
    rpy = rpy_from_matrix(R, orientation)
    if ordered:
        rpy[:, [0, 2]] = np.unwrap(rpy[:, [0, 2]], axis=0)
    return {f"{name}.{angle}": rpy[:, k] for k, angle in enumerate(("roll", "pitch", "yaw"))}
