"""One page that compares several runs: verdicts, errors, parameters side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.outputs import write_text
from mechid.report.page import render
from mechid.report.section import Section
from mechid.runs.parameter_meanings import meanings
from mechid.runs.record import Run
from mechid.runs.verdict import verdict
from mechid.runs.verdict_trust import final_model
from mechid.tasks.inputs import run_of

_LOOKS = 6  # colours of runs in strips
_HALF = 110  # pixels of a strip on each side
_WIDE = 1.959964  # standard deviations on both sides hold 95 % of a normal distribution


def write_comparison(runs: Mapping[str, Run | str | Path], path: str | Path) -> Path:
    """Write a page that compares runs and return its path.

    Parameters
    ----------
    runs : mapping name → Run, str or Path
        Two runs or more, or their folders.
    path : str or Path
        Page to write, .html.

    Raises
    ------
    DataError
        If there are fewer than two runs, or the file cannot be written.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0)
    >>> log = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=3)
    >>> runs = {name: mechid.identify("five_bar", log, estimator=name) for name in ("ols", "map")}
    >>> page = mechid.write_comparison(runs, "compare.html")
    """
    if len(runs) < 2:
        raise DataError(f"a comparison needs two runs or more, got {len(runs)}")
    found = {name: run_of(run) for name, run in runs.items()}
    write_text(Path(path), render_comparison(found))
    return Path(path)


def render_comparison(runs: Mapping[str, Run]) -> str:
    """Return the page that compares runs: one HTML text that works offline."""
    title = f"Comparison of {len(runs)} runs"
    return render(
        title,
        Section("comparison_head", title, {"runs": _about(runs)}),
        (
            Section("errors", "Prediction errors", {"motions": _errors(runs), "runs": list(runs)}),
            _parameters(runs),
        ),
    )


def _about(runs: Mapping[str, Run]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "look": k % _LOOKS,
            "model": run.mechanism.title or run.mechanism.name,
            "method": "" if run.estimate is None else run.estimate.method,
            "samples": sum(len(m.time) for m in run.logs),
            "parameters": f"{_size(run)} of {len(run.parameters.names)}",
            "verdict": verdict(run),
        }
        for k, (name, run) in enumerate(runs.items())
    ]


def _size(run: Run) -> int:
    if run.estimate is None:
        return 0
    return len(run.parameters.names) if run.reduction is None else run.reduction.size.size


def _errors(runs: Mapping[str, Run]) -> dict[str, list[tuple[str, list[float | None]]]]:
    """Return, by motion, rows of errors per run: all forces first, then each force.

    Motions of the same name in different runs may be different ones; their sources are named.
    """
    found: dict[str, list[tuple[str, list[float | None]]]] = {}
    by = {
        name: {row.motion: row for row in run.validation if row.model == final_model(run)}
        for name, run in runs.items()
    }
    motions = dict.fromkeys(motion for rows in by.values() for motion in rows)
    for motion in motions:
        own = [rows.get(motion) for rows in by.values()]
        units = dict.fromkeys(u for row in own if row is not None for u in row.overall)
        forces = dict.fromkeys(f for row in own if row is not None for f in row.forces)
        lines = [
            (
                f"all forces in {unit}",
                [None if row is None else row.overall.get(unit) for row in own],
            )
            for unit in units
        ]
        for force in forces:
            errors = [None if row is None else row.forces.get(force) for row in own]
            lines.append((force, [None if e is None else e.E_p for e in errors]))
        found[motion] = lines
    return found


def _parameters(runs: Mapping[str, Run]) -> Section:
    """Return values and standard deviations of all runs, by base parameter."""
    estimated = {name: run for name, run in runs.items() if run.estimate is not None}
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for k, (run_name, run) in enumerate(runs.items()):
        if run_name not in estimated:
            continue
        table, known = run.parameters, meanings(run.mechanism)
        at = {name: i for i, name in enumerate(run.final.parameters)}
        for i, name in enumerate(table.names):
            # A base parameter is its formula: the same name may stand for another combination.
            row = rows.setdefault(
                (name, table.text[i]),
                {
                    "name": name,
                    "text": table.text[i],
                    "meaning": known[name].text,
                    "unit": table.units[i],
                    "values": {},
                },
            )
            if (j := at.get(name)) is not None:
                value, sigma = float(run.final.values[j]), float(run.final.sigma[j])
                row["values"][run_name] = {"value": value, "sigma": sigma, "look": k % _LOOKS}
    for row in rows.values():
        _strip(row)
    values = {"rows": list(rows.values()), "runs": list(runs)}
    return Section("comparison", "Parameters", values)


def _strip(row: dict[str, Any]) -> None:
    """Place the 95 % intervals of a parameter on one strip, in pixels; say how far runs differ."""
    found = list(row["values"].values())
    row["half"], row["differ"] = _HALF, None
    if not found:
        return
    low = min(v["value"] - _WIDE * v["sigma"] for v in found)
    high = max(v["value"] + _WIDE * v["sigma"] for v in found)
    middle, half = (low + high) / 2, (high - low) / 2 or 1.0
    for v in found:
        for key, x in (("at", 0.0), ("low", -_WIDE * v["sigma"]), ("high", _WIDE * v["sigma"])):
            v[key] = (v["value"] + x - middle) / half * _HALF
    pairs = [(a, b) for i, a in enumerate(found) for b in found[:i]]
    sizes = [
        abs(a["value"] - b["value"]) / s
        for a, b in pairs
        if (s := float(np.hypot(a["sigma"], b["sigma"]))) > 0
    ]
    row["differ"] = max(sizes, default=None)
