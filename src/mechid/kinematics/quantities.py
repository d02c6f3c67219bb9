"""Quantities of a moving mechanism: any joint coordinate, point coordinate or distance.

They are written with the records of independent coordinates, whether they are independent or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mechid.kinematics.compile import Rigid
from mechid.kinematics.frames import FrameMotion, frame_motion
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import Motion, rates
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import (
    DistanceCoordinate,
    IndependentCoordinate,
    JointCoordinate,
    Mechanism,
    Point,
    PointCoordinate,
)


def independent_index(mechanism: Mechanism, quantity: IndependentCoordinate) -> int | None:
    """Return which independent coordinate a quantity is, whatever it is called, or None."""
    plain = replace(quantity, name="", force="")
    for i, coordinate in enumerate(mechanism.coordinates):
        if replace(coordinate, name="", force="") == plain:
            return i
    return None


def quantity_motion(
    motion: Motion, quantity: IndependentCoordinate
) -> tuple[Floats, Floats, Floats]:
    """Return a quantity, its rate and its acceleration along a motion, (N,) each."""
    match quantity:
        case JointCoordinate():
            k = quantity.index
            moved = joint_motion(motion, quantity.joint)
            return moved.coordinates[:, k], moved.speeds[:, k], moved.accelerations[:, k]
        case PointCoordinate():
            f = _points(motion, [quantity.point])
            d = np.array(quantity.direction)
            return f.position[:, 0] @ d, f.velocity[:, 0] @ d, f.acceleration[:, 0] @ d
        case DistanceCoordinate():
            f = _points(motion, [quantity.point_a, quantity.point_b])
            s, v, a = (x[:, 1] - x[:, 0] for x in (f.position, f.velocity, f.acceleration))
            length = np.linalg.norm(s, axis=-1)
            # Where the points meet, the distance has no direction to change in.
            over = np.where(length > 0, length, np.inf)
            rate = _dot(s, v) / over
            return length, rate, (_dot(v, v) + _dot(s, a) - rate**2) / over


def quantity_partials(motion: Motion, quantities: Sequence[IndependentCoordinate]) -> Floats:
    """Return ∂s/∂y (N, m, n_i): the rates of m quantities when one coordinate has unit speed."""
    R = rates(motion).R
    n, n_i = motion.y.shape
    out = np.empty((n, len(quantities), n_i))
    for j in range(n_i):
        moved = replace(motion, v=np.ascontiguousarray(R[:, :, j]), vd=np.zeros_like(motion.v))
        for k, quantity in enumerate(quantities):
            out[:, k, j] = quantity_motion(moved, quantity)[1]
    return out


def _points(motion: Motion, points: list[Point]) -> FrameMotion:
    places = [(p.body, Rigid(np.eye(3), np.array(p.local))) for p in points]
    return frame_motion(motion.model, motion.q, motion.v, motion.vd, places)


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("ni,ni->n", a, b))
