"""The tree of bodies of an MJCF file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mechid.importing.mjcf_compiler import Compiler
from mechid.importing.mjcf_inertia import Inertias
from mechid.importing.mjcf_joints import body_joint
from mechid.importing.mjcf_source import MAIN, Defaults
from mechid.importing.poses import IDENTITY, Pose
from mechid.importing.robot import Link, LinkJoint, Remarks
from mechid.importing.xml import Node

_EXPANDED = ("replicate", "attach", "composite", "flexcomp")
_REMEDY = (
    "load the file with MuJoCo and save what it compiled: "
    'mujoco.mj_saveLastXML("out.xml", mujoco.MjModel.from_xml_path("in.xml"))'
)


@dataclass(eq=False)
class Bodies:
    """Walks through the bodies and keeps what it finds, in the order of the file.

    Attributes
    ----------
    links : list of Link
    sites : dict
        Link (None for the world) and pose of each site.
    touching : int
        Geoms that take part in contacts.
    """

    compiler: Compiler
    defaults: Defaults
    inertias: Inertias
    flags: Node
    actuated: set[str]
    remarks: Remarks
    floats: bool
    links: list[Link] = field(default_factory=list)
    sites: dict[str, tuple[str | None, Pose]] = field(default_factory=dict)
    touching: int = 0
    _joints: dict[str, str] = field(default_factory=dict)
    _bodies: dict[str, str] = field(default_factory=dict)

    def world(self, node: Node) -> None:
        """Read a <worldbody>."""
        if any(child.tag in ("joint", "freejoint", "inertial") for child in node.children):
            raise node.error("the world has joints or inertia", "put them into a <body>")
        name = node.get("childclass") or MAIN
        self._inside(node, None, IDENTITY, name, standing=True)

    def _inside(
        self, node: Node, parent: str | None, around: Pose, childclass: str, standing: bool
    ) -> list[tuple[Node, Pose]]:
        """Read what is in a body; return its geoms and the poses of the frames around them."""
        geoms: list[tuple[Node, Pose]] = []
        for child in node.children:
            if child.tag in _EXPANDED:
                raise child.error(f"<{child.tag}> is not supported", _REMEDY)
            if child.tag == "frame":
                inner = child.get("childclass") or childclass
                self.defaults.check(inner, child)
                pose = around @ self.compiler.pose(child)
                geoms += self._inside(child, parent, pose, inner, standing)
            elif child.tag == "geom":
                geom = self.defaults.apply(child, childclass)
                self.touching += any(geom.number(key, 1) for key in ("contype", "conaffinity"))
                geoms.append((geom, around))
            elif child.tag == "site" and child.get("name"):
                pose = self.compiler.pose(self.defaults.apply(child, childclass))
                self.sites[child.needed("name")] = (parent, around @ pose)
            elif child.tag == "body":
                self._body(child, parent, around, childclass, standing)
            elif child.tag in ("joint", "freejoint", "inertial") and node.tag == "frame":
                raise child.error(f"<{child.tag}> inside <frame>", "put it into the <body>")
        return geoms

    def _body(
        self, node: Node, parent: str | None, around: Pose, childclass: str, standing: bool
    ) -> None:
        name = self._named(node, self._bodies, "body")
        inner = node.get("childclass") or childclass
        self.defaults.check(inner, node)
        joints = tuple(self._body_joints(node, name, inner, parent))
        if node.get("mocap") == "true":
            self.remarks.left_out.append(f"prescribed motion of the mocap body {name}")
        if node.number("gravcomp"):
            self.remarks.left_out.append(f"gravity compensation of body {name}")
        standing = standing and not joints
        pose = around @ self.compiler.pose(node)
        place = len(self.links)
        self.links.append(Link(name, parent, pose, joints, None, node.place))
        geoms = self._inside(node, name, IDENTITY, inner, standing)
        needed = not standing or self.floats or self.compiler.total_mass > 0
        mass = self.inertias.of_body(node, geoms, needed)
        self.links[place] = Link(name, parent, pose, joints, mass, node.place)

    def _body_joints(
        self, node: Node, body: str, childclass: str, parent: str | None
    ) -> Iterator[LinkJoint]:
        nodes = list(node.all("joint", "freejoint"))
        for child in nodes:
            name = self._named(child, self._joints, "joint", body)
            full = self.defaults.apply(child, childclass) if child.tag == "joint" else child
            driven = name in self.actuated
            joint = body_joint(full, name, driven, self.compiler, self.flags, self.remarks)
            if joint.kind == "free" and (parent is not None or len(nodes) > 1):
                raise child.error(
                    f"the free joint {name} is not the only one of a body of the world",
                    "correct the file",
                )
            yield joint

    def _named(self, node: Node, known: dict[str, str], what: str, body: str = "") -> str:
        """Return the name of an element, or one that says where it is."""
        name = node.get("name")
        if not name:
            name = f"{body}_joint" if body else f"{what}_{len(known) + 1}"
            n = 2
            while name in known:
                name, n = f"{name.rstrip('0123456789').rstrip('_')}_{n}", n + 1
        if name in known:
            raise node.error(
                f"{what} {name} is defined twice (first in {known[name]})", "rename one"
            )
        known[name] = node.place
        return name
