"""Runs in the folder: what they found, their reports, side by side; runs in the worker."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mechid.options import to_words
from mechid.report.compare import render_comparison
from mechid.report.page import write_report
from mechid.runs.folder import load_run
from mechid.runs.record import Run
from mechid.runs.verdict import verdict as verdict_of

REPORT = "report.html"


def report(path: str) -> str:
    """Write the report of a run beside it, unless it is that of the run, and return its path.

    It has the time of run.json, so that no clock that was set back makes an old page look new.
    """
    page = Path(path) / REPORT
    written = (Path(path) / "run.json").stat().st_mtime_ns
    if not page.is_file() or page.stat().st_mtime_ns != written:
        write_report(path, page)
        os.utime(page, ns=(written, written))
    return str(page)


def comparison(paths: list[str]) -> str:
    """Return the page that compares runs."""
    return render_comparison({path: load_run(path) for path in paths})


def verdict(path: str) -> Any:
    """Return the verdict on a run: three answers in plain words, with what they rest on."""
    return to_words(verdict_of(path))


def compare(paths: list[str]) -> dict[str, Any]:
    """Return runs side by side.

    Returns
    -------
    dict
        `runs`: path, model, method and errors of each; `parameters`: name, unit, CAD value, and
        value and standard deviation (None where a run does not have it) in the order of the runs.
    """
    loaded = [load_run(path) for path in paths]
    names = list(dict.fromkeys(name for run in loaded for name in run.parameters.names))
    return {
        "runs": [_run(path, run) for path, run in zip(paths, loaded, strict=True)],
        "parameters": [_row(name, loaded) for name in names],
    }


def _run(path: str, run: Run) -> dict[str, Any]:
    return {
        "path": path,
        "model": run.mechanism.name,
        "method": run.final.method,
        "samples": sum(len(motion.time) for motion in run.logs),
        "warnings": list(run.warnings),
        "validation": [
            {"motion": row.motion, "model": row.model, "overall": row.overall}
            for row in run.validation
        ],
    }


def _row(name: str, loaded: list[Run]) -> dict[str, Any]:
    cells: list[dict[str, Any] | None] = []
    unit, cad = "", None
    for run in loaded:
        table = run.parameters
        at = {n: i for i, n in enumerate(table.names)}.get(name)
        if at is None:
            cells.append(None)
            continue
        unit = table.units[at]
        if table.cad is not None:
            cad = float(table.cad[at])
        final = run.final
        k = {n: i for i, n in enumerate(final.parameters)}.get(name)
        cells.append(
            None if k is None else {"value": float(final.values[k]), "sigma": float(final.sigma[k])}
        )
    return {"name": name, "unit": unit, "cad": cad, "runs": cells}
