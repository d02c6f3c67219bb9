"""Force elements, written down once: how each is attached, its keys in a file, and its terms.

Terms are coefficients with a law of `element_laws` on a measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from mechid.mechanism.element_laws import (
    CONSTANT,
    DAMPER,
    FRICTION,
    HYSTERESIS,
    INERTIA,
    LINEAR,
    LOAD,
    MAX_POWER,
    NO_SHAPE,
    SLOPE,
    SPEED_SLOPE,
    SPRING,
    Measure,
    Shape,
    unit_text,
)
from mechid.mechanism.records import Coefficient, Part, Value


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


def acts(value: Value) -> bool:
    """Return whether a value of a key, or any of a list, is more than zero that is known."""
    if isinstance(value, tuple):
        return any(acts(x) for x in value)
    return value.identify or bool(value.value) if isinstance(value, Coefficient) else bool(value)


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
    width = (part["hysteresis_width"], 0.0, 0.0, 0.0)
    yield Term(f"hysteresis_{name}", part["hysteresis"], s, HYSTERESIS, width)


def _friction_fault(part: Part) -> Fault | None:
    sided = acts(part["coulomb_positive"]) or acts(part["coulomb_negative"])
    if acts(part["coulomb"]) and sided:
        text = "coulomb and coulomb of one direction exclude each other"
        return Fault("coulomb", text, "give coulomb, or coulomb_positive and coulomb_negative")
    if acts(part["stribeck"]) and not part["stribeck_speed"] > 0:
        text = f"stribeck_speed must be > 0, got {part['stribeck_speed']:g}"
        return Fault("stribeck_speed", text, "give the speed at which the drop is 1/e")
    if acts(part["hysteresis"]) and not part["hysteresis_width"] > 0:
        text = f"hysteresis_width must be > 0, got {part['hysteresis_width']:g}"
        return Fault("hysteresis_width", text, "give the travel in which friction turns")
    if not 0.0 <= part["load"] < 1.0:
        text = f"load must be ≥ 0 and < 1, got {part['load']:g}"
        return Fault("load", text, "give the friction over the force that the drive transmits")
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
            "- stribeck exp(-(|q̇|/stribeck_speed)^stribeck_exponent) sign(q̇) - hysteresis h, with "
            "dh/dq = (1 - h sign(q̇)) / hysteresis_width along a path (Dahl) - load |L| sign(q̇), L "
            "being what the drive of the joint has to supply for all the rest.",
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
                Key("hysteresis", "F", "after a long way in one direction"),
                Key("hysteresis_width", "x", "travel to 1 - 1/e of it, from 0", 0.0, "number"),
                Key("load", "", "friction over the force that a drive transmits", 0.0, "number"),
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
