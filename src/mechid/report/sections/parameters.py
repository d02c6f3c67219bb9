"""The table of parameters: CAD, value, standard deviation, truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechid.report.section import Section, not_there
from mechid.runs.parameter_meanings import base_meaning, meanings
from mechid.runs.record import Run

_KEY, _TITLE = "parameters", "Parameters"
_STRIP, _HALF = 4.0, 60  # of a strip: prior standard deviations and pixels on each side
_WIDE = 1.959964  # standard deviations on both sides hold 95 % of a normal distribution


def section(run: Run) -> Section:
    """Return the section."""
    if run.estimate is None:
        return Section(_KEY, _TITLE, missing=not_there(run, "estimate"))
    rows = parameter_rows(run)
    scores = [row["z"] for row in rows if row["z"] is not None and np.isfinite(row["z"])]
    covered = float(np.mean(np.abs(scores) <= 1.959964)) if scores else None
    counts = {mark: sum(row["mark"] == mark for row in rows) for mark in ("cad", "out")}
    values = {
        "rows": rows,
        "truth": run.parameters.truth is not None,
        "covered": covered,
        "known": run.final.known,
        "condition": run.final.condition,
        "counts": counts,
        "rest": None if run.reduction is None else run.reduction.rest,
        "bodies": [(k, body.name) for k, body in enumerate(run.mechanism.bodies, start=1)],
    }
    return Section(_KEY, _TITLE, values)


def parameter_rows(run: Run) -> list[dict[str, Any]]:
    """Return a row per base parameter; `mark` says where its value comes from.

    "data", "cad" (determined mainly by the prior), or "out" (eliminated).
    """
    table, final, known = run.parameters, run.final, meanings(run.mechanism)
    at = {name: i for i, name in enumerate(final.parameters)}
    kept = None if run.reduction is None else set(run.reduction.chosen)
    resting = set(final.resting)
    rows = []
    for i, name in enumerate(table.names):
        k = at.get(name)
        row: dict[str, Any] = {
            "name": name,
            "owner": known[name].owner,
            "property": known[name].what,
            "meaning": base_meaning(name, table.text[i], known),
            "latex": table.latex[i],
            "unit": table.units[i],
            "cad": float(table.cad[i]),
            "cad_sigma": float(table.cad_sigma[i]),
            "value": None if k is None else float(final.values[k]),
            "sigma": None if k is None else float(final.sigma[k]),
            "percent": None if k is None else float(final.relative[k]),
            "truth": None if table.truth is None else float(table.truth[i]),
            "z": None,
            "mark": "data",
        }
        if kept is not None and name not in kept:
            row["mark"] = "out"
        elif name in resting:
            row["mark"] = "cad"
        if row["truth"] is not None and row["sigma"]:
            row["z"] = (row["value"] - row["truth"]) / row["sigma"]
        row["strip"] = _strip(row)
        rows.append(row)
    return rows


def _strip(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return where the 95 % intervals of prior and value lie, in pixels from the CAD value."""
    size = row["cad_sigma"]
    if row["value"] is None or not np.isfinite(row["cad"]) or not size or not np.isfinite(size):
        return None

    def at(value: float) -> float:
        return float(np.clip(value, -_STRIP, _STRIP)) * _HALF / _STRIP

    shift, wide = (row["value"] - row["cad"]) / size, _WIDE * row["sigma"] / size
    truth = row["truth"]
    return {
        "prior": at(_WIDE),
        "low": at(shift - wide),
        "high": at(shift + wide),
        "value": at(shift),
        "out": abs(shift) > _STRIP,
        "shift": shift,
        "truth": None if truth is None else at((truth - row["cad"]) / size),
        "half": _HALF,
    }
