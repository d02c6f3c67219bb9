"""Values given on the command line: NAME=VALUE, and lists of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from mechid.errors import DataError
from mechid.textfile.numbers import number
from mechid.textfile.words import hint


def assignments(given: Sequence[str], names: Sequence[str], option: str) -> dict[str, float]:
    """Return NAME=VALUE arguments as numbers by name.

    A value is a number in SI units, an expression like pi/4, or an angle like "30 deg".

    Raises
    ------
    DataError
        If the form is wrong, the name is not among `names`, or a name is given twice.
    """
    values: dict[str, float] = {}
    for text in given:
        name, sign, value = (part.strip() for part in text.partition("="))
        where = f"{option} {text}"
        if not sign:
            raise DataError("expected NAME=VALUE", where=where, remedy=f"e.g. {names[0]}=0.1")
        if name not in names:
            raise DataError(f"there is no {name} here", where=where, remedy=hint(name, names))
        if name in values:
            raise DataError(f"{name} is given twice", where=where)
        values[name] = number(value, where)
    return values


def number_list(text: str, option: str) -> list[float]:
    """Return numbers separated by commas."""
    return [number(part, f"{option} {text}") for part in text.split(",")]
