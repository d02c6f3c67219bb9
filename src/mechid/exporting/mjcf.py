"""MJCF: the mechanism for MuJoCo, loops as equality constraints.

Body frames are those of the model. `qpos0` is the assembled home pose, where joints have their
coordinates of the model (`ref`); the quaternions of ball joints are relative to it. `_LOOPS` says
which equalities stand for a cut joint; they are exact, and may have rows that follow from others.
Joints without an entry are kept in the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import numpy as np

from mechid.exporting.chain import Forest, Piece, forest_of, free_name, out_of_tree
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
from mechid.kinematics.compile import Rigid
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import (
    GROUND,
    Body,
    CadInertia,
    DistanceCoordinate,
    Joint,
    JointCoordinate,
    Mechanism,
    Point,
    PointCoordinate,
)
from mechid.spatial.inertia import tensor
from mechid.spatial.rotations import quaternion_from_matrix, snap

_LEAST = 1e-15  # mass (kg) and inertia (kg m²) that MuJoCo asks of every moving body
_LITTLE = 1e-6  # kg of a body without mass, and m² of gyration relative to L², where that is lost
_MOTIONS = {"turn": "hinge", "slide": "slide", "ball": "ball"}
# Equality constraints of MuJoCo are soft; with these they open least at this time step.
_STEP = 0.001  # s
# Of edges and lengths MuJoCo takes the half.
_HALVES = {"box": (0.5, 0.5, 0.5), "cylinder": (1.0, 0.5), "sphere": (1.0,)}
_DRAWN = {"mass": "0", "contype": "0", "conaffinity": "0", "group": "1"}
_STIFF = {"solref": numbers([2 * _STEP, 1]), "solimp": "0.9999 0.9999 0.001 0.5 2"}


def mjcf(content: Content, allow_loss: bool = False) -> Exported:
    """Return a mechanism as an MJCF file.

    Raises
    ------
    ModelError
        Naming what MJCF cannot hold.
    """
    m = content.mechanism
    forest = forest_of(m, lambda joint: _loop(joint) is not None)
    laws = linear_laws(m)
    left_out = (*laws.left_out, *loads_of_drives(m), *_unable(m, forest))
    check_whole(content, "MJCF", left_out, allow_loss)
    writer = _Writer(content, forest, laws)
    return Exported("mjcf", writer.file(left_out), writer.notes, left_out)


def _unable(m: Mechanism, forest: Forest) -> Iterator[str]:
    yield from out_of_tree(m, forest)
    for joint in forest.cut:
        if _loop(joint) is None:
            yield f"loop through joint {joint.name} ({joint.type})"
    for body in m.bodies:
        if body.massless:
            yield f"body {body.name} without mass (MuJoCo asks for some)"
        elif body.inertia is not None and _flat(body.inertia):
            yield f"body {body.name} without inertia about an axis (MuJoCo asks for some)"


def _flat(cad: CadInertia) -> bool:
    return bool(np.linalg.eigvalsh(tensor(np.array(cad.inertia_center))).min() <= _LEAST)


# ------------------------------------------------------------------------------ cut joints

_Equalities = Callable[[Joint, float], list[tuple[str, Floats | None]]]


def _weld(joint: Joint, size: float) -> list[tuple[str, Floats | None]]:
    return [("weld", None)]


def _point(joint: Joint, size: float) -> list[tuple[str, Floats | None]]:
    return [("connect", np.zeros(3))]


def _axis(joint: Joint, size: float) -> list[tuple[str, Floats | None]]:
    """Two points of the axis: six rows, one of which follows from the others."""
    return [("connect", np.zeros(3)), ("connect", np.array([0.0, 0.0, size]))]


# By (holds a point, freedoms of rotation): equalities, with points in the frame of the joint.
_LOOPS: Mapping[tuple[bool, int], _Equalities] = MappingProxyType(
    {(True, 0): _weld, (True, 1): _axis, (True, 3): _point}
)


def _loop(joint: Joint) -> _Equalities | None:
    return _LOOPS.get((joint.kind.holds_point, joint.kind.n_turns))


# ------------------------------------------------------------------------------ the file


class _Writer:
    def __init__(self, content: Content, forest: Forest, laws: Laws) -> None:
        self.content, self.m, self.forest, self.laws = content, content.mechanism, forest, laws
        self.names = {piece.coordinate: piece.name for piece in forest.pieces()}
        self.size = kinematic_model(self.m).size
        self.notes = tuple(self._notes())
        self.root = Element("mujoco", model=self.m.name)
        self.inside: dict[str, Element] = {}
        self.sites: set[str] = set()
        self.tendons: Element | None = None
        self.equalities: Element | None = None

    def _notes(self) -> Iterator[str]:
        for c in self.m.coordinates:
            if isinstance(c, JointCoordinate) and self._driven(c) is None:
                yield f"no motor for {c.force}: it acts on an angle of a ball, or on a cut joint"

    def _driven(self, c: JointCoordinate) -> str | None:
        """Return the joint that a motor of a joint coordinate acts on."""
        ball = self.m.joint(c.joint).kind.step(c.index).motion == "ball"
        return None if ball else self.names.get((c.joint, c.index))

    def file(self, left_out: tuple[str, ...]) -> bytes:
        head(self.root, self.content, self.notes, left_out)
        SubElement(self.root, "compiler", angle="radian", inertiafromgeom="false")
        SubElement(self.root, "option", gravity=numbers(self.m.gravity), timestep=numbers(_STEP))
        if self.forest.cut or self.m.constraints:
            SubElement(SubElement(self.root, "default"), "equality", _STIFF)
        self._bodies()
        self._closing()
        self._forces()
        self._drives()
        return document(self.root)

    # ------------------------------------------------------------ bodies and joints

    def _bodies(self) -> None:
        self.inside[GROUND] = SubElement(self.root, "worldbody")
        for branch in self.forest.branches:
            body = SubElement(self.inside[branch.parent], "body", name=branch.child)
            self._place(body, branch.start @ branch.after(0))
            self._inertia(body, self.m.body(branch.child))
            self._shapes(body, self.m.body(branch.child))
            for k, piece in enumerate(branch.pieces):
                self._joint(body, piece, (piece.moved(piece.home) @ branch.after(k + 1)).inverse)
            self.inside[branch.child] = body
        for point in self.m.points:
            self._site(point, f"{point.body}_{point.name}")

    def _place(self, element: Element, pose: Rigid) -> None:
        element.set("pos", numbers(pose.translation, self.size))
        if not np.array_equal(snap(pose.rotation), np.eye(3)):
            element.set("quat", numbers(snap(quaternion_from_matrix(pose.rotation))))

    def _inertia(self, element: Element, body: Body) -> None:
        if said := certainty(self.content.of(body.name)):
            remark(element, said)
        cad = body.inertia or CadInertia(_LITTLE, (0.0, 0.0, 0.0), (0.0,) * 6)
        xx, xy, xz, yy, yz, zz = cad.inertia_center
        more = _LITTLE * cad.mass * self.size**2 if _flat(cad) else 0.0
        six = np.array([xx + more, yy + more, zz + more, xy, xz, yz])
        words = {"pos": numbers(cad.center), "mass": numbers(cad.mass)}
        SubElement(element, "inertial", {**words, "fullinertia": numbers(six, 0.0)})

    def _shapes(self, element: Element, body: Body) -> None:
        """Add what is drawn of a body; it touches nothing and has no mass."""
        for p in primitives(body):
            words = {
                "type": p.kind,
                "pos": numbers(p.center, self.size),
                "size": numbers(np.array(p.sizes) * _HALVES[p.kind]),
                "rgba": numbers(colour(body)),
            }
            if p.kind == "cylinder":
                words["zaxis"] = numbers(p.axis)
            SubElement(element, "geom", {**words, **_DRAWN})

    def _joint(self, body: Element, piece: Piece, frame: Rigid) -> None:
        """Add a joint; `frame` is the one before its motion, in the body at home."""
        joint = SubElement(body, "joint", name=piece.name, type=_MOTIONS[piece.motion])
        if piece.motion != "slide":
            joint.set("pos", numbers(frame.translation, self.size))
        if piece.motion != "ball":
            joint.set("axis", numbers(snap(frame.rotation @ piece.axis)))
            if piece.home:
                joint.set("ref", numbers(piece.home))
        low, high = piece.limit.lower, piece.limit.upper
        if low is not None and high is not None:
            joint.set("range", numbers([low, high]))
        elif low is not None or high is not None:
            remark(body, f"limits of {piece.name}: {low} to {high}")
        law = self.laws.of.get(("joint", *piece.coordinate), LinearLaw())
        self._law(joint, law, "springref")

    def _law(self, element: Element, law: LinearLaw, rest: str) -> None:
        if law.stiffness:
            element.set("stiffness", numbers(law.stiffness))
            element.set(rest, numbers(law.at_rest))
        for name, value in (
            ("damping", law.damping),
            ("frictionloss", law.friction),
            ("armature", law.inertia),
        ):
            if value:
                element.set(name, numbers(value))

    def _site(self, point: Point, name: str) -> str:
        name = free_name(name, self.sites)
        self.sites.add(name)
        pos = numbers(point.local, self.size)
        SubElement(self.inside[point.body], "site", name=name, pos=pos)
        return name

    # ------------------------------------------------------------ constraints

    def _equality(self, kind: str, **words: str) -> Element:
        if self.equalities is None:
            self.equalities = Element("equality")
        return SubElement(self.equalities, kind, words)

    def _tendon(self, kind: str, name: str) -> Element:
        if self.tendons is None:
            self.tendons = Element("tendon")
        return SubElement(self.tendons, kind, name=name)

    def _line(self, name: str, a: Point, b: Point) -> Element:
        tendon = self._tendon("spatial", name)
        for point, side in ((a, "a"), (b, "b")):
            SubElement(tendon, "site", site=self._site(point, f"{name}_{side}"))
        return tendon

    def _sum(self, name: str, terms: Mapping[tuple[str, int], float]) -> Element:
        tendon = self._tendon("fixed", name)
        for coordinate, factor in terms.items():
            if coordinate not in self.names:
                continue  # listed as left out
            SubElement(tendon, "joint", joint=self.names[coordinate], coef=numbers(factor))
        return tendon

    def _closing(self) -> None:
        for joint in self.forest.cut:
            make = _loop(joint)
            if make is None:
                continue
            a, b = (joint.body_a, joint.frame_a), (joint.body_b, joint.frame_b)
            (body, frame), (other, _) = (b, a) if joint.body_a == GROUND else (a, b)
            for n, (kind, point) in enumerate(make(joint, self.size / 4)):
                name = joint.name if n == 0 else f"{joint.name}_{n + 1}"
                words = {"name": name, "body1": body}
                if other != GROUND:
                    words["body2"] = other
                if point is not None:
                    at = Rigid.of(frame)
                    words["anchor"] = numbers(at.translation + at.rotation @ point, self.size)
                self._equality(kind, **words)
        for piece in self.forest.pieces():
            if piece.lead is not None:
                turn = self.names[piece.coordinate[0], 0]
                self._follow(piece.name, piece.name, turn, piece.lead)
        self._constraints()

    def _follow(self, name: str, joint: str, leader: str, ratio: float) -> None:
        """Add that a joint moves from home by `ratio` times what another one does."""
        words = {"name": name, "joint1": joint, "joint2": leader}
        self._equality("joint", **words, polycoef=numbers([0.0, ratio, 0.0, 0.0, 0.0]))

    def _constraints(self) -> None:
        for c in self.m.couplings:
            if any((j, i) not in self.names for j, i, _ in c.terms):
                continue  # listed as left out
            if len(c.terms) == 2:
                (j1, i1, f1), (j2, i2, f2) = c.terms
                self._follow(c.name, self.names[j1, i1], self.names[j2, i2], -f2 / f1)
            else:
                self._sum(c.name, {(j, i): f for j, i, f in c.terms})
                self._equality("tendon", name=c.name, tendon1=c.name, polycoef="0 0 0 0 0")
        for d in self.m.distances:
            self._line(d.name, d.point_a, d.point_b)
            self._equality("tendon", name=d.name, tendon1=d.name, polycoef="0 0 0 0 0")

    # ------------------------------------------------------------ forces

    def _forces(self) -> None:
        for measure, law in self.laws.of.items():
            name = self.laws.names[measure]
            if measure[0] == "length":
                self._law(self._line(name, *measure[1:]), law, "springlength")
            elif measure[0] == "sum":
                terms = {(part[1], part[2]): factor for part, factor in measure[1:]}
                self._law(self._sum(name, terms), law, "springlength")

    def _drives(self) -> None:
        """Add a motor for each independent coordinate: its control is the generalised force."""
        drives = Element("actuator")
        for c in self.m.coordinates:
            match c:
                case JointCoordinate():
                    if (joint := self._driven(c)) is None:
                        continue  # in the notes
                    words = {"joint": joint}
                case PointCoordinate():
                    origin = Point("origin", GROUND, (0.0, 0.0, 0.0))
                    words = {
                        "site": self._site(c.point, f"{c.name}_point"),
                        "refsite": self._site(origin, f"{c.name}_from"),
                        "gear": numbers([*c.direction, 0.0, 0.0, 0.0]),
                    }
                case DistanceCoordinate():
                    name = f"{c.name}_line"
                    self._line(name, c.point_a, c.point_b)
                    words = {"tendon": name}
            SubElement(drives, "motor", {"name": c.force, **words})
        for part in (self.equalities, self.tendons, drives):
            if part is not None and len(part):
                self.root.append(part)
