"""Equalities of an MJCF file: loop joints and couplings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.importing.poses import IDENTITY, Pose
from mechid.importing.robot import JointCoupling, Link, LinkJoint, LoopJoint, Remarks
from mechid.importing.xml import Node
from mechid.spatial.rotations import matrix_from_quaternion, snap
from mechid.textfile.words import hint


@dataclass(eq=False)
class Equalities:
    """Reads equalities one by one."""

    links: dict[str, Link]
    sites: dict[str, tuple[str | None, Pose]]
    remarks: Remarks

    def __post_init__(self) -> None:
        """Place the links in the reference pose."""
        self.held: dict[str, float] = {}  # tendons of constant length: how much longer than there
        self.placed: dict[str | None, Pose] = {None: IDENTITY}
        for link in self.links.values():
            self.placed[link.name] = self.placed[link.parent] @ link.pose
        self.joints: dict[str, LinkJoint] = {
            joint.name: joint for link in self.links.values() for joint in link.joints
        }

    def read(self, node: Node, name: str) -> LoopJoint | JointCoupling | None:
        """Return what an equality holds; None if it is left out."""
        if node.get("active") == "false":
            self.remarks.left_out.append(f"equality {name}, which is not active")
            return None
        match node.tag:
            case "connect":
                return self._loop(node, name, "spherical")
            case "weld":
                return self._loop(node, name, "fixed")
            case "joint":
                return self._coupling(node, name)
            case "tendon" if node.get("tendon2") is None:
                a0, *_ = node.some_numbers("polycoef", (0.0,))
                self.held[node.needed("tendon1")] = a0
                return None
        self.remarks.left_out.append(f"equality {name} of type {node.tag}")
        return None

    # ------------------------------------------------------------------ loops

    def _loop(self, node: Node, name: str, kind: str) -> LoopJoint:
        if node.get("site1") is not None:
            (a, pose_a), (b, pose_b) = (self._site(node, key) for key in ("site1", "site2"))
            return LoopJoint(name, kind, (a, b), (pose_a, pose_b), None, node.place)
        a = self._body(node, node.needed("body1"))
        b = self._body(node, node.get("body2") or "world")
        # The bodies hold together as they are in the reference pose.
        relative = self.placed[b].inverse() @ self.placed[a]
        if kind == "fixed":
            given = node.some_numbers("relpose")
            pose_a = IDENTITY
            if given and len(given) != 7:
                raise node.error(f"relpose must be 7 numbers, got {len(given)}")
            if given and any(given[3:]):  # body 2 in the frame of body 1
                R = np.asarray(snap(matrix_from_quaternion(np.array(given[3:]))))
                pose_b = Pose(np.array(given[:3]), R).inverse()
            else:
                pose_b = relative
            return LoopJoint(name, kind, (a, b), (pose_a, pose_b), None, node.place)
        if node.get("anchor") is None:
            raise node.error(f"{name} has no anchor", "give it one, or two sites")
        anchor = Pose(np.array(node.numbers("anchor", 3, ())), np.eye(3))
        there = Pose(relative.point(anchor.p), np.eye(3))
        return LoopJoint(name, kind, (a, b), (anchor, there), None, node.place)

    def _body(self, node: Node, name: str) -> str | None:
        if name == "world":
            return None
        if name not in self.links:
            raise node.error(f"there is no body {name}", hint(name, self.links))
        return name

    def _site(self, node: Node, key: str) -> tuple[str | None, Pose]:
        name = node.needed(key)
        if name not in self.sites:
            raise node.error(f"there is no site {name}", hint(name, self.sites))
        return self.sites[name]

    # ------------------------------------------------------------------ couplings

    def _coupling(self, node: Node, name: str) -> JointCoupling | None:
        """Return y - y0 = a0 + a1 (x - x0), with y0 and x0 of the reference pose."""
        first = self._joint(node, node.needed("joint1"))
        other = node.get("joint2")
        second = None if other is None else self._joint(node, other)
        given = node.some_numbers("polycoef", (0.0, 1.0))
        a0, a1, *higher = (*given, *(0.0, 1.0, 0.0)[len(given) :])
        if second is not None and any(higher):
            self.remarks.left_out.append(
                f"equality {name}: joint {first.name} is a nonlinear function of joint "
                f"{second.name}, and moves freely in the model"
            )
            return None
        constant = first.reference + a0
        if second is None or a1 == 0:
            return JointCoupling(name, first.name, None, 0.0, constant, node.place)
        constant -= a1 * second.reference
        return JointCoupling(name, first.name, second.name, a1, constant, node.place)

    def _joint(self, node: Node, name: str) -> LinkJoint:
        if name not in self.joints:
            raise node.error(f"there is no joint {name}", hint(name, self.joints))
        joint = self.joints[name]
        if joint.kind not in ("revolute", "prismatic"):
            raise node.error(f"joint {name} has no single coordinate to couple", "correct the file")
        return joint
