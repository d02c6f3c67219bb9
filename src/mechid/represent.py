"""Records in a few lines: what a prompt or a notebook shows of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

_LINES = 10
_WIDTH = 100


def short_repr(record: Any) -> str:
    """Return a record in at most ten lines: numbers and short words as they are, arrays by shape.

    It is meant as the `__repr__` of a dataclass; fields whose name begins with `_` are left out.
    """
    rows = {
        f.name: brief(getattr(record, f.name))
        for f in fields(record)
        if f.repr and not f.name.startswith("_")
    }
    return lines(type(record).__name__, rows)


def changes_repr(record: Any) -> str:
    """Return a record of options in one line, with what differs from the defaults."""
    given = []
    for f in fields(record):
        default = f.default if f.default_factory is MISSING else f.default_factory()
        value = getattr(record, f.name)
        if value is not default and value != default:
            given.append(f"{f.name}={value!r}")
    return f"{type(record).__name__}({', '.join(given)})"


def lines(title: str, rows: Mapping[str, str]) -> str:
    """Return a title and names with values, in at most ten lines."""
    shown = list(rows.items())
    if len(shown) > _LINES - 1:
        rest = ", ".join(name for name, _ in shown[_LINES - 2 :])
        shown = [*shown[: _LINES - 2], ("also", rest)]
    width = max((len(name) for name, _ in shown), default=0)
    found = [title, *(f"  {name:<{width}}  {value}" for name, value in shown)]
    return "\n".join(cut(line) for line in found)


def brief(value: Any) -> str:
    """Return a value in a few words."""
    if hasattr(value, "shape"):
        return f"array {value.shape}"
    match value:
        case str() | None | bool() | int():
            return repr(value)
        case float():
            return f"{value:.6g}"
        case tuple() | list():
            return _several(value)
        case Mapping():
            return cut(", ".join(f"{k}: {brief(v)}" for k, v in value.items())) or "-"
    name = getattr(value, "name", None)
    words = f" {name}" if isinstance(name, str) and name else ""
    return f"{type(value).__name__}{words}" if is_dataclass(value) else cut(repr(value))


def cut(text: str) -> str:
    """Return the first line of a text, shortened to what a terminal shows."""
    first = text.partition("\n")[0]
    return first if len(first) <= _WIDTH else f"{first[: _WIDTH - 1]}…"


def _several(values: Any) -> str:
    if all(isinstance(v, str | int | float) for v in values):
        return cut(", ".join(str(v) for v in values)) or "-"
    return f"{len(values)} × {type(values[0]).__name__}"
