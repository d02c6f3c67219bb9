"""Poses of links in their parents, composed without gathering rounding where numbers are plain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from mechid.spatial.rotations import Array, axis_rotation, frame_from_axes, skew, snap

Vec: TypeAlias = tuple[float, float, float]
ZERO: Vec = (0.0, 0.0, 0.0)
_DIGITS = 15  # decimals of metres that are kept where poses are composed


@dataclass(frozen=True, eq=False)
class Pose:
    """Origin and rotation of a frame in another; `rpy` as written, where it is known exactly."""

    p: Array
    R: Array
    rpy: tuple[float | str, ...] | None = None

    def __matmul__(self, other: Pose) -> Pose:
        """Return the pose of a frame that is given in this one."""
        straight = bool(np.array_equal(self.R, np.eye(3)))
        p = tidy(self.p + self.R @ other.p)
        if straight:
            return Pose(p, other.R, other.rpy)
        if np.array_equal(other.R, np.eye(3)):
            return Pose(p, self.R, self.rpy)
        return Pose(p, np.asarray(snap(self.R @ other.R)))

    def inverse(self) -> Pose:
        """Return the pose of the other frame in this one."""
        return Pose(tidy(-self.R.T @ self.p), self.R.T)

    def point(self, p: Array | Vec) -> Array:
        """Return a point of this frame in the other."""
        return tidy(self.p + self.R @ np.asarray(p, dtype=float))

    def direction(self, d: Array | Vec) -> Array:
        """Return a direction of this frame in the other."""
        return np.asarray(snap(self.R @ np.asarray(d, dtype=float)))


def tidy(x: Array) -> Array:
    """Return lengths without the digits that only rounding has filled."""
    return np.round(x, _DIGITS) + 0.0


IDENTITY = Pose(np.zeros(3), np.eye(3), (0.0, 0.0, 0.0))


def unit(vector: tuple[float, ...] | Array) -> Array | None:
    """Return the direction of a vector; None if it has no length."""
    v = np.asarray(vector, dtype=float)
    size = float(np.abs(v).max())
    if size == 0:
        return None
    v = v / size
    return np.asarray(snap(v / np.linalg.norm(v)))


def about(axis: Array, angle: float) -> Array:
    """Return the rotation about any axis."""
    K = skew(axis)
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K))


def normal_to(axis: Array) -> Array:
    """Return a direction across an axis: x, or what is left of it; y if the axis is along x."""
    helper = np.eye(3)[1 if abs(axis[0]) > 0.9 else 0]
    return np.asarray(frame_from_axes(axis, helper, (2, 0))[:, 0])


def euler(angles: tuple[float, ...], sequence: str) -> Array:
    """Return the rotation of three angles (rad): about moving axes xyz, or fixed axes XYZ."""
    R = np.eye(3)
    for axis, angle in zip(sequence, angles, strict=True):
        turn = axis_rotation("xyz".index(axis.lower()), np.array(angle))
        R = R @ turn if axis.islower() else turn @ R
    return np.asarray(snap(R))
