"""Pages of docs/reliability: their tables are rendered from the records of the trials.

A trial writes its record to ``DATA`` and calls `write_tables`; a test calls `stale_tables`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

PAGES = Path(__file__).parents[1] / "docs" / "reliability"
DATA = PAGES / "data"


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [list(heads), ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def write_tables(page: str, tables: Mapping[str, str]) -> None:
    """Put tables into a page, between the marks ``<!-- table:NAME -->`` and ``<!-- end -->``."""
    path = PAGES / page
    path.write_text(_filled(path.read_text("utf-8"), tables), "utf-8")


def stale_tables(page: str, tables: Mapping[str, str]) -> list[str]:
    """Return the names of the tables that do not stand in a page as they are rendered now."""
    text = (PAGES / page).read_text("utf-8")
    return [name for name in tables if _filled(text, {name: tables[name]}) != text]


def _filled(text: str, tables: Mapping[str, str]) -> str:
    for name, table in tables.items():
        mark = f"<!-- table:{name} -->"
        pattern = re.compile(re.escape(mark) + r"\n.*?<!-- end -->", re.DOTALL)
        text, found = pattern.subn(f"{mark}\n{table}\n<!-- end -->".replace("\\", r"\\"), text)
        if found != 1:
            raise ValueError(f"the page must hold the mark of the table {name} once, got {found}")
    return text
