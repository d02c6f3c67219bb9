"""Units that a file declares, and the conversion of its numbers and expressions to SI.

Every number is converted where it is read, so that what follows sees SI only. A decimal number is
converted without rounding in between (250 mm is 0.25 m to the last digit), and an expression is
multiplied by a fraction and, for angles, by pi/180: it stays exact.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from mechid.modelfile.algebra import multiply
from mechid.textfile import expressions
from mechid.textfile.words import Words

# Sizes in SI; a degree is 1 here, and pi/180 is counted apart.
SIZES: Mapping[str, Mapping[str, Fraction]] = MappingProxyType(
    {
        "length": {
            "m": Fraction(1),
            "cm": Fraction("0.01"),
            "mm": Fraction("0.001"),
            "in": Fraction("0.0254"),
            "ft": Fraction("0.3048"),
        },
        "mass": {
            "kg": Fraction(1),
            "g": Fraction("0.001"),
            "t": Fraction(1000),
            "lb": Fraction("0.45359237"),
        },
        "time": {"s": Fraction(1), "ms": Fraction("0.001")},
        "angle": {"rad": Fraction(1), "deg": Fraction(1)},
        "force": {
            "N": Fraction(1),
            "mN": Fraction("0.001"),
            "kN": Fraction(1000),
            "kgf": Fraction("9.80665"),
            "lbf": Fraction("4.4482216152605"),
        },
    }
)
_DIMENSIONS = {"m": "length", "kg": "mass", "s": "time", "rad": "angle", "N": "force"}
_FACTOR = re.compile(r"(m|kg|s|rad|N)([²³⁴⁵⁶⁷⁸⁹]?)")
_POWERS = {"": 1, "²": 2, "³": 3, "⁴": 4, "⁵": 5, "⁶": 6, "⁷": 7, "⁸": 8, "⁹": 9}


class UnitsSpec(Words):
    """Units of the numbers in the file."""

    length: Literal["m", "cm", "mm", "in", "ft"] = "m"
    mass: Literal["kg", "g", "t", "lb"] = "kg"
    time: Literal["s", "ms"] = "s"
    angle: Literal["rad", "deg"] = "rad"
    force: Literal["N", "mN", "kN", "kgf", "lbf"] | None = Field(
        default=None, description="default: unit of mass · unit of length / unit of time²"
    )


@dataclass(frozen=True)
class Units:
    """Units of a file."""

    length: str = "m"
    mass: str = "kg"
    time: str = "s"
    angle: str = "rad"
    force: str | None = None

    @classmethod
    def of(cls, spec: UnitsSpec) -> Units:
        """Return the units that a file declares."""
        return cls(spec.length, spec.mass, spec.time, spec.angle, spec.force)

    def convert(self, scalar: float | str, unit: str) -> float | str:
        """Return a scalar as the file has it, in this SI unit ("" for a plain number).

        Raises
        ------
        ValueError
            If it is too large.
        """
        if self.angle == "deg" and isinstance(scalar, str):
            scalar = expressions.text_of(expressions.parse(scalar, degrees=True))
        return self.scale(scalar, unit)

    def scale(self, scalar: float | str, unit: str) -> float | str:
        """Return a scalar that was converted as a plain number, in this SI unit."""
        factor, turns = _factor(self, unit)
        if factor == 1 and not turns:
            return scalar
        tree = expressions.parse(scalar)
        number = _number(tree)
        if number is not None and (number == 0 or not turns):
            return _plain(number * factor)
        text = expressions.text_of(tree)
        pairs = [(str(factor.numerator), str(factor.denominator))]
        pairs += [("pi", "180") if turns > 0 else ("180", "pi")] * abs(turns)
        for times, over in pairs:
            text = multiply(text, times)
            if over != "1":
                text = expressions.text_of(expressions.parse(f"({text})/{over}"))
        return text

    def into(self, number: float, unit: str, other: Units) -> float:
        """Return a number with this SI unit, given in these units, in other ones (no angles)."""
        return _plain(Fraction(repr(number)) * _factor(self, unit)[0] / _factor(other, unit)[0])


SI = Units()


def _number(tree: ast.expr) -> Fraction | None:
    """Return the number that a tree is, if it is a plain one."""
    match tree:
        case ast.Constant(value=int() | float() as value):
            return Fraction(repr(value))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -Fraction(repr(value))
    return None


def _plain(number: Fraction) -> float:
    try:
        return int(number) if number.denominator == 1 else float(number)
    except OverflowError:
        raise ValueError("the number is out of range; check it") from None


@cache
def _factor(units: Units, unit: str) -> tuple[Fraction, int]:
    """Return the size of a unit of SI's place in the file, and how often pi/180 comes in."""
    size, turns = Fraction(1), 0
    above, _, below = unit.partition("/")
    for words, sign in ((above, 1), (below, -1)):
        for symbol, power in _FACTOR.findall(words):
            n = sign * _POWERS[power]
            dimension = _DIMENSIONS[symbol]
            name = getattr(units, dimension)
            if dimension == "force" and name is None:
                one, _ = _factor(units, "kg m/s²")
            else:
                one = SIZES[dimension][name]
            size *= one**n
            turns += n * (dimension == "angle" and name == "deg")
    return size, turns
