"""A mechanism as a tree of links for engines with joint coordinates, closed by welds of halves.

mechid cuts joints. Here bodies are cut instead: the body at the end of a joint that closes a loop
becomes two links that share its inertia and are welded to each other. So every joint of the
mechanism is a joint of the engine, and its coordinates are coordinates of the engine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechid.kinematics.compile import Rigid
from mechid.mechanism.records import GROUND, Joint, Mechanism

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Link:
    """A body, or a part of it, hung by a joint on another link; `share` is its part of the inertia.

    `start` is the joint frame in the parent, `end` in this link. Along a joint from b to a the
    steps come in reverse order, and coordinates count backwards.
    """

    name: str
    body: str
    parent: str
    joint: Joint
    reverse: bool
    share: float

    @property
    def start(self) -> Rigid:
        return Rigid.of(self.joint.frame_b if self.reverse else self.joint.frame_a)

    @property
    def end(self) -> Rigid:
        return Rigid.of(self.joint.frame_a if self.reverse else self.joint.frame_b)

    @property
    def sign(self) -> float:
        return -1.0 if self.reverse else 1.0

    @property
    def steps(self) -> list[tuple[str, int, int]]:
        """Motion, axis and number of the (first) coordinate, from `start` to `end`."""
        found = [(s.motion, s.axis, i) for i, s in self.joint.kind.numbered]
        return found[::-1] if self.reverse else found


def links(mechanism: Mechanism) -> list[Link]:
    """Return the links, parents first: the first joint that reaches a body carries it."""
    reached, carrying, left = {GROUND}, [], list(mechanism.joints)
    while ready := [j for j in left if (j.body_a in reached) != (j.body_b in reached)]:
        joint = ready[0]
        reverse = joint.body_b in reached
        carrying.append((joint, reverse))
        reached.add(joint.body_a if reverse else joint.body_b)
        left.remove(joint)
    closing = [(j, j.body_b == GROUND) for j in left]
    ends = [j.body_a if reverse else j.body_b for j, reverse in closing]
    found = []
    for (joint, reverse), half in [(x, "") for x in carrying] + [
        (x, f"|{i}") for i, x in enumerate(closing)
    ]:
        parent, body = (joint.body_a, joint.body_b)[:: -1 if reverse else 1]
        share = 1 / (1 + ends.count(body))
        found.append(Link(body + half, body, parent, joint, reverse, share))
    return found


def home_coordinates(mechanism: Mechanism, joint: Joint) -> tuple[Array, Array]:
    """Coordinates of a joint in the reference pose, before the quaternion, and its rotation."""
    poses = {b.name: Rigid.of(b.frame) for b in mechanism.bodies}
    poses[GROUND] = Rigid(np.eye(3), np.zeros(3))
    a = poses[joint.body_a] @ Rigid.of(joint.frame_a)
    b = poses[joint.body_b] @ Rigid.of(joint.frame_b)
    pose = a.inverse @ b
    R, t = pose.rotation, pose.translation
    turns = {2: np.arctan2(R[1, 0], R[0, 0]), 0: np.arctan2(R[2, 1], R[2, 2])}
    found = []
    for step in joint.kind.steps:
        if step.motion == "screw":  # several turns: the advance tells
            found.append(2 * np.pi * t[2] / joint.pitch)
        elif step.motion != "ball":
            found.append(turns[step.axis] if step.motion == "turn" else t[step.axis])
    return np.array(found), R
