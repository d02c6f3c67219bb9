"""Units of channels, turned into SI: products and quotients of known symbols.

An angle counts as a dimension of its own, so that degrees cannot pass for millimetres; revolutions
per minute are an angular speed. The unit of a torque is N m.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from mechid.errors import DataError

Dimension = tuple[int, int, int, int]  # powers of m, rad, kg, s

_LENGTH: Dimension = (1, 0, 0, 0)
_ANGLE: Dimension = (0, 1, 0, 0)
_TIME: Dimension = (0, 0, 0, 1)
_FORCE: Dimension = (1, 0, 1, -2)
_SYMBOLS: dict[str, tuple[float, Dimension]] = {
    "m": (1.0, _LENGTH),
    "km": (1e3, _LENGTH),
    "cm": (1e-2, _LENGTH),
    "mm": (1e-3, _LENGTH),
    "um": (1e-6, _LENGTH),
    "µm": (1e-6, _LENGTH),
    "in": (0.0254, _LENGTH),
    "ft": (0.3048, _LENGTH),
    "rad": (1.0, _ANGLE),
    "mrad": (1e-3, _ANGLE),
    "deg": (math.pi / 180, _ANGLE),
    "°": (math.pi / 180, _ANGLE),
    "rev": (2 * math.pi, _ANGLE),
    "s": (1.0, _TIME),
    "ms": (1e-3, _TIME),
    "us": (1e-6, _TIME),
    "µs": (1e-6, _TIME),
    "ns": (1e-9, _TIME),
    "min": (60.0, _TIME),
    "h": (3600.0, _TIME),
    "kg": (1.0, (0, 0, 1, 0)),
    "N": (1.0, _FORCE),
    "kN": (1e3, _FORCE),
    "mN": (1e-3, _FORCE),
    "kgf": (9.80665, _FORCE),
    "lbf": (4.4482216152605, _FORCE),
    "rpm": (2 * math.pi / 60, (0, 1, 0, -1)),
    "g": (9.80665, (1, 0, 0, -2)),
    "1": (1.0, (0, 0, 0, 0)),
}
# Units that are written in one piece.
_ALIASES = {"Nm": "N m", "Nmm": "N mm", "kNm": "kN m", "mNm": "mN m", "degree": "deg",
            "degrees": "deg", "radian": "rad", "radians": "rad", "sec": "s",
            "ft-lbf": "ft lbf", "lbf-ft": "lbf ft", "in-lbf": "in lbf",
            "lbf-in": "lbf in"}  # fmt: skip
_FACTOR = re.compile(r"([^\W\d_]+|°|1)(?:\^?(-?\d))?")
_SPELLED = str.maketrans({"²": "2", "³": "3", "μ": "µ"})  # two characters look like micro
KNOWN = ", ".join(name for name in _SYMBOLS if name != "1")


@dataclass(frozen=True)
class Unit:
    """A unit: its text, its size in SI units, its dimension."""

    text: str
    size: float
    dimension: Dimension


def parse_unit(text: str) -> Unit:
    """Return a unit such as mm, deg/s^2, kN m or N*mm.

    Raises
    ------
    DataError
        If a part of it is not known.
    """
    plain = text.translate(_SPELLED).replace("**", "^").strip()
    size, dimension = 1.0, [0, 0, 0, 0]
    for place, part in enumerate(plain.split("/")):
        words = part.replace("·", " ").replace("*", " ").replace("(", " ").replace(")", " ")
        factors = " ".join(_ALIASES.get(word, word) for word in words.split()).split()
        if not factors:
            raise _unknown(text)
        for factor in factors:
            found = _FACTOR.fullmatch(factor)
            if not found or found[1] not in _SYMBOLS:
                raise _unknown(text)
            power = int(found[2] or 1) * (1 if place == 0 else -1)
            own, powers = _SYMBOLS[found[1]]
            size *= own**power
            dimension = [a + power * b for a, b in zip(dimension, powers, strict=True)]
    return Unit(text, size, (dimension[0], dimension[1], dimension[2], dimension[3]))


def is_unit(text: str) -> bool:
    """Tell whether a text is a unit."""
    try:
        parse_unit(text)
    except DataError:
        return False
    return True


def _unknown(text: str) -> DataError:
    return DataError(f'unknown unit "{text}"', remedy=f"use {KNOWN}, as in mm/s or N m")
