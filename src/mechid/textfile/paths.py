"""Names of files that stand in other files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def is_file(path: Path) -> bool:
    """Return whether there is a file of this name, which no system may be able to have."""
    with suppress(OSError, ValueError):  # too long, a loop of links, a zero character
        return path.is_file()
    return False
