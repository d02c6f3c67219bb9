"""The table of parameters: CAD, value, standard deviation, truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechid.report.section import Section
from mechid.report.words import not_there
from mechid.runs.record import Run

_KEY, _TITLE = "parameters", "Parameters"


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
    }
    return Section(_KEY, _TITLE, values)


def parameter_rows(run: Run) -> list[dict[str, Any]]:
    """Return a row per base parameter; `mark` says where its value comes from.

    "data", "cad" (determined mainly by the prior), or "out" (eliminated).
    """
    table, final = run.parameters, run.final
    at = {name: i for i, name in enumerate(final.parameters)}
    kept = None if run.reduction is None else set(run.reduction.chosen)
    resting = set(final.resting)
    rows = []
    for i, name in enumerate(table.names):
        k = at.get(name)
        row: dict[str, Any] = {
            "name": name,
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
        rows.append(row)
    return rows
