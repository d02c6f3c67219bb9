"""Tables of the page, from the record."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.records import markdown_table

STEPS = (
    "load", "mobility", "kinematics", "inverse dynamics", "observation matrix", "base parameters",
    "simulate 1 s", "identify", "report",
)  # fmt: skip


def tables(record: dict[str, Any]) -> dict[str, str]:
    """Return the tables of docs/reliability/scale.md by name."""
    return {
        "logs": _logs(record),
        "growth": _growth(record),
        "large": _large(record),
        "motions": _motions(record),
    }


def _sorted(part: dict[str, Any]) -> list[dict[str, Any]]:
    return [part[size] for size in sorted(part, key=int)]


def _count(n: int) -> str:
    return f"{n:,}".replace(",", " ")


def _logs(record: dict[str, Any]) -> str:
    heads = ("", "samples", "rows of each force", "CPU, s", "peak memory, MB", "E_p, %")
    names = {"whole": "`identify`", "streamed": "`identify_streamed`"}
    rows = [
        (
            words,
            _count(x["samples"]),
            _count(x["used"]),
            f"{x['cpu']:.0f}",
            f"{x['peak_mb']:.0f}",
            f"{100 * x['E_p']:.3f}",
        )
        for name, words in names.items()
        for x in _sorted(record[name])
    ]
    return markdown_table(heads, rows)


def _growth(record: dict[str, Any]) -> str:
    """Memory and time per sample, between the shortest and the longest log."""
    rows = []
    for name, words in (("whole", "`identify`"), ("streamed", "`identify_streamed`")):
        first, *_, last = _sorted(record[name])
        n = last["samples"] - first["samples"]
        memory = 1e6 * (last["peak_mb"] - first["peak_mb"]) / n
        rows.append((words, f"{memory:.0f}", f"{1e6 * (last['cpu'] - first['cpu']) / n:.0f}"))
    return markdown_table(("", "memory, bytes per sample", "CPU, µs per sample"), rows)


def _large(record: dict[str, Any]) -> str:
    found = _sorted(record["large"])
    heads = ("", *(f"{x['bodies']} bodies, {x['loops']} loops" for x in found), "exponent")
    rows: list[tuple[str, ...]] = [
        ("degrees of freedom", *(str(x["dof"]) for x in found), ""),
        ("parameters", *(str(x["parameters"]) for x in found), ""),
        ("base parameters", *(str(x["base"]) for x in found), ""),
        ("forces from base parameters, error", *(f"{x['base_error']:.0e}" for x in found), ""),
        ("closure in the simulation", *(f"{x['closure']:.0e}" for x in found), ""),
        ("energy error in the simulation", *(f"{x['energy']:.0e}" for x in found), ""),
    ]
    for step in STEPS:
        cpu = [x["steps"][step]["cpu"] for x in found]
        grown = np.log(cpu[-1] / cpu[-2]) / np.log(found[-1]["bodies"] / found[-2]["bodies"])
        rows.append((f"{step}, CPU s", *(f"{c:.2f}" for c in cpu), f"{grown:.1f}"))
    peaks = (f"{max(s['peak_mb'] for s in x['steps'].values()):.0f}" for x in found)
    return markdown_table(heads, [*rows, ("peak memory, MB", *peaks, "")])


def _motions(record: dict[str, Any]) -> str:
    moved, simulated = _sorted(record["motion"]), _sorted(record["simulation"])
    heads = ("", *(f"{x['seconds']} s" for x in moved))

    def row(words: str, found: list[dict[str, Any]], name: str, form: str) -> tuple[str, ...]:
        return (words, *(format(x[name], form) for x in found))

    return markdown_table(
        heads,
        [
            row("samples of the motion", moved, "samples", "d"),
            row("closure, largest, relative to the size", moved, "closure", ".1e"),
            row("closure, last minute", moved, "closure_last", ".1e"),
            row("largest second difference of a coordinate", moved, "second_difference", ".4e"),
            row("last second, against a solution from the reference pose", moved, "history", ".0e"),
            row("motion, CPU s", moved, "cpu", ".0f"),
            row("motion, peak memory, MB", moved, "peak_mb", ".0f"),
            row("steps of the simulation", simulated, "steps", "d"),
            row("energy error in the first tenth", simulated, "energy_tenth", ".1e"),
            row("energy error", simulated, "energy", ".1e"),
            row("closure in the simulation", simulated, "closure", ".1e"),
            row("simulation, CPU s", simulated, "cpu", ".0f"),
            row("simulation, peak memory, MB", simulated, "peak_mb", ".0f"),
        ],
    )
