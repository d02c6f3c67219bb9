"""MJCF files: bodies, joints, equalities, defaults and includes; the rest is listed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from mechid.importing.angles import Angles
from mechid.importing.mjcf_bodies import Bodies
from mechid.importing.mjcf_compiler import compiler
from mechid.importing.mjcf_equality import Equalities
from mechid.importing.mjcf_inertia import Inertias, mesh_assets
from mechid.importing.mjcf_source import MAIN, Defaults, section, setting, with_includes
from mechid.importing.mjcf_tendons import Tendons
from mechid.importing.poses import Vec
from mechid.importing.robot import (
    JointCoupling,
    JointSum,
    Link,
    LoopJoint,
    PointPair,
    Remarks,
    Robot,
    listed,
)
from mechid.importing.xml import Node
from mechid.options import ImportOptions
from mechid.textfile.words import hint

_LEFT_OUT = ("contact", "actuator", "deformable", "extension")
# Pictures, sensors and settings of MuJoCo's solver.
_HARMLESS = ("size", "visual", "statistic", "custom", "asset", "sensor", "keyframe")
_READ = ("compiler", "option", "default", "worldbody", "equality", "tendon")


def read_mjcf(root: Node, folder: Path, options: ImportOptions) -> Robot:
    """Return the robot of an MJCF file, whose root element is given."""
    limit = Path(options.root) if options.root is not None else folder
    root = with_includes(root, folder, limit)
    remarks, angles = Remarks(), Angles(options.right_angles)
    settings, option = compiler(setting(root, "compiler"), angles), setting(root, "option")
    flags = option.first("flag") or Node("flag", {}, option.place)
    defaults = Defaults(root)
    assets = [defaults.apply(node, MAIN) for node in section(root, "asset")]
    bodies = Bodies(
        settings,
        defaults,
        Inertias(settings, mesh_assets(assets), folder, limit, options),
        flags,
        _actuated(root),
        remarks,
        options.base == "free",
    )
    for world in root.all("worldbody"):
        bodies.world(world)
    links = tuple(_scaled(bodies.links, settings.total_mass))
    posed = _posed(links, section(root, "keyframe"), options.keyframe, root, remarks)
    reader = Equalities({link.name: link for link in bodies.links}, bodies.sites, remarks)
    loops, couplings = _equalities(root, defaults, reader, flags, remarks)
    tendons = Tendons(
        defaults,
        bodies.sites,
        reader.links,
        reader.placed,
        reader.joints,
        reader.held,
        flags,
        remarks,
    )
    pulled = [tendons.read(node) for node in section(root, "tendon")]
    locked = [part for part in pulled if isinstance(part, JointCoupling)]
    _left_out(root, option, bodies, remarks)
    return Robot(
        root.get("model") or "robot",
        posed,
        loops,
        (*couplings, *locked),
        _gravity(option, flags),
        tuple(remarks.left_out),
        (*remarks.notes, *angles.notes()),
        tuple(part for part in pulled if isinstance(part, PointPair)),
        tuple(part for part in pulled if isinstance(part, JointSum)),
    )


def _posed(
    links: tuple[Link, ...], keys: list[Node], name: str | None, root: Node, remarks: Remarks
) -> tuple[Link, ...]:
    """Return the links with the joint coordinates of a keyframe as reference pose."""
    names = [key.get("name") or str(i) for i, key in enumerate(keys)]
    if name is None:
        if names:
            remarks.notes.append(
                f"keyframes of the file: {listed(names)}; the option keyframe makes one the "
                "reference pose"
            )
        return links
    if name not in names:
        raise root.error(
            f"there is no keyframe {name}", hint(name, names, "the file has no keyframes")
        )
    key = keys[names.index(name)]
    values = iter(key.some_numbers("qpos"))
    sizes = {"spherical": 4, "free": 7}
    found = []
    for link in links:
        joints = [
            replace(joint, at=tuple(islice(values, sizes.get(joint.kind, 1))))
            for joint in link.joints
        ]
        found.append(replace(link, joints=tuple(joints)))
    wrong = [j for x in found for j in x.joints if len(j.at or ()) != sizes.get(j.kind, 1)]
    if wrong or next(values, None) is not None:
        raise key.error(
            f"the qpos of keyframe {name} does not fit the joints",
            f"give {sum(sizes.get(j.kind, 1) for x in links for j in x.joints)} numbers",
        )
    return tuple(found)


def _gravity(option: Node, flags: Node) -> Vec:
    x, y, z = option.numbers("gravity", 3, (0.0, 0.0, -9.81))
    return (0.0, 0.0, 0.0) if flags.get("gravity") == "disable" else (x, y, z)


def _actuated(root: Node) -> set[str]:
    """Return the names of joints that actuators move, by themselves or by tendons."""
    tendons = {
        node.get("name"): [part.get("joint") for part in node.all("joint")]
        for node in section(root, "tendon")
    }
    found: set[str] = set()
    for node in section(root, "actuator"):
        names = [node.get("joint"), node.get("jointinparent"), *tendons.get(node.get("tendon"), [])]
        found |= {name for name in names if name}
    return found


def _equalities(
    root: Node, defaults: Defaults, reader: Equalities, flags: Node, remarks: Remarks
) -> tuple[tuple[LoopJoint, ...], tuple[JointCoupling, ...]]:
    nodes = section(root, "equality")
    if "disable" in (flags.get("equality"), flags.get("constraint")) and nodes:
        remarks.left_out.append(f"{len(nodes)} equalities, which a flag of the file disables")
        return (), ()
    taken = {*reader.joints}
    found: list[LoopJoint | JointCoupling] = []
    for node in nodes:
        active = Node("equality", {}, node.place)  # all equalities share one default
        full = Node(node.tag, defaults.apply(active, node.get("class") or MAIN).attributes
                    | node.attributes, node.place)  # fmt: skip
        name = node.get("name") or _made_up(node)
        while name in taken:
            name += "_equality" if not name.endswith("_equality") else "_"
        taken.add(name)
        if (item := reader.read(full, name)) is not None:
            found.append(item)
    return (
        tuple(item for item in found if isinstance(item, LoopJoint)),
        tuple(item for item in found if isinstance(item, JointCoupling)),
    )


def _made_up(node: Node) -> str:
    """Return a name for an equality without one, of what it connects."""
    keys = ("body1", "body2", "site1", "site2", "joint1", "joint2")
    return "_".join([node.tag, *(name for key in keys if (name := node.get(key)))])


def _scaled(links: Iterable[Link], total_mass: float) -> list[Link]:
    """Return the links with masses and inertias scaled to a total, if the file asks for one."""
    links = list(links)
    mass = sum(link.mass.mass for link in links if link.mass is not None)
    if not (total_mass > 0 and mass > 0):
        return links
    return [
        link if link.mass is None else replace(link, mass=link.mass.times(total_mass / mass))
        for link in links
    ]


def _left_out(root: Node, option: Node, bodies: Bodies, remarks: Remarks) -> None:
    for tag in _LEFT_OUT:
        kinds: dict[str, list[str]] = {}
        for node in section(root, tag):
            kinds.setdefault(node.tag, []).append(node.get("name") or "unnamed")
        for kind, names in kinds.items():
            known = [name for name in names if name != "unnamed"]
            words = f": {listed(known)}" if known else ""
            remarks.left_out.append(f"{tag}: {len(names)} {kind}{words}")
    if bodies.touching:
        remarks.left_out.append(f"contacts of {bodies.touching} geoms")
    for key in ("density", "viscosity", "wind"):
        if any(option.some_numbers(key)):
            remarks.left_out.append(f"forces of the medium ({key} of <option>)")
    others = dict.fromkeys(node.tag for node in root.children)
    remarks.left_out += [
        f"<{tag}>" for tag in others if tag not in (*_LEFT_OUT, *_HARMLESS, *_READ)
    ]
