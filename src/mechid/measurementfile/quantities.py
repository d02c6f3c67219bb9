"""Measured quantities by name, as records.

An independent coordinate by its name; a joint with one coordinate, or `joint.coordinate`;
`body.point.x` (or y, z) for a point along an axis of the ground; `body.point-body.point` for a
distance.
"""

from __future__ import annotations

from mechid.errors import DataError
from mechid.mechanism.records import (
    DistanceCoordinate,
    IndependentCoordinate,
    JointCoordinate,
    Mechanism,
    PointCoordinate,
)
from mechid.tables.names import find_point
from mechid.textfile.words import hint

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def find_quantity(mechanism: Mechanism, name: str) -> IndependentCoordinate:
    """Return what a name stands for.

    Raises
    ------
    DataError
        If it is nothing of this mechanism.
    """
    for coordinate in mechanism.coordinates:
        if coordinate.name == name:
            return coordinate
    joints = {joint.name: joint for joint in mechanism.joints}
    stem, _, label = name.partition(".")
    if stem in joints:
        joint = joints[stem]
        # An orientation is a quaternion, which no single channel measures.
        known = joint.kind.coordinates[: joint.kind.n_scalars]
        if label in known or (not label and len(known) == 1):
            k = known.index(label) if label else 0
            return JointCoordinate(name, stem, k, "", joint.kind.units[k])
    point, _, axis = name.rpartition(".")
    if point and axis in _AXES:
        return PointCoordinate(name, find_point(mechanism, point), _AXES[axis], "")
    parts = name.split("-")
    for k in range(1, len(parts)):  # a name may have a dash itself
        a, b = "-".join(parts[:k]).strip(), "-".join(parts[k:]).strip()
        try:
            return DistanceCoordinate(name, find_point(mechanism, a), find_point(mechanism, b), "")
        except DataError:
            if k == len(parts) - 1:
                raise
    raise DataError(
        f"{name} is not a quantity of this mechanism",
        remedy=hint(name, [*(c.name for c in mechanism.coordinates), *joints])
        + "; or write body.point.x, or body.point-body.point for a distance",
    )
