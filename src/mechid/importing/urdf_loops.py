"""Loops in URDF, as two proposals write them.

`<constraint>` is that of ros/urdfdom pull request 264: like a joint, but with an origin and an axis
in both links. `<loop_joint>` is what Drake had and Isaac Sim has: two links, each with a pose.
"""

from __future__ import annotations

import numpy as np

from mechid.importing.angles import Angles
from mechid.importing.poses import Pose, unit
from mechid.importing.robot import LoopJoint
from mechid.importing.urdf_links import origin, pose
from mechid.importing.xml import Node
from mechid.spatial.rotations import Array
from mechid.textfile.words import hint

LOOP_TAGS = ("constraint", "loop_joint")
LOOP_KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "cylindrical": "cylindrical",
    "planar": "planar",
    "universal": "universal",
    "spherical": "spherical",
    "ball": "spherical",
    "fixed": "fixed",
    "weld": "fixed",
    "point_on_line": "point_on_line",
    "point_on_plane": "point_on_plane",
}
WITH_AXIS = tuple(kind for kind in LOOP_KINDS.values() if kind not in ("spherical", "fixed"))


def loop_joint(node: Node, links: dict[str, Node], angles: Angles) -> LoopJoint:
    """Return a joint that closes a loop."""
    name = node.needed("name")
    kind = LOOP_KINDS[node.choice("type", tuple(LOOP_KINDS), "")]
    sides = [_side(node, which, links, angles) for which in (0, 1)]
    axes = None
    if kind in WITH_AXIS:
        axes = (_axis(node, 0, sides), _axis(node, 1, sides))
    (a, pose_a), (b, pose_b) = sides
    return LoopJoint(name, kind, (a, b), (pose_a, pose_b), axes, node.place)


def _side(node: Node, which: int, links: dict[str, Node], angles: Angles) -> tuple[str, Pose]:
    role = ("parent", "child")[which]
    named = list(node.all("link1", "link2"))
    if named:  # Isaac's page writes link1 twice
        if len(named) != 2:
            raise node.error(f"<{node.tag}> must have two links, got {len(named)}")
        link, at = named[which], pose(named[which], angles)
    else:
        found = node.first(role)
        if found is None:
            raise node.error(f"<{node.tag}> {node.needed('name')} has no <{role}>", "give it one")
        link, at = found, origin(node, angles, f"{role}_origin")
    name = link.needed("link")
    if name not in links:
        raise link.error(f"there is no link {name}", hint(name, links))
    return name, at


def _axis(node: Node, which: int, sides: list[tuple[str, Pose]]) -> Array:
    """Return the axis in the frame of a link; it is written in the frame of the origin."""
    role = ("parent", "child")[which]
    own = node.first(f"{role}_axis") or node.first("axis")
    axis = unit((1.0, 0.0, 0.0) if own is None else own.numbers("xyz", 3, (1, 0, 0)))
    if axis is None:
        raise node.error(f"the axis of {node.needed('name')} is zero", "give a direction")
    return np.asarray(sides[which][1].direction(axis))
