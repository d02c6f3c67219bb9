"""The index of docs/reliability: its table comes from the records of all trials.

`python -m tests.test_reliability` writes it anew.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from .mutation.page import counted, newest, score
from .mutation.sample import wilson
from .records import DATA, markdown_table, stale_tables, write_tables

PAGE = "index.md"
ROUND = ("inverse dynamics", "mass matrix", "poses through the loops")  # equal to rounding


def read(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text("utf-8"))


def bad_input() -> str:
    record = read("bad-input")
    kinds = record["kinds"].values()
    return (
        f"{sum(k['cases'] for k in kinds)} damaged files of {len(kinds)} kinds; "
        f"{len(record['mended'])} groups of defects were found and mended"
    )


def faults() -> str:
    record = read("faults").values()
    trials = sum((Counter(r["trials"]) for r in record), Counter[str]())
    kills = trials["killed at an operation"] + trials["killed at a time"]
    others = trials.total() - kills - trials["finished before"]
    problems = sum(len(r["problems"]) for r in record)
    left = f"{problems} problems, which the page names" if problems else "no problem is left"
    return (
        f"{len(record)} of the commands that write: {kills} kills, {others} other faults, no half "
        f"file; {left}"
    )


def numerics() -> str:
    record = read("numerics")
    engines = record["engines"]["by engine"].values()
    found = [e["quantities"][q]["worst"] for e in engines for q in ROUND if q in e["quantities"]]
    own = max(d["worst"] for d in record["descriptions"].values())
    return (
        f"{record['engines']['count']} random mechanisms: poses, forces and mass matrices equal "
        f"those of other engines to {max(found):.0e}, and those of other descriptions of the same "
        f"mechanism to {own:.0e}"
    )


def chains() -> str:
    record = read("chains")
    said = [c["commands"] for c in record]
    faults = sum(x["status"] not in (0, 1, 2) for c in said for x in c.values())
    ranks = [(c["field"]["rank"], c["base"]["base"]) for c in said if "base" in c.get("base", {})]
    equal = sum(a == b for a, b in ranks)
    return (
        f"{len(record)} random mechanisms with loops through every step: {faults} faults; the "
        f"number of base parameters is the rank over a prime field in {equal} of {len(ranks)}"
    )


def problems() -> str:
    record = read("benchmark-problems")
    found = Counter(c["outcome"] for c in record["crossing"])
    return (
        f"{len(record['problems'])} problems with independent truth. Through singular positions "
        f"{found['right']} of {found.total()} simulations are right, {found['refused']} stop with "
        f"a reason, {found['wrong']} are wrong"
    )


def scale() -> str:
    record = read("scale")
    large = max(record["large"].values(), key=lambda r: r["bodies"])
    logs = max(record["streamed"].values(), key=lambda r: r["samples"])
    return (
        f"a log of {logs['samples']:.0e} samples in {logs['peak_mb']:.0f} MB; "
        f"{large['bodies']} bodies with {large['loops']} loops through every step"
    )


def mutation() -> str:
    record = read("mutation")
    total = sum(len(counted(sample["mutants"])) for sample in record.values())
    parts = [of for _, of in newest(record).values()]
    found, n = score((e for of in parts for e in of.values()), "before")
    low, high = wilson(found, n)
    shares = [score(of.values(), "before") for of in parts]
    least = min(right / of for right, of in shares)
    return (
        f"{total} deliberate mistakes in five packages. Of the newest sample of each, "
        f"{found / n:.0%} were noticed before tests were added for it (95 % interval {low:.0%} to "
        f"{high:.0%}), {least:.0%} or more of each package"
    )


def versions() -> str:
    trials = read("versions")["trials"]
    steps = sum(len(t["steps"]) for t in trials)
    return (
        f"{len(trials)} clean environments, lowest and newest versions of everything: {steps} steps"
    )


ROWS = {
    "bad-input": (bad_input, "What do damaged files do?", "make fuzz"),
    "faults": (faults, "What is lost when it is killed?", "python -m tests.faults"),
    "numerics": (numerics, "Do other engines agree?", "python -m tests.engines"),
    "chains": (chains, "Do random mechanisms go through?", "make chains"),
    "benchmark-problems": (problems, "Are simulations right?", "python benchmarks/problems.py"),
    "scale": (scale, "How do time and memory grow?", "python -m tests.scale"),
    "mutation": (mutation, "How many deliberate mistakes would the tests notice?", "make mutants"),
    "versions": (versions, "With which versions does it work?", "make package"),
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
