"""Units of the cells of a table, and the conversion of numbers to the units of a model file."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, get_args

from mechid.modelfile.units import Units, UnitsSpec

Dimension: TypeAlias = Literal["length", "mass", "angle", "inertia"]
SI_UNIT: dict[Dimension, str] = {"length": "m", "mass": "kg", "angle": "rad", "inertia": "kg m²"}
UNITS: dict[Dimension, tuple[str, ...]] = {
    dimension: get_args(UnitsSpec.model_fields[dimension].annotation)
    for dimension in ("length", "mass", "angle")
}
_INERTIA = re.compile(
    rf"({'|'.join(UNITS['mass'])})[\s·.*]*({'|'.join(UNITS['length'])})\s*(?:²|\*\*2|\^?2)"
)


def known_units(dimension: Dimension) -> str:
    """Return what to write for a unit."""
    if dimension == "inertia":
        return "a unit of mass and one of length squared, e.g. kg m^2 or t mm^2"
    return "one of: " + ", ".join(UNITS[dimension])


def units_of(text: str, dimension: Dimension) -> Units | None:
    """Return the units in which a cell is given, None if the text is not a unit of that kind."""
    if dimension == "inertia":
        match = _INERTIA.fullmatch(text)
        return Units(mass=match[1], length=match[2]) if match else None
    return Units(**{dimension: text}) if text in UNITS[dimension] else None


def dimension_of(text: str) -> Dimension | None:
    """Return what a unit measures, None if it is not known."""
    return next((d for d in SI_UNIT if units_of(text, d) is not None), None)
