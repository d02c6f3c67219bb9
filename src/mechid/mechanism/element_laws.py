"""Laws of force elements, written down once.

A force element acts on *measures*: scalars s of the pose such as a length or a joint coordinate.
Each of its coefficients is a *term*: the coefficient times a *law*, a given function of s, ṡ or s̈.
What the actuators have to supply for a term is coefficient × law × ∂s/∂y, so a term has a column
of the observation matrix, a force, and where its law has one an energy.

`LAWS` says of every law which derivative it takes, its unit and how it grows; `law_value`,
`law_slope` and `law_potential` say what it is. They are plain functions of numbers that Numba can
compile and ball arithmetic can run. Hysteresis depends on the path before: here stands what a state
alone has, and `dynamics.hysteresis` puts what the path says in its place wherever there is one.
Which element has which terms is said in `element_kinds`.
Nothing else in the package knows an element or a law by name.

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

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, inf
from typing import Any, TypeAlias

import numpy as np

Measure: TypeAlias = tuple[Any, ...]
Shape: TypeAlias = tuple[float, float, float, float]
NO_SHAPE: Shape = (0.0, 0.0, 0.0, 0.0)
LINEAR: Shape = (0.0, 1.0, 0.0, 0.0)
LOADS = ("force", "moment")  # measures that have a rate only

CONSTANT, SPRING, SLOPE, DAMPER, SPEED_SLOPE, FRICTION, INERTIA, LOAD, HYSTERESIS = range(9)


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
    Law(1, "F", 0),  # HYSTERESIS: of a state alone ṡ / (|ṡ| + a), with a width a per second
)
_POWERS = ("", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹")
MAX_POWER = len(_POWERS)


def in_pieces(law: int, shape: Shape) -> bool:
    """Tell whether a law is made of pieces, so that near one pose it may not show all of them."""
    uneven = law == DAMPER and shape[1] % 2 == 0  # |ṡ| ṡ
    return law in (SLOPE, SPEED_SLOPE, FRICTION, HYSTERESIS) or uneven


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
    if law == HYSTERESIS:
        return x / (abs(x) + a)
    return -1.0


def law_slope(law: int, x: Any, a: float, b: float, c: float, d: float) -> Any:
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
        return slope
    if law == INERTIA:
        return 1.0
    if law == HYSTERESIS:
        return a / ((abs(x) + a) * (abs(x) + a))
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


def measure_parts(measure: Measure) -> list[tuple[Measure, float]]:
    """Return a measure as a sum of plain ones with factors."""
    if measure[0] == "sum":
        return [(key, float(factor)) for key, factor in measure[1:] if factor]
    return [(measure, 1.0)]
