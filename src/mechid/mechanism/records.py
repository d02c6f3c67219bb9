"""Frozen records of a mechanism. Plain tuples of floats, so that equal mechanisms compare equal.

Numbers that the model file wrote with named lengths or angles keep that expression beside the
value (`Frame.origin_expr`, `Point.expr`, …); the exact and symbolic stages read it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

from mechid.errors import ModelError
from mechid.mechanism.joint_kinds import JOINT_KINDS, JointKind, JointType
from mechid.shown import Plotted, Tabular

Vec3: TypeAlias = tuple[float, float, float]
Mat3: TypeAlias = tuple[Vec3, Vec3, Vec3]
Expr3: TypeAlias = tuple[str, str, str]

GROUND = "ground"


@dataclass(frozen=True)
class Frame:
    """A right-handed frame: origin and axes (columns of `rotation`) in the frame it lives in."""

    origin: Vec3
    rotation: Mat3
    origin_expr: Expr3 | None = None
    rotation_expr: tuple[Expr3, Expr3, Expr3] | None = None


IDENTITY = Frame((0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))


@dataclass(frozen=True)
class Parameter:
    """A named length, angle or other number of the model file; `expr` if it was not a plain
    number, in terms of other parameters."""

    name: str
    value: float
    unit: str = ""
    source: str = ""
    expr: str | None = None


@dataclass(frozen=True)
class Coefficient:
    """A number of a force element: known, or a parameter to identify (then `value` is its CAD
    value, if there is one)."""

    value: float | None
    identify: bool = False
    sigma: float | None = None


@dataclass(frozen=True)
class CadInertia:
    """Mass (kg), centre of mass (m) and inertia about it (kg m²; xx, xy, xz, yy, yz, zz), in the
    body frame, each with its standard deviation. `exact` names those of mass, center and inertia
    that are declared exact; zero without that means that nothing is declared."""

    mass: float
    center: Vec3
    inertia_center: tuple[float, float, float, float, float, float]
    sigma_mass: float = 0.0
    sigma_center: Vec3 = (0.0, 0.0, 0.0)
    sigma_inertia: tuple[float, float, float, float, float, float] = (0.0,) * 6
    exact: tuple[str, ...] = ()

    @property
    def undeclared(self) -> tuple[str, ...]:
        """Those of mass, center and inertia of which no standard deviation is declared."""
        sigmas = {
            "mass": (self.sigma_mass,),
            "center": self.sigma_center,
            "inertia": self.sigma_inertia,
        }
        return tuple(k for k, x in sigmas.items() if not any(x) and k not in self.exact)


@dataclass(frozen=True)
class Shape:
    """A drawing hint in body coordinates: wheel (centre, axis; radius, width), box (centre; three
    sizes), cylinder (from, to; radius) or sphere (centre; radius)."""

    kind: Literal["wheel", "box", "cylinder", "sphere"]
    points: tuple[Vec3, ...]
    sizes: tuple[float, ...]


@dataclass(frozen=True)
class Body:
    """A rigid body: the pose of its frame in the reference pose, and what CAD says of it.

    `inertia` is None for a body declared massless, and for one whose inertia is not known.
    """

    name: str
    frame: Frame
    inertia: CadInertia | None = None
    massless: bool = False
    color: str | None = None
    shapes: tuple[Shape, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Point:
    """A named point fixed in a body, in the body's frame."""

    name: str
    body: str
    local: Vec3
    expr: Expr3 | None = None
    source: str = ""


@dataclass(frozen=True)
class Limit:
    """Range of one joint coordinate (m or rad); None means no limit on that side."""

    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True)
class Joint:
    """A joint between `body_a` and `body_b`, with a frame fixed in each (see NOTATION.md)."""

    name: str
    type: JointType
    body_a: str
    body_b: str
    frame_a: Frame
    frame_b: Frame
    pitch: float = 0.0
    limits: tuple[Limit, ...] = ()
    hidden: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        """Reject an unknown kind."""
        if self.type not in JOINT_KINDS:
            raise ModelError(
                f"joint {self.name}: unknown joint type {self.type!r}",
                path=("joints", self.name),
                remedy=f"choose one of: {', '.join(JOINT_KINDS)}",
            )

    @property
    def kind(self) -> JointKind:
        """The common properties of this type of joint."""
        return JOINT_KINDS[self.type]


@dataclass(frozen=True)
class JointCoordinate:
    """Independent coordinate: coordinate number `index` of a joint.

    Of an orientation, index counts roll, pitch, yaw after the translations (`JointKind.choices`).
    A coordinate that is `held` stands still in every motion, where it is at home; its force may be
    measured all the same.
    """

    name: str
    joint: str
    index: int
    force: str
    unit: str
    held: bool = False


@dataclass(frozen=True)
class PointCoordinate:
    """Independent coordinate: position of a point of a body along a fixed direction, in the ground
    frame; the force acts on the point in that direction."""

    name: str
    point: Point
    direction: Vec3
    force: str
    unit: str = "m"
    held: bool = False


@dataclass(frozen=True)
class DistanceCoordinate:
    """Independent coordinate: distance between two points; the force pushes them apart."""

    name: str
    point_a: Point
    point_b: Point
    force: str
    unit: str = "m"
    held: bool = False


IndependentCoordinate: TypeAlias = JointCoordinate | PointCoordinate | DistanceCoordinate


def force_unit(coordinate: IndependentCoordinate) -> str:
    """Return the unit of the force on a coordinate: N or N m."""
    return "N" if coordinate.unit == "m" else "N m"


Value: TypeAlias = Coefficient | tuple[Coefficient, ...] | float | tuple[float, ...]


@dataclass(frozen=True)
class Part:
    """The values of an element by the keys of its kind: of all of it, or of one motor.

    `ratios` are the factors of the element's coordinates in the angle of a motor.
    """

    name: str
    values: tuple[tuple[str, Value], ...]
    ratios: tuple[float, ...] = ()

    def __getitem__(self, key: str) -> Any:
        """Return the value of a key."""
        return dict(self.values)[key]


@dataclass(frozen=True)
class TimeHistory:
    """A factor over time: an expression of t (s), or a table with what is between its samples."""

    expression: str = ""
    time: tuple[float, ...] = ()
    factor: tuple[float, ...] = ()
    interpolation: Literal["linear", "cubic", "hold"] = "linear"


@dataclass(frozen=True)
class ForceElement:
    """A force element of a kind of `element_kinds.ELEMENT_KINDS`, which says what it does.

    Attributes
    ----------
    name, kind : str
    parts : tuple of Part
        One, of the element's name; a transmission has one for each motor.
    points : tuple of Point
        Two that the element connects, or the one where a force acts.
    coordinates : tuple of (str, int)
        Joint coordinates that it acts on.
    body : str
        Body that a moment acts on.
    direction : tuple of float, optional
        Of a force or moment, with axes fixed in the body `axes_of`.
    history : TimeHistory, optional
        Factor over time of a load.
    """

    name: str
    kind: str
    parts: tuple[Part, ...]
    points: tuple[Point, ...] = ()
    coordinates: tuple[tuple[str, int], ...] = ()
    body: str = GROUND
    direction: Vec3 | None = None
    axes_of: str = GROUND
    history: TimeHistory | None = None

    def __getitem__(self, key: str) -> Any:
        """Return the value of a key of an element of one part."""
        return self.parts[0][key]


@dataclass(frozen=True)
class Coupling:
    """Linear relation between joint coordinates: the sum of factor × coordinate is constant.

    A gear pair, belt, rack and pinion, differential or mimic joint. Terms are (joint, number of the
    coordinate, factor); orientations cannot be coupled. Without `constant` (m or rad, the unit of
    the first coordinate) the sum has the value of the reference pose. `exprs` are the factors as
    the model file wrote them, if it did so with named parameters.
    """

    name: str
    terms: tuple[tuple[str, int, float], ...]
    constant: float | None = None
    exprs: tuple[str | None, ...] | None = None


@dataclass(frozen=True)
class DistanceConstraint:
    """Constant distance (m) between points of two bodies, as a massless rod would hold it."""

    name: str
    point_a: Point
    point_b: Point
    length: float
    expr: str | None = None


Constraint: TypeAlias = Coupling | DistanceConstraint


@dataclass(frozen=True)
class Start:
    """Initial values and speeds of independent coordinates; those not named are as in the assembled
    reference pose, at rest."""

    positions: tuple[tuple[str, float], ...] = ()
    speeds: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class NamedBaseSet:
    """A choice of dependent parameters with a name, as published or as used before."""

    name: str
    dependent: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True, repr=False)
class Mechanism(Plotted, Tabular):
    """A mechanism, whole and checked. Nothing modifies it; every stage takes it as input.

    Attributes
    ----------
    name, title, source : str
    gravity : (x, y, z)
        Weight per unit mass, m/s², ground axes.
    bodies : tuple of Body
        Moving bodies; the ground is not among them.
    joints : tuple of Joint
    coordinates : tuple of IndependentCoordinate
        In the order of the columns of y and τ.
    elements : tuple of ForceElement
        Springs, dampers, friction, transmissions, loads.
    points : tuple of Point
    parameters : tuple of Parameter
        Named lengths, angles and other numbers.
    cut : tuple of str, optional
        Joints that are to be cut; by default the program chooses.
    start : Start
        Initial state of simulations.
    base_sets : tuple of NamedBaseSet
    constraints : tuple of Constraint
        Couplings of joint coordinates and other constraints besides the joints.
    """

    name: str
    gravity: Vec3
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    coordinates: tuple[IndependentCoordinate, ...]
    elements: tuple[ForceElement, ...] = ()
    points: tuple[Point, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    cut: tuple[str, ...] | None = None
    start: Start = Start()
    title: str = ""
    source: str = ""
    base_sets: tuple[NamedBaseSet, ...] = ()
    constraints: tuple[Constraint, ...] = ()

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        """The constraints that are linear relations between joint coordinates."""
        return tuple(c for c in self.constraints if isinstance(c, Coupling))

    @property
    def distances(self) -> tuple[DistanceConstraint, ...]:
        """The constraints that hold the distance of two points."""
        return tuple(c for c in self.constraints if isinstance(c, DistanceConstraint))

    def __hash__(self) -> int:
        """Return the hash of all fields, computed once: models are looked up by it all the time."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, f.name) for f in fields(self)))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs; hashes of text differ between processes."""
        return {k: v for k, v in self.__dict__.items() if k != "_hash"}

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        return {
            "name": f"{self.name}: {self.title}" if self.title else self.name,
            "bodies": self.bodies,
            "joints": [f"{joint.name} ({joint.kind.letter})" for joint in self.joints],
            "coordinates": [f"{c.name} ({c.unit})" for c in self.coordinates],
            "constraints": self.constraints,
            "elements": self.elements,
            "gravity": f"{self.gravity} m/s²",
        }

    def body(self, name: str) -> Body:
        """Return the body of this name (the ground included)."""
        return GROUND_BODY if name == GROUND else _named("bodies", self.bodies, name)

    def joint(self, name: str) -> Joint:
        """Return the joint of this name."""
        return _named("joints", self.joints, name)

    def point(self, name: str, body: str | None = None) -> Point:
        """Return a named point, as fixed in `body` if several bodies share it."""
        for point in self.points:
            if point.name == name and body in (None, point.body):
                return point
        raise _unknown("points", name, self.points)


GROUND_BODY = Body(GROUND, IDENTITY)


_T = TypeVar("_T", Body, Joint)


def _named(what: str, items: tuple[_T, ...], name: str) -> _T:
    for item in items:
        if item.name == name:
            return item
    raise _unknown(what, name, items)


def _unknown(what: str, name: str, items: Iterable[Body | Joint | Point]) -> ModelError:
    known = ", ".join(dict.fromkeys(item.name for item in items))
    return ModelError(f"there is no '{name}' among the {what}", remedy=f"choose one of: {known}")


def checked_mechanism(model: Any) -> Mechanism:
    """Return a mechanism, or that of what was compiled from one.

    Raises
    ------
    ModelError
        If it is neither.
    """
    found = getattr(model, "mechanism", model)
    if not isinstance(found, Mechanism):
        raise ModelError(
            f"model must be a Mechanism, got {type(model).__name__}",
            remedy='load it, as mechid.load("four_bar")',
        )
    return found
