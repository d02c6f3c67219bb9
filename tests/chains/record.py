"""What came of the chains, as a record and as tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.records import markdown_table

from mechid.mechanism.records import Mechanism
from mechid.modelfile import load

from .trial import STAGES

_OUTCOMES = {0: "done", 1: "not valid", 2: "refused"}
_RANKS = ("rank", "base", "lower_bound", "upper_bound", "certified", "parameters")


def collected(folder: Path) -> list[dict[str, Any]]:
    """Return the record of all chains in a folder."""
    return [_one(path.parent) for path in sorted(folder.glob("*/model.yaml"))]


def _one(folder: Path) -> dict[str, Any]:
    mechanism = load(folder / "model.yaml")
    found: dict[str, Any] = {
        "name": mechanism.name,
        "bodies": len(mechanism.bodies),
        "loops": loops(mechanism),
        "freedoms": len(mechanism.coordinates),
        "joints": "".join(sorted(joint.kind.letter for joint in mechanism.joints)),
        "constraints": len(mechanism.constraints),
        "commands": {},
    }
    for stage in STAGES:
        path = folder / f"{stage}.json"
        if not path.exists():
            continue
        for name, said in json.loads(path.read_text("utf-8")).items():
            kept = {key: said[key] for key in ("status", "seconds", *_RANKS) if key in said}
            if said["status"] != 0:
                kept["error"] = said.get("error", "").splitlines()[-1:]
            found["commands"][name] = kept
    return found


def loops(mechanism: Mechanism) -> int:
    """Return the number of loops that joints and distances close."""
    closing = [j for j in mechanism.joints if not j.kind.holds_nothing]
    return len(closing) + len(mechanism.distances) - len(mechanism.bodies)


def tables(record: list[dict[str, Any]]) -> dict[str, str]:
    """Return the tables by name: what the commands came to, and what the ranks are."""
    return {"commands": _commands(record), "ranks": markdown_table(("", "chains"), _ranks(record))}


def _commands(record: list[dict[str, Any]]) -> str:
    rows = []
    for name in (words[0] for stage in STAGES.values() for words in stage):
        found = [chain["commands"][name] for chain in record if name in chain["commands"]]
        count = Counter(_OUTCOMES.get(said["status"], "fault") for said in found)
        slowest = max((said.get("seconds", 0.0) for said in found), default=0.0)
        outcomes = (count[word] for word in (*_OUTCOMES.values(), "fault"))
        rows.append((f"`{name}`", len(found), *outcomes, f"{slowest:.0f}"))
    return markdown_table(("", "run", *_OUTCOMES.values(), "faults", "slowest, s"), rows)


def _ranks(record: list[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    fields = [c["commands"].get("field", {}).get("rank") for c in record]
    bases = [c["commands"].get("base", {}) for c in record]
    both = [(f, b) for f, b in zip(fields, bases, strict=True) if f is not None and "base" in b]
    yield "rank over a prime field", sum(f is not None for f in fields)
    yield "bounds by `mechid base --certify`", sum("base" in b for b in bases)
    yield "certified", sum(bool(b.get("certified")) for b in bases)
    yield "both bounds meet", sum("base" in b and b["lower_bound"] == b["upper_bound"]
                                  for b in bases)  # fmt: skip
    yield "rank over a prime field = lower bound", sum(f == b["lower_bound"] for f, b in both)
    yield "rank over a prime field = number printed", sum(f == b["base"] for f, b in both)
    yield "rank over a prime field > upper bound", sum(f > b["upper_bound"] for f, b in both)
