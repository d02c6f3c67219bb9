"""A spanning tree of the joint graph, found here, and the coordinates that other engines need.

The tree grows from the ground along the joints from body a to body b, in the order of the file: not
the tree of the package, whose coordinates are not read here either. What is read are the
coordinates and speeds of joints as NOTATION.md defines them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechid.kinematics.joints import JointMotion, joint_motion
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import GROUND, Frame, Joint, Mechanism

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Arborescence:
    """Joints that carry a body each, parents first, and the joints left over."""

    carrying: tuple[Joint, ...]
    closing: tuple[Joint, ...]


def arborescence(mechanism: Mechanism) -> Arborescence:
    reached, carrying = {GROUND}, []
    while True:
        found = next(
            (j for j in mechanism.joints if j.body_a in reached and j.body_b not in reached), None
        )
        if found is None:
            break
        reached.add(found.body_b)
        carrying.append(found)
    assert len(reached) == len(mechanism.bodies) + 1
    names = {j.name for j in carrying}
    return Arborescence(tuple(carrying), tuple(j for j in mechanism.joints if j.name not in names))


def coordinates(motion: Motion, tree: Arborescence) -> dict[str, JointMotion]:
    return {j.name: joint_motion(motion, j.name) for j in (*tree.carrying, *tree.closing)}


def rotation(frame: Frame) -> Array:
    return np.array(frame.rotation)


def origin(frame: Frame) -> Array:
    return np.array(frame.origin)


def matrix(e: Array) -> Array:
    """Rotation matrix of one unit quaternion, scalar first."""
    w, x, y, z = e
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )
