"""Tendons of an MJCF file: springs between two points, distances, sums of joint coordinates.

A spatial tendon over two sites is the line between them; a fixed one is a sum of joint coordinates.
What acts on them becomes force elements, and an equality that holds the length a constraint.
Tendons over more sites, pulleys or geoms are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.importing.merge import moved
from mechid.importing.mjcf_source import MAIN, Defaults
from mechid.importing.poses import IDENTITY, Pose
from mechid.importing.robot import JointCoupling, JointSum, Link, LinkJoint, PointPair, Remarks
from mechid.importing.xml import Node
from mechid.textfile.words import hint

_ACTING = ("stiffness", "damping", "frictionloss", "armature")


@dataclass(eq=False)
class Tendons:
    """Reads tendons one by one.

    Attributes
    ----------
    defaults : Defaults
    sites : dict
        Link and pose of each site.
    links : dict
        By name, parents first.
    placed : dict
        Poses of the links in the reference pose.
    joints : dict
        Joints by name.
    held : dict
        By how much an equality holds a tendon longer than in the reference pose, by name.
    flags : Node
        What the file switches off.
    remarks : Remarks
    """

    defaults: Defaults
    sites: dict[str, tuple[str | None, Pose]]
    links: dict[str, Link]
    placed: dict[str | None, Pose]
    joints: dict[str, LinkJoint]
    held: dict[str, float]
    flags: Node
    remarks: Remarks

    def read(self, node: Node) -> PointPair | JointSum | JointCoupling | None:
        """Return what a tendon is in a model; None if it does nothing or is left out."""
        name = node.get("name") or node.tag
        node = self.defaults.apply(Node("tendon", node.attributes, node.place, node.children), MAIN)
        parts = [child.tag for child in node.children]
        if parts == ["site", "site"]:
            return self._line(node, name)
        if parts and set(parts) == {"joint"}:
            return self._sum(node, name)
        self.remarks.left_out.append(f"tendon {name}, which is not a line between two sites")
        return None

    def _line(self, node: Node, name: str) -> PointPair | None:
        (a, pose_a), (b, pose_b) = (self._site(child) for child in node.children)
        length, unstretched = (
            float(np.linalg.norm(placed[b].point(pose_b.p) - placed[a].point(pose_a.p)))
            for placed in (self.placed, self._at_rest())
        )
        acting = self._acting(node, name, ("stiffness", "damping"))
        rest, *more = node.some_numbers("springlength", (-1.0,))
        if acting["stiffness"] and any(x != rest for x in more):
            self.remarks.left_out.append(f"slack of the spring of tendon {name}")
        constant = length + self.held[name] if name in self.held else None
        if constant is None and not any(acting.values()):
            return None
        return PointPair(
            name,
            (a, b),
            (pose_a, pose_b),
            acting["stiffness"],
            unstretched if rest < 0 else rest,
            acting["damping"],
            constant,
            node.place,
        )

    def _at_rest(self) -> dict[str | None, Pose]:
        """Return where the links are if all joints are at `springref`: springs are at rest there,
        unless the file says otherwise."""
        found: dict[str | None, Pose] = {None: IDENTITY}
        for link in self.links.values():
            pose = found[link.parent] @ link.pose
            for joint in link.joints:
                if joint.kind in ("revolute", "prismatic"):
                    pose = pose @ moved(joint, joint.rest)
            found[link.name] = pose
        return found

    def _sum(self, node: Node, name: str) -> JointSum | JointCoupling | None:
        terms = []
        length = 0.0
        for child in node.children:
            joint = child.needed("joint")
            if joint not in self.joints:
                raise child.error(f"there is no joint {joint}", hint(joint, self.joints))
            factor = child.number("coef", 1.0)
            length += factor * self.joints[joint].reference
            terms.append((joint, factor))
        acting = self._acting(node, name, ("damping", "frictionloss", "armature"))
        constant = length + self.held[name] if name in self.held else None
        if constant is None and not any(acting.values()):
            return None
        if constant is not None and len(terms) == 1:
            (joint, factor), *_ = terms
            return JointCoupling(name, joint, None, 0.0, constant / factor, node.place)
        return JointSum(
            name,
            tuple(terms),
            acting["armature"],
            acting["damping"],
            acting["frictionloss"],
            constant,
            node.place,
        )

    def _acting(self, node: Node, name: str, known: tuple[str, ...]) -> dict[str, float]:
        """Return the coefficients that a model has; others are left out."""
        flags = {"stiffness": "spring", "damping": "damper", "frictionloss": "frictionloss"}
        values = {}
        for key in _ACTING:
            first, *more = node.some_numbers(key, (0.0,))
            off = self.flags.get(flags.get(key, "")) == "disable"
            values[key] = 0.0 if off else first
            if any(more) or (values[key] and key not in known):
                self.remarks.left_out.append(f"{key} of tendon {name}")
        limited = node.get("limited") == "true" or node.get("range") is not None
        if limited and node.get("limited") != "false":
            self.remarks.left_out.append(f"range of tendon {name}")
        return {key: values[key] if key in known else 0.0 for key in _ACTING}

    def _site(self, node: Node) -> tuple[str | None, Pose]:
        name = node.needed("site")
        if name not in self.sites:
            raise node.error(f"there is no site {name}", hint(name, self.sites))
        return self.sites[name]
