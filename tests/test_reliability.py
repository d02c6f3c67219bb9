"""The index of docs/reliability: its table comes from the records of all trials.

`python -m tests.test_reliability` writes it anew.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from .records import DATA, markdown_table, stale_tables, write_tables

PAGE = "index.md"
ROUND = ("inverse dynamics", "mass matrix", "poses through the loops")  # equal to rounding


def read(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text("utf-8"))


def uncertainty() -> str:
    rows = read("uncertainty")
    base = [r for r in rows if r["law"] == "white noise" and not r["class"].startswith("forces")]
    narrow = {(r["machine"], r["law"]) for r in rows if r["silent"] and r["silent"]["n"] > 1
              and r["silent"]["high"] < 0.85}  # fmt: skip
    laws = {(r["machine"], r["law"]) for r in rows}
    n = sum(r["n"] for r in base)
    inside = sum(r["n"] * r["95"] for r in base) / n
    return (
        f"{len({law for _, law in laws})} laws of error on {len({m for m, _ in laws})} mechanisms; with white noise "
        f"{inside:.1%} of the parameters lie in their 95 % intervals; {len(narrow)} of {len(laws)} pairs of mechanism and law "
        "have a class of parameters or forces that is clearly below 85 % without a word"
    )


def bad_input() -> str:
    record = read("bad-input")
    kinds = record["kinds"].values()
    return (
        f"{sum(k['cases'] for k in kinds):,} damaged files of {len(kinds)} kinds".replace(",", " ")
        + f"; {len(record['mended'])} kinds of defects found and mended"
    )


def faults() -> str:
    record = read("faults").values()
    trials = Counter[str]()
    for r in record:
        trials.update(r["trials"])
    kills = trials["killed at an operation"] + trials["killed at a time"]
    others = sum(trials.values()) - kills - trials["finished before"]
    problems = sum(len(r["problems"]) for r in record)
    return (
        f"{len(record)} commands that write, {kills} kills, {others} other faults; "
        f"{problems} with something left to mend"
    )


def numerics() -> str:
    record = read("numerics")
    engines = record["engines"]
    worst = max(
        e["quantities"][q]["worst"]
        for e in engines["by engine"].values()
        for q in ROUND
        if q in e["quantities"]
    )
    own = max(d["worst"] for d in record["descriptions"].values())
    return (
        f"{engines['count']} random mechanisms: poses, forces and mass matrices equal those of other engines to {worst:.0e}, "
        f"and those of other descriptions of the same mechanism to {own:.0e}"
    )


def problems() -> str:
    record = read("benchmark-problems")
    found = Counter(c["outcome"] for c in record["crossing"])
    return (
        f"{len(record['problems'])} problems with independent truth; through singular positions {found['right']} of "
        f"{found.total()} simulations are right, {found['refused']} stop with a reason, {found['wrong']} are wrong"
    )


def scale() -> str:
    return read("scale")["summary"] if (DATA / "scale.json").exists() else ""


ROWS = {
    "uncertainty": (uncertainty, "Do intervals contain the truth?", "python -m tests.coverage"),
    "bad-input": (bad_input, "What do damaged files do?", "make fuzz"),
    "faults": (faults, "What is lost when it is killed?", "python -m tests.faults"),
    "numerics": (numerics, "Do other engines agree?", "python -m tests.engines"),
    "benchmark-problems": (problems, "Are simulations right?", "python -m tests.problems"),
}


def tables() -> dict[str, str]:
    rows = [
        (f"[{question}]({name}.md)", words(), f"`{command}`")
        for name, (words, question, command) in ROWS.items()
    ]
    return {"figures": markdown_table(("question", "tried, and what came out", "command"), rows)}


def test_table_is_that_of_the_records() -> None:
    assert stale_tables(PAGE, tables()) == []


if __name__ == "__main__":
    write_tables(PAGE, tables())
