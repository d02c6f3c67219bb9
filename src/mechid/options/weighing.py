"""Measured masses, as people write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mechid.errors import DataError
from mechid.textfile.numbers import named, number


@dataclass(frozen=True)
class Weighing:
    """A measured mass.

    Attributes
    ----------
    bodies : tuple of str
        That were weighed together.
    mass, sigma : float
        kg; `sigma` is the standard deviation.
    """

    bodies: tuple[str, ...]
    mass: float
    sigma: float = 0.0


def weighings(given: Any, name: str = "weigh") -> tuple[Weighing, ...]:
    """Return measured masses as people write them.

    Parameters
    ----------
    given : sequence of Weighing or str, or mapping bodies → mass
        "arm=3.4±0.05" or "a+b=5.1"; {"arm": "3.4±0.05", "a+b": 5.1, "rod": (0.2, 0.01)} (kg).

    Raises
    ------
    DataError
        For what is not a positive mass of different bodies.
    """
    if isinstance(given, str | Weighing):
        given = [given]
    records = [] if isinstance(given, Mapping) else [x for x in given if isinstance(x, Weighing)]
    if not isinstance(given, Mapping):
        texts = [x for x in given if not isinstance(x, Weighing)]
        given = named([str(x) for x in texts], name, "arm=3.4±0.05")
    return (*records, *(_weighing(key, value, name) for key, value in given.items()))


def _weighing(names: str, value: Any, name: str) -> Weighing:
    where = f"{name} {names}={value}"
    if isinstance(value, str):
        mass, _, sigma = value.replace("+/-", "±").replace("+-", "±").partition("±")
        value = (mass, sigma or 0.0)
    elif not isinstance(value, Sequence):
        value = (value, 0.0)
    bodies = tuple(body.strip() for body in names.split("+"))
    found = Weighing(bodies, number(value[0], where), number(value[1], where))
    if not (0 < found.mass < float("inf") and 0 <= found.sigma < float("inf")):
        raise DataError(
            "a mass must be > 0, and its standard deviation ≥ 0", where=where, remedy="give kg"
        )
    if len(set(bodies)) < len(bodies):
        raise DataError("a body is named twice", where=where, remedy="name each body once")
    return found
