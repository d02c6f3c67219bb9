"""Origins in URDF: a translation, then roll, pitch and yaw about fixed axes."""

from __future__ import annotations

import numpy as np

from mechid.importing.angles import Angles, value
from mechid.importing.poses import IDENTITY, Pose
from mechid.importing.xml import Node
from mechid.spatial.rotations import matrix_from_rpy, snap


def origin(node: Node, angles: Angles, tag: str = "origin") -> Pose:
    """Return the pose that a child of an element states; identity if it has none."""
    child = node.first(tag)
    return IDENTITY if child is None else pose(child, angles)


def pose(node: Node, angles: Angles) -> Pose:
    """Return the pose of the attributes xyz and rpy."""
    xyz = node.numbers("xyz", 3, (0.0, 0.0, 0.0))
    rpy = tuple(angles.read(x) for x in node.numbers("rpy", 3, (0.0, 0.0, 0.0)))
    R = snap(matrix_from_rpy(np.array([value(x) for x in rpy])))
    return Pose(np.array(xyz), np.asarray(R), rpy)
