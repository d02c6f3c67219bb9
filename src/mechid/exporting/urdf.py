"""URDF: links and joints of one freedom each, loops as the proposed `<constraint>` elements.

Links of bodies have the body frames of the model. In URDF a link stands on the axis of its joint: a
body frame that does not is attached to a link without mass. A joint of several freedoms is a chain
of joints with links without mass between them; a ball is yaw, pitch and roll from the home pose.

A tree has the joint coordinates of the model. With loops, joints count from the home pose: readers
start with all joints at zero, where the loops would be open.

Loops are written as ros/urdfdom pull request 264 proposes: the two frames of the cut joint, and its
axis in each. The type is that of the model; readers that do not know the element see the tree.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from mechid.exporting.chain import (
    Branch,
    Forest,
    Piece,
    forest_of,
    free_name,
    from_home,
    out_of_tree,
    without_rounding,
)
from mechid.exporting.content import Content, Exported, check_whole, loads_of_drives
from mechid.exporting.laws import Laws, LinearLaw, linear_laws
from mechid.exporting.markup import (
    Element,
    SubElement,
    certainty,
    colour,
    document,
    head,
    numbers,
    primitives,
    remark,
)
from mechid.kinematics.compile import STILL, Rigid
from mechid.kinematics.couplings import coupling_constant
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import (
    GROUND,
    Body,
    Coupling,
    Joint,
    JointCoordinate,
    Limit,
    Mechanism,
)
from mechid.spatial.rotations import matrix_from_rpy, rpy_from_matrix, snap


@dataclass(frozen=True)
class Mimic:
    """A joint moves as another one: q = factor · q_joint + offset."""

    joint: str
    factor: float
    offset: float


@dataclass(frozen=True)
class Mimics:
    """By name of the elementary joint that follows, and the couplings that cannot be written."""

    of: dict[str, Mimic]
    left_out: tuple[str, ...]


def mimics(mechanism: Mechanism, forest: Forest) -> Mimics:
    """Return which joints mimic which others; threads are such, too.

    Each joint follows one other at most. From the joint of each group of couplings that is
    independent, or comes first in the tree, the couplings are followed outwards.
    """
    names = {piece.coordinate: piece.name for piece in forest.pieces()}
    found: dict[str, Mimic] = {}
    for piece in forest.pieces():
        if piece.lead is not None:
            found[piece.name] = Mimic(names[piece.coordinate[0], 0], piece.lead, 0.0)
    shift = {piece.coordinate: piece.shift for piece in forest.pieces()}
    driven = {(c.joint, c.index) for c in mechanism.coordinates if isinstance(c, JointCoordinate)}
    held = [c for c in mechanism.couplings if all(end in names for end in _ends(c))]
    pairs = [c for c in held if len(c.terms) == 2]
    left_out = [c.name for c in held if len(c.terms) != 2]
    order = sorted(names, key=lambda coordinate: coordinate not in driven)
    reached: set[tuple[str, int]] = set()
    for root in order:
        queue = deque([root] if root not in reached else [])
        reached.add(root)
        while queue:
            here = queue.popleft()
            for coupling in [c for c in pairs if here in _ends(c)]:
                pairs.remove(coupling)
                other = next(end for end in _ends(coupling) if end != here)
                if other in reached:
                    left_out.append(coupling.name)
                    continue
                reached.add(other)
                queue.append(other)
                mimic = _mimic(mechanism, coupling, other, names[here])
                offset = mimic.offset + mimic.factor * shift[here] - shift[other]
                found[names[other]] = replace(
                    mimic, offset=float(without_rounding(np.array(offset)))
                )
    return Mimics(found, tuple(f"coupling {name}" for name in left_out))


def _ends(coupling: Coupling) -> tuple[tuple[str, int], ...]:
    return tuple((joint, i) for joint, i, _ in coupling.terms)


def _mimic(mechanism: Mechanism, c: Coupling, follower: tuple[str, int], leader: str) -> Mimic:
    factors = dict(zip(_ends(c), (factor for *_, factor in c.terms), strict=True))
    own = factors.pop(follower)
    (other,) = factors.values()
    return Mimic(leader, -other / own, coupling_constant(mechanism, c) / own)


_UNLIMITED = 1e9  # URDF asks for limits of slides, efforts and speeds: N, N m, m, per s
_ON_AXIS = 1e-12  # relative to the size of the mechanism
_ANGLES = (("yaw", 2), ("pitch", 1), ("roll", 0))
_DRAKE = "http://drake.mit.edu"


def urdf(content: Content, allow_loss: bool = False) -> Exported:
    """Return a mechanism as a URDF file.

    Raises
    ------
    ModelError
        Naming what URDF cannot hold.
    """
    m = content.mechanism
    forest = forest_of(m, _holds)
    if forest.cut:
        forest = from_home(forest)
    laws = linear_laws(m)
    followed = mimics(m, forest)
    rubbing = loads_of_drives(content.mechanism)
    left_out = (*laws.left_out, *rubbing, *_unable(content, forest, laws), *followed.left_out)
    check_whole(content, "URDF", left_out, allow_loss)
    writer = _Writer(content, forest, laws, followed.of)
    return Exported("urdf", writer.file(left_out), writer.notes, left_out)


def _holds(joint: Joint) -> bool:
    return not joint.kind.thread  # there is no place for its pitch


def _unable(content: Content, forest: Forest, laws: Laws) -> Iterator[str]:
    yield from out_of_tree(content.mechanism, forest)
    for joint in forest.cut:
        if not _holds(joint):
            yield f"loop through joint {joint.name} ({joint.type})"
    for d in content.mechanism.distances:
        yield f"distance constraint {d.name}"
    floating = {b.joint.name for b in forest.branches if b.joint.kind.holds_nothing}
    for measure, law in laws.of.items():
        name = laws.names[measure]
        if measure[0] == "length":
            yield f"spring or damper {name} between points"
        elif measure[0] == "sum":
            yield f"motor {name} on several joints"
        elif law.stiffness:
            yield f"spring {name} on joint {measure[1]}"
        elif measure[1] in floating:
            yield f"friction {name} on joint {measure[1]}, which is free"


class _Writer:
    def __init__(
        self, content: Content, forest: Forest, laws: Laws, followed: dict[str, Mimic]
    ) -> None:
        self.content, self.m, self.forest, self.laws = content, content.mechanism, forest, laws
        self.followed = followed
        self.size = kinematic_model(self.m).size
        self.root = Element("robot", name=self.m.name)
        self.links = {GROUND, *(body.name for body in self.m.bodies)}
        self.transmissions: list[Element] = []
        self.notes = tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        yield f"URDF has no gravity; that of the model is {self.m.gravity} m/s²"
        several = [b.joint.name for b in self.forest.branches if len(_chain(b)) > 1]
        if several:
            words = ", ".join(several)
            yield f"joints of several freedoms are chains with links without mass: {words}"
        if self.forest.cut:
            words = ", ".join(joint.name for joint in self.forest.cut)
            yield (
                f"loops are closed by <constraint> elements (ros/urdfdom pull request 264): {words}"
            )
            shifted = [f"{p.name} {p.shift:.6g}" for p in self.forest.pieces() if p.shift]
            if shifted:
                yield f"joints are zero in the home pose; there the model has {', '.join(shifted)}"

    def file(self, left_out: tuple[str, ...]) -> bytes:
        head(self.root, self.content, self.notes, left_out)
        SubElement(self.root, "link", name=GROUND)
        for branch in self.forest.branches:
            self._branch(branch)
        for joint in self.forest.cut:
            if _holds(joint):
                self._constraint(joint)
        if self.transmissions:
            self.root.set("xmlns:drake", _DRAKE)
            self.root.extend(self.transmissions)
        return document(self.root)

    # ------------------------------------------------------------ links and joints

    def _branch(self, branch: Branch) -> None:
        at, parent = branch.start, branch.parent
        if branch.joint.kind.holds_nothing:
            self._joint(branch.joint.name, "floating", parent, branch.child, at @ branch.end)
            self._body(branch.child)
            return
        chain = _chain(branch)
        for k, piece in enumerate(chain):
            at = at @ piece.before
            child, axis = f"{piece.name}_link", piece.axis
            if k + 1 == len(chain) and (own := self._on_axis(piece, branch.end)) is not None:
                at, axis, child = at @ branch.end, own, branch.child
            child = child if child == branch.child else self._massless(child)
            self._moving(piece, parent, child, at, axis)
            at, parent = STILL, child
        if parent != branch.child:
            name = f"{branch.joint.name}_fixed" if chain else branch.joint.name
            self._joint(name, "fixed", parent, branch.child, at @ branch.end)
        self._body(branch.child)

    def _on_axis(self, piece: Piece, end: Rigid) -> Floats | None:
        """Return the axis in the body frame, if the origin of that is on it."""
        axis = end.rotation.T @ piece.axis
        off = np.cross(piece.axis, end.translation)
        on = piece.motion == "slide" or np.linalg.norm(off) <= _ON_AXIS * self.size
        return np.asarray(axis) if on else None

    def _massless(self, name: str) -> str:
        name = free_name(name, self.links)
        self.links.add(name)
        SubElement(self.root, "link", name=name)
        return name

    def _body(self, name: str) -> None:
        link = SubElement(self.root, "link", name=name)
        body: Body = self.m.body(name)
        if said := certainty(self.content.of(name)):
            remark(link, said)
        self._shapes(link, body)
        if (cad := body.inertia) is None:
            return
        inertial = SubElement(link, "inertial")
        SubElement(inertial, "origin", xyz=numbers(cad.center), rpy="0 0 0")
        SubElement(inertial, "mass", value=numbers(cad.mass))
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        six = {k: numbers(x, 0.0) for k, x in zip(keys, cad.inertia_center, strict=True)}
        SubElement(inertial, "inertia", six)

    def _shapes(self, link: Element, body: Body) -> None:
        keys = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",)}
        for p in primitives(body):
            visual = SubElement(link, "visual")
            x, y, z = p.axis
            rpy = [0.0, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)]
            SubElement(visual, "origin", xyz=numbers(p.center, self.size), rpy=numbers(rpy))
            sizes = [numbers(p.sizes)] if p.kind == "box" else [numbers(x) for x in p.sizes]
            words = dict(zip(keys[p.kind], sizes, strict=True))
            SubElement(SubElement(visual, "geometry"), p.kind, words)
            material = SubElement(visual, "material", name=f"colour of {body.name}")
            SubElement(material, "color", rgba=numbers(colour(body)))

    def _joint(self, name: str, kind: str, parent: str, child: str, at: Rigid) -> Element:
        joint = SubElement(self.root, "joint", name=name, type=kind)
        self._origin(joint, "origin", at)
        SubElement(joint, "parent", link=parent)
        SubElement(joint, "child", link=child)
        return joint

    def _origin(self, element: Element, name: str, pose: Rigid) -> None:
        xyz, rpy = numbers(pose.translation, self.size), numbers(_rpy(snap(pose.rotation)))
        SubElement(element, name, xyz=xyz, rpy=rpy)

    def _moving(self, piece: Piece, parent: str, child: str, at: Rigid, axis: Floats) -> None:
        low, high = piece.limit.lower, piece.limit.upper
        limited = low is not None or high is not None
        kind = "prismatic" if piece.motion == "slide" else "revolute" if limited else "continuous"
        joint = self._joint(piece.name, kind, parent, child, at)
        SubElement(joint, "axis", xyz=numbers(snap(axis)))
        if kind != "continuous":
            SubElement(joint, "limit", _limit(piece.limit))
        law = self.laws.of.get(("joint", *piece.coordinate), LinearLaw())
        if law.damping or law.friction:
            words = {"damping": numbers(law.damping), "friction": numbers(law.friction)}
            SubElement(joint, "dynamics", words)
        if (mimic := self.followed.get(piece.name)) is not None:
            factor, offset = numbers(mimic.factor), numbers(mimic.offset)
            SubElement(joint, "mimic", joint=mimic.joint, multiplier=factor, offset=offset)
        if law.inertia:
            self._rotor(piece.name, law.inertia)

    def _rotor(self, joint: str, inertia: float) -> None:
        """Add the inertia of a rotor, seen from the joint, as Drake reads it."""
        transmission = Element("transmission", name=f"{joint}_transmission")
        SubElement(transmission, "type").text = "transmission_interface/SimpleTransmission"
        SubElement(transmission, "joint", name=joint)
        actuator = SubElement(transmission, "actuator", name=f"{joint}_motor")
        SubElement(actuator, "mechanicalReduction").text = "1"
        SubElement(actuator, "drake:gear_ratio", value="1")
        SubElement(actuator, "drake:rotor_inertia", value=numbers(inertia))
        self.transmissions.append(transmission)

    def _constraint(self, joint: Joint) -> None:
        constraint = SubElement(self.root, "constraint", name=joint.name, type=joint.type)
        kind = joint.kind
        first, second = (axes[0] if axes else None for axes in kind.axes)
        for side, body, frame, axis in (
            ("parent", joint.body_a, joint.frame_a, first),
            ("child", joint.body_b, joint.frame_b, second),
        ):
            SubElement(constraint, side, link=body)
            self._origin(constraint, f"{side}_origin", Rigid.of(frame))
            if axis is not None:
                SubElement(constraint, f"{side}_axis", xyz=numbers(np.eye(3)[axis]))


def _rpy(R: Floats) -> Floats:
    """Return roll, pitch, yaw; near a pitch of 90° roll takes up the rounding of yaw."""
    rpy = rpy_from_matrix(R)
    left = matrix_from_rpy(rpy * (0.0, 1.0, 1.0)).T @ R
    return np.array([np.arctan2(left[2, 1], left[2, 2]), rpy[1], rpy[2]])


def _limit(limit: Limit) -> dict[str, str]:
    low = -_UNLIMITED if limit.lower is None else limit.lower
    high = _UNLIMITED if limit.upper is None else limit.upper
    words = {"lower": low, "upper": high, "effort": _UNLIMITED, "velocity": _UNLIMITED}
    return {name: numbers(value) for name, value in words.items()}


def _chain(branch: Branch) -> list[Piece]:
    """Return the pieces of a branch with balls as three turns about z, y and x."""
    found = []
    for piece in branch.pieces:
        if piece.motion != "ball":
            found.append(piece)
            continue
        before = piece.at_home
        for name, axis in _ANGLES:
            found.append(
                replace(
                    piece,
                    name=f"{piece.name}_{name}",
                    motion="turn",
                    axis=np.eye(3)[axis],
                    home=0.0,
                    coordinate=(piece.coordinate[0], -1),
                    before=before,
                )
            )
            before = STILL
    return found
