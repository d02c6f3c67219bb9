"""Data inside a page: JSON that no HTML parser can break, with numbers no longer than needed."""

from __future__ import annotations

import json
from typing import Any

DIGITS = 9  # of each number in a page: a micrometre in a kilometre


def embedded_json(value: object) -> str:
    """Return JSON that no HTML parser can take for the end of its script element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def rounded(value: Any, digits: int = DIGITS) -> Any:
    """Return the same with floats shortened, which halves the page of a long motion."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: rounded(entry, digits) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(entry, digits) for entry in value]
    return value
