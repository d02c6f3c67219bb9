"""Numbers of force elements in SI: their units may depend on the joint coordinate they act on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mechid.mechanism.records import Joint
from mechid.modelfile.coordinates import pick
from mechid.modelfile.scope import Entry
from mechid.modelfile.spec_elements import CoefficientSpec
from mechid.modelfile.units import SI, Units

# With x for the unit of the coordinate (m between two points) and F for the force that does work
# on it, N or N m. Entry n of a list, from 1, has xⁿ and sⁿ for xn and sn.
ELEMENT_UNITS: Mapping[str, Mapping[str, str]] = {
    "spring_damper": {"stiffness": "F/x", "free_length": "x", "damping": "F s/x"},
    "torsion_spring": {"stiffness": "F/x", "free_angle": "x", "damping": "F s/x"},
    "friction": {"viscous": "F s/x", "coulomb": "F"},
    "transmission": {"inertia": "kg m²", "viscous": "N m s/rad", "coulomb": "N m"},
    "force": {"vector": "N"},
    "moment": {"vector": "N m"},
}
_POWERS = ("", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹")


def element_in_si(entry: Entry, joints: Mapping[str, Joint], units: Units) -> Entry:
    """Return the entry of a force element with all numbers in SI."""
    if units == SI:
        return entry
    spec = entry.spec
    words = ELEMENT_UNITS[spec.type]
    changed: dict[str, Any] = {}
    if spec.type == "transmission":
        columns = [_unit(word, entry, joints, ("coordinates", i)) for i, word in
                   enumerate(spec.coordinates)]  # fmt: skip
        changed["matrix"] = [
            [units.scale(s, f"rad/{x}") for s, x in zip(row, columns, strict=False)]
            + row[len(columns) :]
            for row in spec.matrix
        ]
        changed["motors"] = {
            name: motor.model_copy(update=_values(motor, words, "rad", units))
            for name, motor in spec.motors.items()
        }
    else:
        word = getattr(spec, "joint", None)
        x = "m" if word is None else _unit(word, entry, joints, ("joint",))
        changed = _values(spec, words, x, units)
    return replace(entry, spec=spec.model_copy(update=changed))


def _unit(word: str, entry: Entry, joints: Mapping[str, Joint], key: tuple[str | int, ...]) -> str:
    joint, index = pick(word, entry.scope, joints, (*entry.path, *key))
    return joint.kind.choice_units[index or 0]


def _values(spec: Any, words: Mapping[str, str], x: str, units: Units) -> dict[str, Any]:
    return {
        key: _scaled(getattr(spec, key), pattern, x, units)
        for key, pattern in words.items()
        if key in spec.model_fields_set
    }


def _scaled(value: Any, pattern: str, x: str, units: Units) -> Any:
    if isinstance(value, CoefficientSpec):
        change = {
            key: _scaled(getattr(value, key), pattern, x, units) for key in ("value", "uncertainty")
        }
        return value.model_copy(update=change)
    if isinstance(value, list | tuple):
        several = (
            _scaled(v, pattern.replace("n", _POWERS[i]) if "n" in pattern else pattern, x, units)
            for i, v in enumerate(value)
        )
        return type(value)(several)
    if value is None or (isinstance(value, str) and value.endswith("%")):
        return value
    unit = pattern.replace("F", "N" if x == "m" else "N m").replace("x", x)
    return units.scale(value, unit)
