"""Numbers of force elements in SI: their units may depend on the joint coordinate they act on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mechid.mechanism.element_laws import ELEMENT_KINDS, ElementKind
from mechid.mechanism.records import Joint
from mechid.modelfile.coordinates import pick
from mechid.modelfile.scope import Entry
from mechid.modelfile.spec_constraints import CouplingSpec
from mechid.modelfile.spec_elements import CoefficientSpec
from mechid.modelfile.units import SI, Units
from mechid.textfile.yamlio import Key

_POWERS = ("", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹")


def element_in_si(entry: Entry, joints: Mapping[str, Joint], units: Units) -> Entry:
    """Return the entry of a force element with all numbers in SI."""
    if units == SI:
        return entry
    spec, kind = entry.spec, ELEMENT_KINDS[entry.spec.type]
    if kind.attachment == "motors":
        columns = [
            _unit(word, entry, joints, ("coordinates", i))
            for i, word in enumerate(spec.coordinates)
        ]
        changed: dict[str, Any] = {
            "matrix": [
                [
                    units.scale(s, f"rad/{columns[i]}") if i < len(columns) else s
                    for i, s in enumerate(row)
                ]
                for row in spec.matrix
            ],
            "motors": {
                name: motor.model_copy(update=_values(kind, motor, ["rad"], units))
                for name, motor in spec.motors.items()
            },
        }
    else:
        changed = _values(kind, spec, _measured(kind, entry, joints), units)
    return replace(entry, spec=spec.model_copy(update=changed))


def coupling_in_si(entry: Entry, joints: Mapping[str, Joint], units: Units) -> Entry:
    """Return the entry of a constraint with all numbers in SI.

    Factors of a coupling multiply coordinates in units of the file; its sum is in the unit of its
    first coordinate.
    """
    spec = entry.spec
    if units == SI or not isinstance(spec, CouplingSpec):
        return entry
    words = [*(spec.between or ()), *(spec.coordinates or ())]
    if not words:
        return entry  # refused where it is read
    unit = {word: _unit(word, entry, joints, ()) for word in words}
    first = unit[words[0]]
    changed: dict[str, Any] = {}
    if spec.between is not None and spec.ratio is not None:
        changed["ratio"] = units.scale(spec.ratio, f"{first}/{unit[spec.between[1]]}")
    if spec.coordinates is not None:
        changed["coordinates"] = {
            word: units.scale(factor, f"{first}/{unit[word]}")
            for word, factor in spec.coordinates.items()
        }
    if spec.constant is not None:
        changed["constant"] = units.scale(spec.constant, first)
    return replace(entry, spec=spec.model_copy(update=changed))


def _measured(kind: ElementKind, entry: Entry, joints: Mapping[str, Joint]) -> list[str]:
    """Return the units of the measures of an element: m or rad."""
    match kind.attachment:
        case "frames":
            return ["m"] * 3 + ["rad"] * 3
        case "moment":
            return ["rad"]
    word = getattr(entry.spec, "joint", None)
    return ["m" if word is None else _unit(word, entry, joints, ("joint",))]


def _unit(word: str, entry: Entry, joints: Mapping[str, Joint], key: Key) -> str:
    joint, index = pick(word, entry.scope, joints, (*entry.path, *key))
    return joint.kind.choice_units[index or 0]


def _values(kind: ElementKind, spec: Any, measures: list[str], units: Units) -> dict[str, Any]:
    patterns = {key.name: key.unit for key in kind.keys} | {"vector": "F"}
    return {
        name: _scaled(getattr(spec, name), pattern, measures, units)
        for name, pattern in patterns.items()
        if name in spec.model_fields_set
    }


def _scaled(value: Any, pattern: str, measures: list[str], units: Units) -> Any:
    if isinstance(value, CoefficientSpec):
        both = ("value", "uncertainty")
        change = {key: _scaled(getattr(value, key), pattern, measures, units) for key in both}
        return value.model_copy(update=change)
    if isinstance(value, list | tuple):
        several = []
        for i, one in enumerate(value):
            x = measures[min(i, len(measures) - 1)]
            # More powers than there are signs for are refused later.
            power = pattern.replace("n", _POWERS[min(i, len(_POWERS) - 1)])
            several.append(_scaled(one, power, [x], units))
        return type(value)(several)
    if value is None or (isinstance(value, str) and value.endswith("%")):
        return value
    x = measures[0]
    words = {"F": "N" if x == "m" else "N m", "x": x, "n": ""}
    return units.scale(value, "".join(words.get(letter, letter) for letter in pattern))
