"""The record of what was tried, added up over runs, and the tables of the page made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..records import DATA, markdown_table, write_tables
from .drive import Tally

PAGE = "bad-input.md"
RECORD = DATA / "bad-input.json"


def merged(path: Path, found: Mapping[str, Tally]) -> None:
    """Add the counts of a run to a record."""
    record: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {"kinds": {}}
    for kind, tally in found.items():
        old = record["kinds"].get(kind, {})
        record["kinds"][kind] = {
            "cases": old.get("cases", 0) + tally.cases,
            "accepted": old.get("accepted", 0) + tally.accepted,
            "refused": old.get("refused", 0) + tally.refused,
            "commands": old.get("commands", 0) + tally.commands,
            "thorough": old.get("thorough", 0) + tally.thorough,
            "defects": old.get("defects", 0) + tally.defects.total(),
            "seconds": round(max(old.get("seconds", 0.0), tally.seconds), 3),
            "memory": round(max(old.get("memory", 0.0), tally.memory), 1),
        }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if path.resolve() == RECORD:
        write_tables(PAGE, tables())


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    record = json.loads(RECORD.read_text("utf-8"))
    kinds = record["kinds"]
    heads = ("kind", "files", "thorough", "accepted", "refused", "defects")
    keys = ("cases", "thorough", "accepted", "refused", "defects", "seconds", "memory")
    rows = [(kind, *(entry.get(key, 0) for key in keys)) for kind, entry in kinds.items()]
    counts = (sum(row[k] for row in rows) for k in range(1, 6))
    rows.append(("**all**", *counts, *(max(row[k] for row in rows) for k in (6, 7))))
    mended = [(x["kind"], x["was"], x["now"]) for x in record.get("mended", [])]
    return {
        "tried": markdown_table((*heads, "slowest, s", "memory, MiB"), rows),
        "mended": markdown_table(("kind", "what happened", "now"), mended),
    }
