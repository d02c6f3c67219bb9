"""Numbers of studies as text."""

from __future__ import annotations

import re
from typing import Any

_POWER = re.compile(r"e([+-])0*(\d+)")


def in_format(value: Any, form: str = ".3g") -> str:
    """Return a number in a Python format, without the ornaments of it: 3e-5, 12.5 %, -.

    Parameters
    ----------
    value : number, text or None
        Text is returned as it is.
    form : str
        As in `format`; "d" rounds, "%" multiplies by 100.
    """
    if value is None or value != value:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = format(round(value) if form.endswith("d") else float(value), form)
    text = _POWER.sub(lambda m: f"e{m[1] if m[1] == '-' else ''}{m[2]}", text)
    return text.replace("%", " %")


def markdown(heads: list[str], rows: list[list[str]], left: int = 1) -> str:
    """Return a table in Markdown; the first columns are set left, the others right."""
    sides = [":--"] * left + ["--:"] * (len(heads) - left)
    lines = [heads, sides, *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '∣') for cell in line)} |" for line in lines)
