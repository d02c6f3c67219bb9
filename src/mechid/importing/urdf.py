"""URDF files: links and joints as a tree, mimic joints, friction, transmissions, loop joints."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from mechid.errors import ModelError
from mechid.importing.angles import Angles
from mechid.importing.poses import IDENTITY, unit
from mechid.importing.robot import JointCoupling, Link, LinkJoint, Remarks, Robot, TreeKind, listed
from mechid.importing.urdf_links import link_mass, origin
from mechid.importing.urdf_loops import LOOP_TAGS, loop_joint
from mechid.importing.xml import Node
from mechid.options import ImportOptions
from mechid.textfile.words import hint

_INERTIA = ("drake:rotor_inertia", "rotor_inertia", "rotorInertia", "motorInertia", "motor_inertia")
_RATIO = ("drake:gear_ratio", "mechanicalReduction", "gear_ratio")


class Drive(NamedTuple):
    """Rotor inertia (kg m², on the motor side) and motor speed over joint speed."""

    inertia: float
    ratio: float


def drives(root: Node, joints: dict[str, Node], remarks: Remarks) -> dict[str, Drive]:
    """Return the drives of joints, by name of the joint."""
    found: dict[str, Drive] = {}
    without: list[str] = []
    absent: list[str] = []
    for node in root.all("transmission"):
        name = node.get("name") or node.needed("type")
        for joint in node.all("joint"):
            driven = joint.needed("name")
            if driven not in joints:
                absent.append(f"{name} ({driven})")
                continue
            inertia = _first(node, _INERTIA)
            ratio = _first(node, _RATIO)
            if (inertia is not None and inertia < 0) or ratio == 0:
                raise node.error(
                    f"transmission {name} needs a rotor inertia ≥ 0 and a reduction ≠ 0",
                    "correct the file",
                )
            if inertia is None and ratio not in (None, 1.0):
                without.append(name)
            found[driven] = Drive(inertia or 0.0, 1.0 if ratio is None else ratio)
    if absent:
        remarks.left_out.append(f"transmissions of joints that do not exist: {listed(absent)}")
    if without:
        remarks.notes.append(
            f"the reduction of {listed(without)} has no effect: the file gives no rotor inertia"
        )
    return found


def _first(node: Node, tags: tuple[str, ...]) -> float | None:
    """Return the first number that a transmission, its joint or its actuator has by these tags."""
    for child in _everything(node):
        if child.tag in tags:
            if child.get("value") is None:
                child.attributes["value"] = child.text
            return child.number("value")
    return None


def _everything(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _everything(child)


_KINDS: dict[str, TreeKind | None] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "planar": "planar",
    "floating": "free",
    "spherical": "spherical",
    "fixed": None,
}
_ENDLESS = 1e6  # m or rad
# Pictures, collision shapes and what only other programs use; nothing that moves the robot.
_HARMLESS = ("link", "joint", "transmission", "material", *LOOP_TAGS)


def read_urdf(root: Node, folder: Path, options: ImportOptions) -> Robot:
    """Return the robot of a URDF file, whose root element is given."""
    _refuse_xacro(root)
    remarks, angles = Remarks(), Angles(options.right_angles)
    links = _by_name(root, "link")
    closing = _by_name(root, *LOOP_TAGS)
    joints = _by_name(root, "joint", taken=closing)
    if not links:
        raise root.error("the file has no <link>", "give it one")
    driven = drives(root, joints, remarks)
    parents = {child: joint for joint in joints.values() if (child := _ends(joint, links)[1])}
    _check_tree(root, links, joints, parents)
    found: list[Link] = []
    for name in _in_order(links, parents):
        node = parents.get(name)
        mass = link_mass(links[name], folder, options, angles, remarks)
        if node is None:
            found.append(Link(name, None, IDENTITY, (), mass, links[name].place))
            continue
        parent, pose = _ends(node, links)[0], origin(node, angles)
        joint_name = node.needed("name")
        joint = _joint(node, driven.get(joint_name), remarks)
        found.append(Link(name, parent, pose, joint, mass, links[name].place, joint_name))
    loops = tuple(loop_joint(node, links, angles) for node in closing.values())
    couplings = tuple(c for node in joints.values() if (c := _mimic(node, joints)))
    _left_out(root, remarks)
    return Robot(
        root.get("name") or "robot",
        tuple(found),
        loops,
        couplings,
        left_out=tuple(remarks.left_out),
        notes=(*remarks.notes, *angles.notes()),
    )


def _refuse_xacro(root: Node) -> None:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.tag.startswith("xacro:") or any("${" in v for v in node.attributes.values()):
            name = Path(node.place.rpartition(":")[0]).name
            raise node.error(
                "this is a xacro file, from which a URDF is generated",
                f"expand it first: xacro {name} > robot.urdf",
            )


def _by_name(
    root: Node, *tags: str, taken: Mapping[str, Node] = MappingProxyType({})
) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for node in root.all(*tags):
        name = node.needed("name")
        if other := found.get(name) or taken.get(name):
            raise node.error(
                f"{node.tag} {name} is defined twice (see {other.place})", "rename one"
            )
        found[name] = node
    return found


def _ends(joint: Node, links: dict[str, Node]) -> tuple[str, str]:
    """Return parent and child of a joint."""
    names = []
    for tag in ("parent", "child"):
        node = joint.first(tag)
        if node is None:
            raise joint.error(f"joint {joint.needed('name')} has no <{tag}>", "give it one")
        name = node.needed("link")
        if name not in links:
            raise node.error(f"there is no link {name}", hint(name, links))
        names.append(name)
    return names[0], names[1]


def _check_tree(
    root: Node, links: dict[str, Node], joints: dict[str, Node], parents: dict[str, Node]
) -> None:
    for joint in joints.values():
        child = _ends(joint, links)[1]
        if parents[child] is not joint:
            raise joint.error(
                f"link {child} has two parents, by the joints {joint.needed('name')} and "
                f"{parents[child].needed('name')}",
                "close the loop with a <constraint> element or with the option loops",
            )
    roots = [name for name in links if name not in parents]
    if len(roots) > 1:
        raise links[roots[1]].error(
            f"the links {listed(roots)} have no parent",
            "a URDF has one root; connect the others by joints",
        )
    reached = set(_in_order(links, parents))
    if len(reached) < len(links):
        rest = [name for name in links if name not in reached]
        raise root.error(
            f"the joints of {listed(rest)} go round in a circle",
            "close the loop with a <constraint> element or with the option loops",
        )


def _in_order(links: dict[str, Node], parents: dict[str, Node]) -> list[str]:
    """Return the links, parents first, else in the order of the file."""
    children: dict[str, list[str]] = {name: [] for name in links}
    for name in links:
        if name in parents:
            children[_ends(parents[name], links)[0]].append(name)
    waiting = [name for name in links if name not in parents]
    order = []
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(children[order[-1]])
    return order


def _joint(node: Node, drive: Drive | None, remarks: Remarks) -> tuple[LinkJoint, ...]:
    name = node.needed("name")
    kind = _KINDS[node.choice("type", tuple(_KINDS), "")]
    if kind is None:
        return ()
    axis_node = node.first("axis")
    axis = unit((1.0, 0.0, 0.0) if axis_node is None else axis_node.numbers("xyz", 3, (1, 0, 0)))
    if axis is None:
        raise (axis_node or node).error(f"the axis of joint {name} is zero", "give a direction")
    dynamics = node.first("dynamics")
    viscous, coulomb = (
        0.0 if dynamics is None else dynamics.number(key) for key in ("damping", "friction")
    )
    if min(viscous, coulomb) < 0:
        assert dynamics is not None
        raise dynamics.error(
            f"damping and friction of joint {name} must be ≥ 0", "correct the file"
        )
    single = kind in ("revolute", "prismatic")
    if not single and (viscous or coulomb):
        remarks.left_out.append(
            f"damping and friction of the {node.get('type')} joint {name}, which has several "
            "coordinates"
        )
        viscous = coulomb = 0.0
    return (
        LinkJoint(
            name,
            kind,
            np.asarray(axis),
            limits=_limits(node, remarks) if single and node.get("type") != "continuous" else None,
            viscous=viscous,
            coulomb=coulomb,
            rotor=drive.inertia if drive and single else 0.0,
            ratio=drive.ratio if drive and single else 1.0,
            actuated=drive is not None,
            place=node.place,
        ),
    )


def _limits(node: Node, remarks: Remarks) -> tuple[float | None, float | None] | None:
    limit = node.first("limit")
    if limit is None or (limit.get("lower") is None and limit.get("upper") is None):
        return None
    lower, upper = (limit.number(key, largest=math.inf) for key in ("lower", "upper"))
    if lower > upper:
        raise limit.error(
            f"lower limit {lower:g} is above upper limit {upper:g}", "exchange the two"
        )
    if lower == upper:
        remarks.notes.append(
            f"joint {node.needed('name')} has equal limits ({lower:g}), which are not taken over"
        )
        return None
    # Some files write 1e16 for a joint without limits.
    return (lower if lower > -_ENDLESS else None, upper if upper < _ENDLESS else None)


def _mimic(node: Node, joints: dict[str, Node]) -> JointCoupling | None:
    mimic = node.first("mimic")
    if mimic is None or node.get("type") == "fixed":
        return None
    name, leader = node.needed("name"), mimic.needed("joint")
    if leader not in joints or leader == name:
        others = [other for other in joints if other != name]
        raise mimic.error(f"joint {name} cannot follow joint {leader}", hint(leader, others))
    for joint in (node, joints[leader]):
        if joint.get("type") not in ("revolute", "continuous", "prismatic"):
            raise mimic.error(
                f"joint {joint.needed('name')} is {joint.get('type')} and cannot be coupled",
                "only revolute, continuous and prismatic joints have one coordinate",
            )
    ratio, constant = mimic.number("multiplier", 1.0), mimic.number("offset")
    return JointCoupling(
        f"{name}_mimic", name, leader if ratio else None, ratio, constant, mimic.place
    )


def _left_out(root: Node, remarks: Remarks) -> None:
    others = Counter(node.tag for node in root.children if node.tag not in _HARMLESS)
    remarks.left_out += [
        f"{count} element{'s' if count > 1 else ''} <{tag}>" for tag, count in others.items()
    ]


def check_root(root: Node) -> None:
    """Reject files whose root element is not that of a robot."""
    if root.tag not in ("robot", "mujoco", "mujocoinclude"):
        what = "an SDF file" if root.tag == "sdf" else f"a file of <{root.tag}>"
        raise ModelError(
            f"this is {what}, not a URDF (<robot>) or MJCF (<mujoco>) file",
            where=root.place,
            remedy="convert it to URDF or MJCF",
        )
