"""The table of joints (conventions page), written out once more: pose of frame b in frame a."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mechid.mechanism.records import Joint
from mechid.spatial.rotations import quaternion_from_matrix

Array = npt.NDArray[np.float64]


def about(axis: int, angle: Array) -> Array:
    """Rotation matrices about a coordinate axis, (N, 3, 3)."""
    R = np.zeros((len(angle), 3, 3))
    j, k = ((1, 2), (2, 0), (0, 1))[axis]
    R[:, axis, axis] = 1
    R[:, j, j] = R[:, k, k] = np.cos(angle)
    R[:, k, j] = np.sin(angle)
    R[:, j, k] = -np.sin(angle)
    return R


def from_quaternion(e: Array) -> Array:
    """Rotation matrices of unit quaternions (N, 4), by Rodrigues' formula."""
    w, x, y, z = e.T
    zero = np.zeros_like(w)
    K = np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)
    return np.asarray(np.eye(3) + 2 * w[:, None, None] * K + 2 * K @ K)


def joint_pose(joint: Joint, c: Array) -> tuple[Array, Array]:
    """Rotations (N, 3, 3) and translations (N, 3) for coordinates (N, n) of a joint."""
    n = len(c)
    R, t = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3))
    match joint.type:
        case "revolute":
            R = about(2, c[:, 0])
        case "prismatic":
            t[:, 2] = c[:, 0]
        case "helical":
            R = about(2, c[:, 0])
            t[:, 2] = c[:, 0] * joint.pitch / (2 * np.pi)
        case "cylindrical":
            R = about(2, c[:, 0])
            t[:, 2] = c[:, 1]
        case "universal":
            R = about(2, c[:, 0]) @ about(0, c[:, 1])
        case "spherical":
            R = from_quaternion(c)
        case "planar":
            R = about(2, c[:, 2])
            t[:, :2] = c[:, :2]
        case "free":
            R = from_quaternion(c[:, 3:])
            t = c[:, :3]
        case "point_on_line":
            R = from_quaternion(c[:, 1:])
            t[:, 2] = c[:, 0]
        case "point_on_plane":
            R = from_quaternion(c[:, 2:])
            t[:, :2] = c[:, :2]
        case "fixed":
            pass
        case _:
            raise AssertionError(f"the pose of a {joint.type} joint is not written out here")
    return R, t


def with_quaternion(joint: Joint, c: Array) -> Array:
    """Coordinates (N, n) from those with an orientation as roll, pitch, yaw (fixed axes)."""
    if not joint.kind.has_orientation:
        return c
    roll, pitch, yaw = c[:, -3:].T
    R = about(2, yaw) @ about(1, pitch) @ about(0, roll)
    return np.concatenate([c[:, :-3], quaternion_from_matrix(R)], axis=1)
