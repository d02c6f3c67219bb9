"""The tables of docs/reliability/mutation.md, from the record."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from tests.records import DATA, markdown_table, write_tables

from .operators import OPERATORS
from .sample import KERNELS, PACKAGES, stratum_of, wilson

RECORD = DATA / "mutation.json"
PAGE = "mutation.md"
_EQUIVALENT = Path(__file__).with_name("equivalent.yaml")
_SURVIVED = ("survived", "not reached")
Entries = dict[str, dict[str, Any]]


def equivalent() -> dict[str, str]:
    """Return the mutants that compute the same, with the reason."""
    return yaml.safe_load(_EQUIVALENT.read_text("utf-8")) or {}


def is_left(entry: dict[str, Any], when: str = "outcome") -> bool:
    """Whether no test noticed a mutant, now or before tests were added ("before")."""
    return entry[when] in _SURVIVED


def counted(entries: Entries) -> Entries:
    """Return the mutants that count: those that do not compute the same."""
    same = equivalent()
    return {name: entry for name, entry in entries.items() if name not in same}


def score(entries: Iterable[dict[str, Any]], when: str = "outcome") -> tuple[int, int]:
    """Return how many were noticed, and of how many."""
    left = [is_left(entry, when) for entry in entries]
    return len(left) - sum(left), len(left)


def newest(record: dict[str, Any]) -> dict[str, tuple[str, Entries]]:
    """Return the last sample that has mutants of each package, its seed and those that count."""
    found: dict[str, tuple[str, Entries]] = {}
    for seed, sample in record.items():
        for package in PACKAGES:
            of = {n: e for n, e in sample["mutants"].items() if stratum_of(n) == package}
            if of:
                found[package] = (seed, counted(of))
    return found


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    record = json.loads(RECORD.read_text("utf-8"))
    everything: Entries = {}
    for sample in record.values():
        everything |= sample["mutants"]
    made = {f"scores-{seed}": _scores(sample) for seed, sample in record.items()}
    left = {n: e for n, e in counted(everything).items() if is_left(e)}
    same = equivalent()
    return made | {
        "newest": _newest(record),
        "operators": _operators(everything),
        "left": _changes(left, ("outcome",)),
        "equivalent": markdown_table(
            ("mutant", "change", "why no test can notice"),
            [(f"`{n}`", _code(everything[n]["change"]), same[n]) for n in same if n in everything],
        ),
    }


def write_page() -> None:
    """Put the tables into the page."""
    write_tables(PAGE, tables())


def _scores(sample: dict[str, Any]) -> str:
    heads = (
        "code", "possible", "tried", "computes the same", "noticed", "of them by time",
        "not noticed", "score", "95 % interval", "score before",
    )  # fmt: skip
    by: dict[str, Entries] = {}
    for name, entry in sample["mutants"].items():
        by.setdefault(stratum_of(name), {})[name] = entry
    rows = [_row(name, sample["population"][name], by[name]) for name in sorted(by)]
    together = {n: e for name, part in by.items() if name != KERNELS for n, e in part.items()}
    size = sum(n for name, n in sample["population"].items() if name != KERNELS)
    rows.append(_row("all but the kernels", size, together))
    return markdown_table(heads, rows)


def _row(name: str, size: int, entries: Entries) -> tuple[object, ...]:
    counts = counted(entries)
    found, n = score(counts.values())
    before, _ = score(counts.values(), "before")
    late = sum(e["outcome"] == "time-out" for e in counts.values())
    low, high = wilson(found, n)
    return (
        name, size, len(entries), len(entries) - n, found, late, n - found,
        f"{found / max(n, 1):.0%}", f"{low:.0%} to {high:.0%}", f"{before / max(n, 1):.0%}",
    )  # fmt: skip


def _newest(record: dict[str, Any]) -> str:
    heads = ("code", "seed of the sample", "noticed", "of", "score before", "95 % interval")
    parts = newest(record)
    rows = [_newest_row(name, *parts[name]) for name in sorted(parts)]
    together = {n: e for _, of in parts.values() for n, e in of.items()}
    rows.append(_newest_row("together", "", together))
    return markdown_table(heads, rows)


def _newest_row(name: str, seed: str, entries: Entries) -> tuple[object, ...]:
    found, n = score(entries.values(), "before")
    low, high = wilson(found, n)
    return name, seed, found, n, f"{found / max(n, 1):.0%}", f"{low:.0%} to {high:.0%}"


def _operators(entries: Entries) -> str:
    rows = []
    for name, operator in OPERATORS.items():
        of = counted({n: e for n, e in entries.items() if e["operator"] == name})
        found, n = score(of.values())
        words = (operator.__doc__ or "").strip().replace("|", "\\|")
        rows.append((name, words, n, n - found))
    return markdown_table(("operator", "what is put there", "tried", "not noticed"), rows)


def _changes(entries: Entries, fields: tuple[str, ...]) -> str:
    return markdown_table(
        ("mutant", "line", "change", *fields),
        [
            (f"`{n}`", e["line"], _code(e["change"]), *(e[f] for f in fields))
            for n, e in sorted(entries.items())
        ],
    )


def _code(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return f"`{line if len(line) <= 120 else line[:119] + '…'}`"
