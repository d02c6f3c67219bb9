"""Values given on the command line: NAME=VALUE, and lists of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from mechid.errors import DataError


def assignments(given: Sequence[str], names: Sequence[str], option: str) -> dict[str, float]:
    """Return NAME=VALUE arguments as numbers by name.

    A value is a number in SI units, an expression like pi/4, or an angle like "30 deg".

    Raises
    ------
    DataError
        If the form is wrong, the name is not among `names`, or a name is given twice.
    """
    from mechid.textfile.words import hint

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


def number(text: str, where: str) -> float:
    """Return a number or a constant expression, or say what is wrong with it."""
    from mechid.textfile.expressions import evaluate, names, parse

    try:
        tree = parse(text)
        if unknown := sorted(names(tree)):
            raise ValueError(f'"{unknown[0]}" is no number')
        return evaluate(tree, {})
    except ValueError as error:
        raise DataError(str(error), where=where) from None


def number_list(text: str, option: str) -> list[float]:
    """Return numbers separated by commas."""
    return [number(part, f"{option} {text}") for part in text.split(",")]


def share(text: str, where: str) -> float:
    """Return a share: "5 %", "5%" or 0.05."""
    stripped = text.strip()
    if stripped.endswith("%"):
        return number(stripped[:-1], where) / 100
    return number(stripped, where)


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
