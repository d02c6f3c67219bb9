"""Rotation matrices, Euler parameters and roll-pitch-yaw angles (conventions: NOTATION.md).

All functions are batched: leading axes are carried through.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Reading = Literal["fixed", "moving"]


def skew(a: Array) -> Array:
    """Return the matrix of the cross product, skew(a) @ b = a × b, shape (..., 3, 3)."""
    a = np.asarray(a, dtype=float)
    m = np.zeros((*a.shape[:-1], 3, 3))
    m[..., 0, 1], m[..., 0, 2] = -a[..., 2], a[..., 1]
    m[..., 1, 0], m[..., 1, 2] = a[..., 2], -a[..., 0]
    m[..., 2, 0], m[..., 2, 1] = -a[..., 1], a[..., 0]
    return m


def axis_rotation(axis: int, angle: Array) -> Array:
    """Return the rotation by `angle` (rad) about a coordinate axis (0, 1, 2)."""
    angle = np.asarray(angle, dtype=float)
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    m = np.zeros((*angle.shape, 3, 3))
    m[..., axis, axis] = 1.0
    m[..., i, i], m[..., j, j] = c, c
    m[..., i, j], m[..., j, i] = -s, s
    return m


def matrix_from_quaternion(e: Array) -> Array:
    """Return the rotation matrix of Euler parameters (..., 4), normalising them first."""
    e = np.asarray(e, dtype=float)
    e = e / np.linalg.norm(e, axis=-1, keepdims=True)
    w, u = e[..., 0, None, None], e[..., 1:]
    outer = u[..., :, None] * u[..., None, :]
    return (2 * w * w - 1) * np.eye(3) + 2 * outer + 2 * w * skew(u)


def quaternion_from_matrix(R: Array) -> Array:
    """Return the Euler parameters (..., 4) with e0 >= 0 of rotation matrices (..., 3, 3).

    The largest of the four components is found first, so no pose loses digits.
    """
    R = np.asarray(R, dtype=float)
    t = np.einsum("...ii->...", R)
    diagonal = np.stack([t, R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]], axis=-1)
    squared = np.concatenate([1 + t[..., None], 1 - t[..., None] + 2 * diagonal[..., 1:]], axis=-1)
    vee = np.stack(
        [R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], -1
    )
    # Rows of 4 e eᵀ; the row of the largest component, normalised, is the quaternion.
    outer = np.zeros((*R.shape[:-2], 4, 4))
    outer[..., 1:, 1:] = R + np.swapaxes(R, -1, -2)
    outer[..., 0, 1:] = outer[..., 1:, 0] = vee
    for k in range(4):
        outer[..., k, k] = squared[..., k]
    best = np.argmax(squared, axis=-1)
    e = np.take_along_axis(outer, best[..., None, None], axis=-2)[..., 0, :]
    e = e / np.linalg.norm(e, axis=-1, keepdims=True)
    canonical: Array = np.where(e[..., :1] < 0, -e, e)
    return canonical


def matrix_from_rpy(rpy: Array, reading: Reading = "fixed") -> Array:
    """Return the rotation of roll, pitch, yaw (rad), turned about fixed or about moving x, y, z."""
    rpy = np.asarray(rpy, dtype=float)
    x, y, z = (axis_rotation(k, rpy[..., k]) for k in range(3))
    return z @ y @ x if reading == "fixed" else x @ y @ z


def rpy_from_matrix(R: Array, reading: Reading = "fixed") -> Array:
    """Return roll, pitch, yaw (rad) of rotation matrices; pitch in [-π/2, π/2].

    At pitch = ±π/2 only the sum or difference of roll and yaw is defined; yaw is then zero.
    """
    R = np.asarray(R, dtype=float)
    if reading == "moving":  # R = Rx Ry Rz is the transpose of the fixed reading of the negatives
        return -rpy_from_matrix(np.swapaxes(R, -1, -2), "fixed")
    cos_pitch = np.hypot(R[..., 0, 0], R[..., 1, 0])
    locked = cos_pitch < 1e-12
    pitch = np.arctan2(-R[..., 2, 0], cos_pitch)
    roll = np.where(
        locked,
        np.arctan2(-R[..., 1, 2], R[..., 1, 1]),
        np.arctan2(R[..., 2, 1], R[..., 2, 2]),
    )
    yaw = np.where(locked, 0.0, np.arctan2(R[..., 1, 0], R[..., 0, 0]))
    return np.stack([roll, pitch, yaw], axis=-1)


def frame_from_axes(first: Array, second: Array, which: tuple[int, int]) -> Array:
    """Return the right-handed frame whose axis which[0] is `first` exactly.

    Axis which[1] lies in the plane of `first` and `second`, on the side of `second`. The vectors
    need not be unit or perpendicular, but not parallel. Entries that rounding left within a few
    ulp of 0 or ±1 are set to it, so that an axis meant to be a coordinate axis is one.
    """
    i, j = which
    k = 3 - i - j
    a = np.asarray(first, dtype=float)
    a = a / np.linalg.norm(a)
    b = np.asarray(second, dtype=float)
    b = b / np.linalg.norm(b)
    b = b - a * (a @ b)
    b = b / np.linalg.norm(b)
    R = np.empty((3, 3))
    R[:, i], R[:, j] = a, b
    R[:, k] = np.cross(a, b) if (j - i) % 3 == 1 else np.cross(b, a)
    return snap(R)


def snap(a: Array) -> Array:
    """Return `a` with entries within a few ulp of -1, 0 or 1 set to that number."""
    nearest = np.rint(a)
    close = (np.abs(a - nearest) < 8 * np.finfo(float).eps) & (np.abs(nearest) <= 1)
    return np.where(close, nearest + 0.0, a)
