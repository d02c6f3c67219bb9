"""Numbers of force elements and couplings in SI: their units depend on joint coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mechid.mechanism.element_kinds import ELEMENT_KINDS, ElementKind
from mechid.mechanism.element_laws import MAX_POWER, unit_text
from mechid.mechanism.records import Joint
from mechid.modelfile.coordinates import pick
from mechid.modelfile.scope import Entry
from mechid.modelfile.spec_constraints import CouplingSpec
from mechid.modelfile.spec_elements import CoefficientSpec
from mechid.modelfile.units import SI, Units
from mechid.textfile.yamlio import Key


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


def constraint_in_si(entry: Entry, joints: Mapping[str, Joint], units: Units) -> Entry:
    """Return the entry of a constraint with all numbers in SI.

    A coupling is an equation in the unit of its first coordinate.
    """
    spec = entry.spec
    if units == SI or not isinstance(spec, CouplingSpec):
        return entry
    key = "coordinates" if spec.between is None else "between"
    words = list((spec.between or spec.coordinates) or ())
    x = [_unit(w, entry, joints, (key, i if spec.between else w)) for i, w in enumerate(words)]
    changed: dict[str, Any] = {}
    if spec.ratio is not None and len(x) == 2:
        changed["ratio"] = units.scale(spec.ratio, f"{x[0]}/{x[1]}")
    if spec.coordinates is not None and spec.between is None:
        factors = zip(spec.coordinates.items(), x, strict=True)
        changed["coordinates"] = {w: units.scale(f, f"{x[0]}/{xi}") for (w, f), xi in factors}
    if spec.constant is not None and x:
        changed["constant"] = units.scale(spec.constant, x[0])
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


def _scaled(value: Any, pattern: str, measures: list[str], units: Units, power: int = 1) -> Any:
    if isinstance(value, CoefficientSpec):
        both = ("value", "uncertainty")
        change = {
            key: _scaled(getattr(value, key), pattern, measures, units, power) for key in both
        }
        return value.model_copy(update=change)
    if isinstance(value, list | tuple):
        several = []
        for i, one in enumerate(value):
            x = measures[min(i, len(measures) - 1)]
            # More powers than there are signs for are refused later.
            several.append(_scaled(one, pattern, [x], units, min(i + 1, MAX_POWER)))
        return type(value)(several)
    if value is None or (isinstance(value, str) and value.endswith("%")):
        return value
    return units.scale(value, unit_text(pattern, measures[0] == "rad", power))
