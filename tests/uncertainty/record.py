"""The record of many trials, and the tables of the page that are rendered from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import binomtest
from tests.records import DATA, markdown_table

PAGE, RECORD = "uncertainty.md", DATA / "uncertainty.json"
# Coverage of nominal 95 % below which intervals are called too narrow.
NARROW = 0.85
FORCES = ("forces without noise", "forces with noise")
_ORDER = (
    "seen by the data", "seen by both", "resting on the prior", "moments of slender bodies",
    "friction and drives", *FORCES,
)  # fmt: skip


def summary(runs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each mechanism, law and class."""
    cells: dict[tuple[str, str, str], list[tuple[bool, Mapping[str, float]]]] = {}
    for run in runs:
        for name, counts in run["classes"].items():
            key = run["machine"], run["law"], name
            cells.setdefault(key, []).append((bool(run["said"]), counts))
    return [
        {
            "machine": machine,
            "law": law,
            "class": name,
            "runs": len(found),
            "said": sum(said for said, _ in found),
            **_coverage([counts for _, counts in found]),
            "silent": _coverage([counts for said, counts in found if not said]),
        }
        for (machine, law, name), found in cells.items()
    ]


def _coverage(counts: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Return coverage with its bounds.

    Parameters of one run are not independent: values count as many as the scatter from run to run
    says, and at least one for each run.
    """
    if not counts:
        return {"n": 0}
    n, k = (np.array([c[name] for c in counts], dtype=float) for name in ("n", "95"))
    p = float(np.sum(k) / np.sum(n))
    scatter = float(np.sum((k - p * n) ** 2)) / np.sum(n) ** 2
    number = p * (1 - p) / scatter if scatter > 0 else len(counts)
    number = round(float(np.clip(number, len(counts), np.sum(n))))
    bounds = binomtest(round(p * number), number).proportion_ci(method="wilson")
    return {
        "n": int(np.sum(n)),
        "68": round(sum(c["68"] for c in counts) / np.sum(n), 4),
        "95": round(p, 4),
        "low": round(float(bounds.low), 4),
        "high": round(float(bounds.high), 4),
        "worst": round(max(c["worst"] for c in counts), 2),
    }


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    rows = json.loads(RECORD.read_text("utf-8"))
    machines = list(dict.fromkeys(row["machine"] for row in rows))
    found = {"sizes": _sizes(rows, machines), "narrow": _narrow(rows)}
    for machine in machines:
        own = [row for row in rows if row["machine"] == machine]
        found[machine] = _classes([row for row in own if row["class"] not in FORCES])
        found[f"{machine} forces"] = _classes([row for row in own if row["class"] in FORCES])
    return found


def _sizes(rows: Sequence[Mapping[str, Any]], machines: Sequence[str]) -> str:
    lines = []
    for machine in machines:
        seeds = {
            row["law"]: row["runs"]
            for row in rows
            if row["machine"] == machine and row["class"] == FORCES[0]
        }
        many = [law for law, number in seeds.items() if number == max(seeds.values())]
        lines.append(
            (
                f"`{machine}`",
                len(seeds),
                f"{max(seeds.values())} ({len(many)} laws)",
                min(seeds.values()),
                sum(seeds.values()),
            )
        )
    return markdown_table(
        ("mechanism", "laws", "most seeds", "fewest seeds", "identifications"), lines
    )


def _classes(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return coverage by law and class, in percent."""
    names = sorted({row["class"] for row in rows}, key=_ORDER.index)
    # Not every run has parameters of every class.
    laws: dict[str, tuple[int, int]] = {}
    for row in rows:
        laws[row["law"]] = max(laws.get(row["law"], (0, 0)), (row["runs"], row["said"]))
    cells = {(row["law"], row["class"]): _cell(row) for row in rows}
    return markdown_table(
        ("law of error", "runs", "say so", *names),
        [
            (law, *counts, *(cells.get((law, name), "") for name in names))
            for law, counts in laws.items()
        ],
    )


def _cell(row: Mapping[str, Any]) -> str:
    inside = f"{100 * row['95']:.0f}"
    if row["silent"]["n"] and row["silent"]["high"] < 0.95 and row["silent"]["95"] < NARROW:
        inside = f"**{inside}**"
    bounds = f"{100 * row['low']:.0f}–{100 * row['high']:.0f}"
    return f"{inside} ({bounds})<br>{100 * row['68']:.0f}, {row['worst']:.1f}"


def _narrow(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return where intervals are too narrow in runs that say nothing."""
    found = [
        (
            f"`{row['machine']}`",
            row["law"],
            row["class"],
            f"{100 * own['95']:.0f} %",
            f"{own['worst']:.1f}",
        )
        for row in rows
        if (own := row["silent"])["n"] and own["95"] < NARROW and own["high"] < 0.95
    ]
    if not found:
        return "Nowhere."
    return markdown_table(("mechanism", "law of error", "class", "inside 95 %", "worst"), found)
