"""The tables of docs/reliability/faults.md, from the record of the long run."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tests.records import DATA, markdown_table, write_tables

RECORD = DATA / "faults.json"
PAGE = "faults.md"
_KILLED = ("killed at an operation", "killed at a time")
_FAILED = ("disk full", "operation failed")
_ONCE = "processes at once"


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    record = json.loads(RECORD.read_text("utf-8"))
    return {"commands": _commands(record), "faults": _faults(record)}


def write_page() -> None:
    """Put the tables into the page."""
    write_tables(PAGE, tables())


def _commands(record: dict[str, Any]) -> str:
    heads = (
        "command", "file operations", "kills at an operation", "kills at a random time",
        "full disk, failed operation", "states started from again", "problems",
    )  # fmt: skip
    rows = []
    for name, row in record.items():
        n = Counter(row["trials"])
        kills = [n[kind] for kind in _KILLED]
        failed = sum(n[kind] for kind in _FAILED)
        rows.append(
            (f"`{name}`", row["operations"], *kills, failed, row["states"], len(row["problems"]))
        )
    sums = [sum(int(row[k]) for row in rows) for k in range(1, len(heads))]
    return markdown_table(heads, [*rows, ("all", *sums)])


def _faults(record: dict[str, Any]) -> str:
    counts: Counter[str] = sum((Counter(row["trials"]) for row in record.values()), Counter())
    return markdown_table(
        ("fault", "trials"),
        [(kind, n) for kind, n in counts.items() if kind != "finished before"],
    )
