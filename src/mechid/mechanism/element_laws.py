"""Force elements and their laws, written down once.

A force element acts on *measures*: scalars s of the pose such as a length or a joint coordinate.
Each of its coefficients is a *term*: the coefficient times a *law*, a given function of s, ṡ or s̈.
What the actuators have to supply for a term is coefficient × law × ∂s/∂y, so a term has a column
of the observation matrix, a force, and where its law has one an energy.

`LAWS` says of every law which derivative it takes, its unit and how it grows; `law_value`,
`law_slope` and `law_potential` say what it is. They are plain functions of numbers that Numba can
compile and ball arithmetic can run. `ELEMENT_KINDS` says of every element how it is attached, which
keys it has in a file, and its terms. Nothing else in the package knows an element or a law by name.

Measures
--------
======================================  =======================================================
("length", point_a, point_b)            distance of two points
("joint", joint, index)                 a joint coordinate
("slide", joint, k)                     displacement of frame b along axis k of frame a
("dot", joint, i, j)                    axis i of frame a times axis j of frame b
("force", point, vector, axes_of)       motion of a point along a vector (its rate only)
("moment", body, vector, axes_of)       turning of a body about a vector (its rate only)
("sum", (measure, factor), …)           a sum of these
======================================  =======================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb, inf
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from mechid.mechanism.records import Coefficient, ForceElement, Part, Value

Measure: TypeAlias = tuple[Any, ...]
Shape: TypeAlias = tuple[float, float, float, float]
LOADS = ("force", "moment")  # measures that have a rate only

# ---------------------------------------------------------------------- laws

CONSTANT, SPRING, SLOPE, DAMPER, SPEED_SLOPE, FRICTION, INERTIA, LOAD = range(8)


@dataclass(frozen=True)
class Law:
    """What holds for a law whatever its numbers are.

    Attributes
    ----------
    order : int
        It is a function of s (0), ṡ (1) or s̈ (2).
    unit : str
        Of its coefficient, with F for a force or moment, x for the unit of s and n for a power.
    degree : int or None
        It grows like this power of its argument; None: like shape[1].
    """

    order: int
    unit: str
    degree: int | None


LAWS: tuple[Law, ...] = (
    Law(0, "F", 0),  # CONSTANT: -1, a preload
    Law(0, "F/xn", None),  # SPRING: (s - a)^b
    Law(0, "F/x", 1),  # SLOPE: the part of s - a between b and c, none at s = a
    Law(1, "F sn/xn", None),  # DAMPER: |ṡ|^(b-1) ṡ
    Law(1, "F s/x", 1),  # SPEED_SLOPE: as SLOPE, of ṡ
    Law(1, "F", 0),  # FRICTION: sign ṡ, or tanh(ṡ/a); times exp(-(|ṡ|/b)^c); where d ṡ ≥ 0 only
    Law(2, "kg m²", 1),  # INERTIA: s̈
    Law(1, "F", 0),  # LOAD: -1, a force from outside: it has a power and no energy
)
_POWERS = ("", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹")
MAX_POWER = len(_POWERS)


def law_value(law: int, x: Any, a: Any, b: float, c: float, d: float) -> Any:
    """Return the law at x (s, ṡ or s̈, as its order says)."""
    if law == SPRING:
        y = x - a
        out = y
        for _ in range(int(b) - 1):
            out = out * y
        return out
    if law == SLOPE or law == SPEED_SLOPE:  # noqa: SIM109 (tuples are slow in kernels)
        y, rest = x - a, min(max(0.0, b), c)
        if y < b:
            return b - rest
        if y > c:
            return c - rest
        return y - rest
    if law == DAMPER:
        out = x
        for _ in range(int(b) - 1):
            out = out * abs(x)
        return out
    if law == FRICTION:
        if d * x < 0.0:
            return 0.0
        out = np.tanh(x / a) if a > 0.0 else 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0
        if b > 0.0:
            out = out * np.exp(-((abs(x) / b) ** c))
        return out
    if law == INERTIA:
        return x
    return -1.0


def law_slope(law: int, x: float, a: float, b: float, c: float, d: float) -> float:
    """Return the derivative of the law by its argument."""
    if law == SPRING or law == DAMPER:  # noqa: SIM109
        y = x - a if law == SPRING else abs(x)
        out = b
        for _ in range(int(b) - 1):
            out = out * y
        return out
    if law == SLOPE or law == SPEED_SLOPE:  # noqa: SIM109
        return 1.0 if b < x - a < c else 0.0
    if law == FRICTION:
        if d * x < 0.0:
            return 0.0
        value = np.tanh(x / a) if a > 0.0 else 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0
        slope = (1.0 - value * value) / a if a > 0.0 else 0.0
        if b > 0.0 and x != 0.0:
            grown = (abs(x) / b) ** c
            slope = (slope - value * c * grown / x) * np.exp(-grown)
        return float(slope)
    if law == INERTIA:
        return 1.0
    return 0.0


def law_potential(law: int, s: float, a: float, b: float, c: float, d: float) -> float:
    """Return the energy that a unit of the coefficient stores, for laws of order 0."""
    y = s - a
    if law == SPRING:
        out = y / (b + 1.0)
        for _ in range(int(b)):
            out = out * y
        return out
    if law == SLOPE:
        rest, part = min(max(0.0, b), c), min(max(y, b), c)
        return 0.5 * part * part + part * (y - part) + 0.5 * rest * rest - rest * y
    return -s


def unit_text(pattern: str, angular: bool, power: int = 1) -> str:
    """Return a unit with F and x those of a force and a length, or of a moment and an angle.

    n is a power, such as 2 in N/m².
    """
    force, unit = ("N m", "rad") if angular else ("N", "m")
    words = {"F": force, "x": unit, "n": _POWERS[power - 1]}
    return "".join(words.get(letter, letter) for letter in pattern)


def law_unit(law: int, shape: Shape, angular: bool) -> str:
    """Return the unit of the coefficient of a law."""
    return unit_text(LAWS[law].unit, angular, max(law_degree(law, shape), 1))


def law_degree(law: int, shape: Shape) -> int:
    """Return the power of its argument with which a law grows."""
    degree = LAWS[law].degree
    return int(shape[1]) if degree is None else degree


def law_functions(law: int, shape: Shape, exact: Callable[[float], Any]) -> dict[Any, Any]:
    """Return a law as a sum of functions that are independent of each other, with factors.

    Terms on the same measure whose sums vanish cannot be told apart. `exact` turns a number of
    the shape into one without rounding.
    """
    a, b, c, d = shape
    if law == SPRING:
        n, offset = int(b), -exact(a)
        return {("s", j): comb(n, j) * offset ** (n - j) for j in range(n + 1)}
    if law == DAMPER:
        return {("v", int(b)): 1}
    if law in (SLOPE, SPEED_SLOPE):
        # x + (b - x)⁺ - (x - c)⁺ - rest, with (b - x)⁺ = (x - b)⁺ - x + b
        letter, offset, rest = "s" if law == SLOPE else "v", exact(a), min(max(0.0, b), c)
        out: dict[Any, Any] = {(letter, 1): 0, ("s", 0): -exact(rest)}
        if b > -inf:
            out |= {(letter, "beyond", offset + exact(b)): 1}
            out["s", 0] += exact(b)
        else:
            out[letter, 1] += 1
            out["s", 0] -= offset
        return out | ({(letter, "beyond", offset + exact(c)): -1} if c < inf else {})
    if law == FRICTION:
        sides = (d,) if d else (1.0, -1.0)
        return {("dry", side, a, b, c if b else 0.0): 1 for side in sides}
    if law in (CONSTANT, LOAD):
        return {("s", 0): -1}
    if law == INERTIA:
        return {("a",): 1}
    return {(law, *shape): 1}


# ---------------------------------------------------------------------- terms

NO_SHAPE: Shape = (0.0, 0.0, 0.0, 0.0)
LINEAR: Shape = (0.0, 1.0, 0.0, 0.0)


class Term(NamedTuple):
    """One coefficient of a force element: what it takes of which measure.

    `angular` is None where the unit of a joint coordinate decides; `positive` says that the
    coefficient cannot be negative.
    """

    name: str
    coefficient: Coefficient
    measure: Measure
    law: int
    shape: Shape = NO_SHAPE
    positive: bool = True
    angular: bool | None = None


Terms: TypeAlias = Iterator[Term]
Measures: TypeAlias = tuple[Measure, ...]
Attachment: TypeAlias = Literal["points", "joint", "line", "frames", "motors", "force", "moment"]
Form: TypeAlias = Literal["coefficient", "coefficients", "number", "numbers"]
Image: TypeAlias = Literal["same", "negative", "even", "reversed", "negative reversed"]


class Fault(NamedTuple):
    """What is wrong with a value of an element: which key, in words, what to do."""

    key: str
    text: str
    remedy: str


@dataclass(frozen=True)
class Key:
    """A key of an element in a file.

    Attributes
    ----------
    name : str
    unit : str
        Of its SI value, as in `unit_text`; n counts the entries of a list from 1. Empty: a plain
        number.
    text : str
        What else the schema says.
    default : float, tuple or None
        Of a key that is left out. None: zero, but only where nothing acts of the key `with_`.
    form : str
        A coefficient (known or to identify) or a given number; one or a list.
    over : str
        The parameter is this value times that of another key: their errors are independent.
    image : str
        What becomes of it where a mirror image counts the joint coordinate the other way. "even":
        every second entry of a list, those of even powers, changes its sign.
    swap : str
        Key whose value it takes then.
    """

    name: str
    unit: str
    text: str = ""
    default: float | tuple[float, ...] | None = 0.0
    form: Form = "coefficient"
    with_: str = ""
    over: str = ""
    image: Image = "same"
    swap: str = ""

    @property
    def description(self) -> str:
        """Unit and meaning."""
        units = dict.fromkeys(unit_text(self.unit, angular) for angular in (False, True))
        words = " or ".join(units)
        return f"{words}: {self.text}" if self.text else words


@dataclass(frozen=True)
class ElementKind:
    """One type of force element.

    Attributes
    ----------
    text : str
        What it is, for the schema.
    attachment : str
        ========  ======================================  ===============================
        points    two points                              their distance
        joint     a joint coordinate                      the coordinate
        line      one or the other                        one or the other
        frames    the two frames of a joint, of any kind  three displacements, three turns
        motors    several joint coordinates               a sum of them for each motor
        force     a point of a body, and a direction      motion of the point
        moment    a body, and a direction                 turning of the body
        ========  ======================================  ===============================
    keys : tuple of Key
        Its values, of each motor where there are several.
    terms : function
        Terms of one part on its measures.
    drawn : str
        How it is drawn: spring, turn, load, or "" for no picture.
    fault : function
        Says what is wrong with the values of a part, if anything is.
    timed : bool
        Whether its size may be a function of time: all its laws are LOAD.
    """

    text: str
    attachment: Attachment
    keys: tuple[Key, ...]
    terms: Callable[[Part, Measures], Terms]
    drawn: str = ""
    fault: Callable[[Part], Fault | None] = lambda part: None
    timed: bool = False


# ---------------------------------------------------------------------- springs and dampers


def _spring(free: str) -> Callable[[Part, Measures], Terms]:
    def terms(part: Part, measures: Measures) -> Terms:
        """Yield stiffness, preload k·s0 and damping of a spring.

        The preload is a column of its own when either factor is to be identified, unless the free
        length is known: then the stiffness column takes s - s0.
        """
        k, length, name = part["stiffness"], part[free], part.name
        fixed = not length.identify and length.value is not None
        offset = float(length.value) if fixed else 0.0
        yield Term(f"k_{name}", k, measures[0], SPRING, (offset, 1.0, 0.0, 0.0))
        if not fixed and acts(k):
            known = k.value is not None and length.value is not None
            preload = Coefficient(k.value * length.value if known else None, identify=True)
            yield Term(f"preload_{name}", preload, measures[0], CONSTANT, positive=False)
        yield Term(f"c_{name}", part["damping"], measures[0], DAMPER, LINEAR)

    return terms


def _polynomial(part: Part, measures: Measures) -> Terms:
    """Yield k1 (s - s0) + k2 (s - s0)² + …, then c1 ṡ + c2 |ṡ| ṡ + …"""
    for n, k in enumerate(part["stiffness"], start=1):
        shape = (part["free"], float(n), 0.0, 0.0)
        yield Term(f"k{n}_{part.name}", k, measures[0], SPRING, shape, positive=n == 1)
    yield Term(f"preload_{part.name}", part["preload"], measures[0], CONSTANT, positive=False)
    for n, c in enumerate(part["damping"], start=1):
        shape = (0.0, float(n), 0.0, 0.0)
        yield Term(f"c{n}_{part.name}", c, measures[0], DAMPER, shape, positive=n == 1)


def _polynomial_fault(part: Part) -> Fault | None:
    for key in ("stiffness", "damping"):
        if len(part[key]) > MAX_POWER:
            return Fault(key, f"{len(part[key])} powers", f"give at most {MAX_POWER}")
    return None


def _piecewise(part: Part, measures: Measures) -> Terms:
    """Yield slopes between knots, of s - s0 and of ṡ; the force is none at s0, and at rest."""
    at = (*zip(_bounds(part["knots"]), part["stiffness"], strict=False),)
    for i, ((low, high), k) in enumerate(at, start=1):
        yield Term(f"k{i}_{part.name}", k, measures[0], SLOPE, (part["free"], low, high, 0.0))
    yield Term(f"preload_{part.name}", part["preload"], measures[0], CONSTANT, positive=False)
    at = (*zip(_bounds(part["speed_knots"]), part["damping"], strict=False),)
    for i, ((low, high), c) in enumerate(at, start=1):
        yield Term(f"c{i}_{part.name}", c, measures[0], SPEED_SLOPE, (0.0, low, high, 0.0))


def _bounds(knots: tuple[float, ...]) -> Iterator[tuple[float, float]]:
    return pairwise((-inf, *knots, inf))


def _piecewise_fault(part: Part) -> Fault | None:
    for knots, slopes in (("knots", "stiffness"), ("speed_knots", "damping")):
        x, n = part[knots], len(part[slopes])
        if any(a >= b for a, b in pairwise(x)):
            return Fault(knots, "the knots do not increase", "sort them, each once")
        if n != len(x) + 1 and (n or x):
            text = f"{len(x)} knots divide {len(x) + 1} slopes, got {n}"
            return Fault(slopes, text, "give one slope more than knots")
    return None


_AXES = ("x", "y", "z", "rx", "ry", "rz")


def _bushing(part: Part, measures: Measures) -> Terms:
    laws = (("k", "stiffness", SPRING), ("preload", "preload", CONSTANT), ("c", "damping", DAMPER))
    for word, key, law in laws:
        for i, value in enumerate(part[key]):
            name, positive = f"{word}_{_AXES[i]}_{part.name}", law != CONSTANT
            yield Term(name, value, measures[i], law, LINEAR, positive, angular=i > 2)


def _bushing_fault(part: Part) -> Fault | None:
    for key in ("stiffness", "damping", "preload"):
        if len(part[key]) not in (0, len(_AXES)):
            text = f"expected six values, got {len(part[key])}"
            return Fault(key, text, f"give them in the order {', '.join(_AXES)}")
    return None


# ---------------------------------------------------------------------- friction and motors


def _friction(part: Part, measures: Measures) -> Terms:
    name, s, smooth = part.name, measures[0], part["smoothing"]
    drop = (smooth, part["stribeck_speed"], part["stribeck_exponent"], 0.0)
    yield Term(f"viscous_{name}", part["viscous"], s, DAMPER, LINEAR)
    yield Term(f"coulomb_{name}", part["coulomb"], s, FRICTION, (smooth, 0.0, 0.0, 0.0))
    for word, side in (("positive", 1.0), ("negative", -1.0)):
        key, shape = f"coulomb_{word}", (smooth, 0.0, 0.0, side)
        yield Term(f"{key}_{name}", part[key], s, FRICTION, shape)
    yield Term(f"stribeck_{name}", part["stribeck"], s, FRICTION, drop, positive=False)


def _friction_fault(part: Part) -> Fault | None:
    sided = acts(part["coulomb_positive"]) or acts(part["coulomb_negative"])
    if acts(part["coulomb"]) and sided:
        text = "coulomb and coulomb of one direction exclude each other"
        return Fault("coulomb", text, "give coulomb, or coulomb_positive and coulomb_negative")
    if acts(part["stribeck"]) and not part["stribeck_speed"] > 0:
        text = f"stribeck_speed must be > 0, got {part['stribeck_speed']:g}"
        return Fault("stribeck_speed", text, "give the speed at which the drop is 1/e")
    for key in ("stribeck_exponent", "smoothing"):
        if part[key] < 0:
            return Fault(key, f"{key} must be ≥ 0, got {part[key]:g}", "give a positive number")
    return None


def _motor(part: Part, measures: Measures) -> Terms:
    name, s = part.name, measures[0]
    yield Term(f"inertia_{name}", part["inertia"], s, INERTIA, angular=True)
    yield Term(f"viscous_{name}", part["viscous"], s, DAMPER, LINEAR, angular=True)
    yield Term(f"coulomb_{name}", part["coulomb"], s, FRICTION, angular=True)


# ---------------------------------------------------------------------- loads


def _load(part: Part, measures: Measures) -> Terms:
    kind, value = measures[0][0], part["magnitude"]
    angular = kind == "moment"
    yield Term(f"{kind}_{part.name}", value, measures[0], LOAD, positive=False, angular=angular)


def _joint_force(part: Part, measures: Measures) -> Terms:
    yield Term(f"force_{part.name}", part["force"], measures[0], LOAD, positive=False)


# ---------------------------------------------------------------------- the table

UNIT = Coefficient(1.0)  # magnitude of a load whose direction has its size
_MAGNITUDE = Key("magnitude", "F", "along direction", 1.0)
_FREE = Key(
    "free", "x", "where the spring is at rest", None, "number", "stiffness", image="negative"
)
_PRELOAD = Key("preload", "F", image="negative")

ELEMENT_KINDS: Mapping[str, ElementKind] = MappingProxyType(
    {
        "spring_damper": ElementKind(
            "Spring and damper along the line between two points: pushing force "
            "-k (s - s0) - c ṡ, with s their distance.",
            "points",
            (
                Key("stiffness", "F/x"),
                Key("free_length", "x", default=None, with_="stiffness", over="stiffness"),
                Key("damping", "F s/x"),
            ),
            _spring("free_length"),
            "spring",
        ),
        "torsion_spring": ElementKind(
            "Spring and damper on a joint coordinate: generalised force -k (q - q0) - c q̇.",
            "joint",
            (
                Key("stiffness", "F/x"),
                Key("free_angle", "x", over="stiffness", image="negative"),
                Key("damping", "F s/x"),
            ),
            _spring("free_angle"),
            "turn",
        ),
        "polynomial_spring_damper": ElementKind(
            "Spring and damper whose force is a polynomial: preload - k1 x - k2 x² - … "
            "- c1 ṡ - c2 |ṡ| ṡ - …, with x = s - free, between two points or on a joint "
            "coordinate.",
            "line",
            (
                Key("stiffness", "F/xn", "of powers 1, 2, …", (), "coefficients", image="even"),
                _FREE,
                _PRELOAD,
                Key("damping", "F sn/xn", "of powers 1, 2, …", (), "coefficients"),
            ),
            _polynomial,
            "spring",
            _polynomial_fault,
        ),
        "piecewise_spring_damper": ElementKind(
            "Spring and damper whose force consists of straight lines over s - free and over ṡ, "
            "between two points or on a joint coordinate: bump stops, digressive dampers.",
            "line",
            (
                Key("stiffness", "F/x", "slopes", (), "coefficients", image="reversed"),
                _FREE,
                Key("knots", "x", "of s - free", (), "numbers", image="negative reversed"),
                _PRELOAD,
                Key("damping", "F s/x", "slopes", (), "coefficients", image="reversed"),
                Key("speed_knots", "x/s", "of ṡ", (), "numbers", image="negative reversed"),
            ),
            _piecewise,
            "spring",
            _piecewise_fault,
        ),
        "bushing": ElementKind(
            "Linear spring-damper in six components between the two frames of a joint, which may "
            "be free: displacements along the axes of frame a, and the skew part of the relative "
            "rotation.",
            "frames",
            (
                Key("stiffness", "F/x", "x, y, z, rx, ry, rz", (), "coefficients"),
                Key("preload", "F", "as stiffness", (), "coefficients", image="negative"),
                Key("damping", "F s/x", "as stiffness", (), "coefficients"),
            ),
            _bushing,
            "turn",
            _bushing_fault,
        ),
        "friction": ElementKind(
            "Friction on a joint coordinate: -viscous q̇ - coulomb sign(q̇) "
            "- stribeck exp(-(|q̇|/stribeck_speed)^stribeck_exponent) sign(q̇).",
            "joint",
            (
                Key("viscous", "F s/x"),
                Key("coulomb", "F"),
                Key("coulomb_positive", "F", "while q̇ > 0", swap="coulomb_negative"),
                Key("coulomb_negative", "F", "while q̇ < 0", swap="coulomb_positive"),
                Key("stribeck", "F"),
                Key("stribeck_speed", "x/s", "", 0.0, "number"),
                Key("stribeck_exponent", "", "power of the speed", 2.0, "number"),
                Key("smoothing", "x/s", "tanh(q̇/smoothing) for sign(q̇)", 0.0, "number"),
            ),
            _friction,
            fault=_friction_fault,
        ),
        "transmission": ElementKind(
            "Motors coupled to joint coordinates: motor speeds = matrix · joint speeds.",
            "motors",
            (Key("inertia", "kg m²"), Key("viscous", "F s/x"), Key("coulomb", "F")),
            _motor,
        ),
        "force": ElementKind(
            "A force at a point of a body.", "force", (_MAGNITUDE,), _load, "load", timed=True
        ),
        "moment": ElementKind(
            "A moment on a body.", "moment", (_MAGNITUDE,), _load, "load", timed=True
        ),
        "joint_force": ElementKind(
            "A force or moment on a joint coordinate, such as the offset of an actuator.",
            "joint",
            (Key("force", "F", image="negative"),),
            _joint_force,
            timed=True,
        ),
    }
)


def element_kind(element: ForceElement) -> ElementKind:
    """Return the entry of an element in the table."""
    return ELEMENT_KINDS[element.kind]


def measures_of(element: ForceElement, part: Part) -> Measures:
    """Return what a part of an element acts on."""
    match element_kind(element).attachment:
        case "points" | "joint" | "line":
            if element.points:
                return (("length", *element.points),)
            return (("joint", *element.coordinates[0]),)
        case "frames":
            return frame_measures(element.coordinates[0][0])
        case "force":
            return (("force", element.points[0], element.direction, element.axes_of),)
        case "moment":
            return (("moment", element.body, element.direction, element.axes_of),)
        case "motors":
            pairs = zip(element.coordinates, part.ratios, strict=True)
            return (("sum", *((("joint", *c), ratio) for c, ratio in pairs)),)


def frame_measures(joint: str) -> Measures:
    """Return displacements and turns of the two frames of a joint against each other.

    The turns are those of the vector ½ (R_ab - R_abᵀ)ᵛ = sin θ n: polynomials in the rotation
    matrix, equal to the angles to second order, and good for less than 90°.
    """
    slides = tuple(("slide", joint, k) for k in range(3))
    turns = tuple(
        ("sum", (("dot", joint, i, j), 0.5), (("dot", joint, j, i), -0.5))
        for i, j in ((2, 1), (0, 2), (1, 0))
    )
    return (*slides, *turns)


def terms_of(element: ForceElement) -> Iterator[tuple[Part, Term]]:
    """Yield the terms of an element but those that are absent or known to be zero.

    Loads over time have none: their size is no constant.
    """
    kind = element_kind(element)
    if element.history is not None:
        return
    for part in element.parts:
        for term in kind.terms(part, measures_of(element, part)):
            if acts(term.coefficient):
                yield part, term


def acts(value: Value) -> bool:
    """Return whether a value of a key, or any of a list, is more than zero that is known."""
    if isinstance(value, tuple):
        return any(acts(x) for x in value)
    return value.identify or bool(value.value) if isinstance(value, Coefficient) else bool(value)


def mirrored(kind: ElementKind, part: Part) -> Part:
    """Return the values of a part on a joint coordinate that is counted the other way."""

    def negative(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(negative(x) for x in value)
        if isinstance(value, Coefficient):
            return value if value.value is None else replace(value, value=0.0 - value.value)
        return 0.0 - value

    values = []
    for key in kind.keys:
        value = part[key.swap or key.name]
        match key.image:
            case "negative":
                value = negative(value)
            case "even":
                value = tuple(negative(x) if i % 2 else x for i, x in enumerate(value))
            case "reversed":
                value = value[::-1]
            case "negative reversed":
                value = negative(value[::-1])
        values.append((key.name, value))
    return replace(part, values=tuple(values))


def reads_angle(element: ForceElement) -> Iterator[str]:
    """Yield the joints whose coordinate itself, not only its rate, an element takes."""
    for _, term in terms_of(element):
        if term.measure[0] == "joint" and LAWS[term.law].order == 0 and term.law != CONSTANT:
            yield term.measure[1]


def measure_parts(measure: Measure) -> list[tuple[Measure, float]]:
    """Return a measure as a sum of plain ones with factors."""
    if measure[0] == "sum":
        return [(key, float(factor)) for key, factor in measure[1:] if factor]
    return [(measure, 1.0)]
