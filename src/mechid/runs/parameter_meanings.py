"""What parameters and symbols mean: which body, which property, which length of the model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mechid.dynamics.compile import dynamic_model
from mechid.mechanism.records import Mechanism
from mechid.spatial.inertia import NAMES

_WORD = re.compile(r"[^\W\d]\w*")
_MOMENTS = {name: f"{name[1]}{name[2]}" for name in NAMES if name.startswith("I")}
# First parts of the names of coefficients, without numbers.
_COEFFICIENTS = {"k": "stiffness", "c": "damping", "viscous": "viscous friction",
                 "coulomb": "Coulomb friction", "stribeck": "Stribeck friction"}  # fmt: skip


@dataclass(frozen=True)
class Meaning:
    """What a parameter is.

    Attributes
    ----------
    owner : str
        The body or force element it belongs to.
    what : str
        As "mass", "first moment m·x", "stiffness".
    number : int
        Of the body, in the names of its parameters; 0 for coefficients of force elements.
    """

    owner: str
    what: str
    number: int = 0

    @property
    def text(self) -> str:
        """The whole meaning in words."""
        return f"{self.what} of {self.owner}" + (f" (body {self.number})" * bool(self.number))


def meanings(mechanism: Mechanism) -> dict[str, Meaning]:
    """Return what each parameter of a mechanism is, by its name."""
    kinds = {element.name: element.kind.replace("_", " ") for element in mechanism.elements}
    bodies = len(mechanism.bodies)
    found = {}
    for i, column in enumerate(dynamic_model(mechanism).columns):
        number, k = divmod(i, len(NAMES))
        if number < bodies:
            found[column.name] = Meaning(column.owner, _property(NAMES[k]), number + 1)
            continue
        head = column.name.removesuffix(f"_{column.owner}")
        word = _COEFFICIENTS.get(head.rstrip("0123456789"), head.replace("_", " "))
        kind = kinds.get(column.owner, "")
        found[column.name] = Meaning(column.owner, f"{word} ({kind})" if kind else word)
    return found


def _property(name: str) -> str:
    if name == "m":
        return "mass"
    if name in _MOMENTS:
        axes = _MOMENTS[name]
        kind = "moment of inertia" if axes[0] == axes[1] else "product of inertia"
        return f"{kind} {axes}"
    return f"first moment {name[0]}·{name[1]}"


def base_meaning(name: str, text: str, known: dict[str, Meaning]) -> str:
    """Return what a base parameter is: its own meaning, and what the formula takes from others."""
    own = known[name].text
    others: dict[str, list[str]] = {}
    for word in words_of(text):
        if word != name and word in known:
            head = word.removesuffix(f"_{known[word].number}")
            others.setdefault(known[word].owner, []).append(head)
    if not others:
        return own
    parts = "; ".join(f"{owner} ({', '.join(names)})" for owner, names in others.items())
    return f"{own}, with parts of {parts}"


def with_owners(mechanism: Mechanism, names: Iterable[str]) -> list[str]:
    """Return parameters with what they belong to: "mx_3 of upright"."""
    known = meanings(mechanism)
    return [f"{name} of {known[name].owner}" if name in known else name for name in names]


def words_of(text: str) -> list[str]:
    """Return the names in a formula, each once."""
    return list(dict.fromkeys(_WORD.findall(text)))


def symbols(mechanism: Mechanism, formulas: Iterable[str]) -> list[dict[str, object]]:
    """Return the named lengths and angles in formulas: name, value, unit, meaning, points.

    `points` are those whose place in their body depends on the symbol.
    """
    used = {word for text in formulas for word in words_of(text)}
    found = []
    for parameter in mechanism.parameters:
        if parameter.name not in used:
            continue
        points = [
            f"{point.name} ({axis} in {point.body})"
            for point in mechanism.points
            for axis, expression in zip("xyz", point.expr or (), strict=False)
            if parameter.name in words_of(str(expression))
        ]
        found.append(
            {
                "name": parameter.name,
                "value": parameter.value,
                "unit": parameter.unit,
                "meaning": parameter.source,
                "points": points,
            }
        )
    return found
