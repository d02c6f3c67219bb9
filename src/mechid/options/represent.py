"""Records of options in one line."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any


def changes_repr(record: Any) -> str:
    """Return a record of options in one line, with what differs from the defaults."""
    given = []
    for f in fields(record):
        default = f.default if f.default_factory is MISSING else f.default_factory()
        value = getattr(record, f.name)
        if value is not default and value != default:
            given.append(f"{f.name}={value!r}")
    return f"{type(record).__name__}({', '.join(given)})"
