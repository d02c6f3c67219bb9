"""Numbers, shares and assignments as people write them: "pi/4", "30 deg", "5 %", "M1=12.5"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mechid.errors import DataError
from mechid.textfile.expressions import evaluate, names, parse


def number(value: Any, where: str) -> float:
    """Return a number, or a constant expression as one.

    Raises
    ------
    DataError
        Naming `where` it was given, if it is neither.
    """
    if isinstance(value, bool) or value is None:
        raise DataError(f"expected a number, got {value}", where=where)
    if not isinstance(value, str):
        try:
            return float(value)
        except (TypeError, ValueError):
            raise DataError(f"expected a number, got {type(value).__name__}", where=where) from None
    try:
        tree = parse(value)
        if unknown := sorted(names(tree)):
            raise ValueError(f'"{unknown[0]}" is not a number')
        return evaluate(tree, {})
    except ValueError as error:
        raise DataError(str(error), where=where) from None


def share(value: Any, where: str) -> float:
    """Return a share: "5 %", "5%" or 0.05."""
    text = value.strip() if isinstance(value, str) else ""
    return number(text[:-1], where) / 100 if text.endswith("%") else number(value, where)


def named(given: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Return NAME=VALUE arguments by name, the values as they are written.

    Raises
    ------
    DataError
        If the form is wrong, or a name is given twice.
    """
    found: dict[str, str] = {}
    for text in given:
        name, sign, value = (part.strip() for part in text.partition("="))
        where = f"{option} {text}"
        if not sign or not name:
            raise DataError("expected NAME=VALUE", where=where, remedy=f"e.g. {example}")
        if name in found:
            raise DataError(f"{name} is given twice", where=where)
        found[name] = value
    return found
