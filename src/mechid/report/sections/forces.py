"""Measured against predicted forces, with intervals; residuals below."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechid.estimation.regression import Floats
from mechid.report.numbers import NOTHING, percent
from mechid.report.plot import SAMPLES, listed, shown_samples
from mechid.report.section import Section, not_there, units_of
from mechid.runs.record import ForceHistory, Run
from mechid.runs.verdict_trust import final_model, row_of

_KEY, _TITLE = "forces", "Measured and predicted forces"
_BAND = 2.5  # times the largest residual: what is shown of the band around them
_WIDE = 1.959964  # standard deviations on both sides hold 95 % of a normal distribution


def section(run: Run) -> Section:
    """Return the section with a chart for each motion and force."""
    if not run.forces:
        return Section(_KEY, _TITLE, missing=not_there(run, "validation"))
    motions = [
        {
            "name": history.name,
            "source": run.motions[k].source,
            "samples": len(history.time),
            "charts": [_charts(run, history, j) for j in range(len(history.forces))],
        }
        for k, history in enumerate(run.forces)
    ]
    thinned = any(len(history.time) > SAMPLES for history in run.forces)
    return Section(_KEY, _TITLE, {"motions": motions, "thinned": thinned})


def _charts(run: Run, history: ForceHistory, j: int) -> dict[str, Any]:
    """Return the charts of a force: itself, and its residual."""
    name = history.forces[j]
    unit = units_of(run)[name]
    measured, predicted, cad = history.measured[:, j], history.predicted[:, j], history.cad[:, j]
    rest = measured - predicted
    k = shown_samples([measured, predicted, cad, rest])
    wide = _WIDE * history.total[k, j]
    time: dict[str, Any] = {"name": "time", "unit": "s", "values": listed(history.time[k])}
    shared: dict[str, Any] = {"group": history.name, "y": {"unit": unit}}
    above: dict[str, Any] = {
        **shared,
        "title": f"{name}, {history.name}",
        "x": time,
        "series": [
            _curve("lower", "band", predicted[k] - wide),
            _curve("upper", "band", predicted[k] + wide),
            *([_curve("CAD alone", "cad", cad[k])] if np.any(np.isfinite(cad)) else []),
            _curve("measured", "measured", measured[k]),
            _curve("predicted", "predicted", predicted[k]),
        ],
    }
    below: dict[str, Any] = {
        **shared,
        "y": {"unit": unit, "range": residual_range(rest, _WIDE * history.total[:, j])},
        "title": f"residuals of {name}, {history.name}",
        "x": {**time, "label": "time in s"},
        "series": [
            _curve("lower", "band", -wide),
            _curve("upper", "band", wide),
            _curve("measured − predicted", "residual", rest[k]),
        ],
    }
    return {
        "force": name,
        "unit": unit,
        "words": _words(run, history, name),
        "rest": _rest(rest),
        "both": (above, below),
    }


def residual_range(rest: Floats, wide: Floats) -> list[float]:
    """Return the scale of a chart of residuals: all of them, and of a wide band what is near."""
    largest = float(np.nanmax(np.abs(rest), initial=0.0))
    band = float(np.nanmax(wide, initial=0.0))
    half = 1.08 * (max(largest, min(band, _BAND * largest)) or band or 1.0)
    return [-half, half]


def _rest(rest: Floats) -> tuple[float, float]:
    """Return root mean square and largest of residuals."""
    here = rest[np.isfinite(rest)]
    if not here.size:
        return np.nan, np.nan
    return float(np.sqrt(np.mean(here**2))), float(np.abs(here).max())


def _curve(name: str, look: str, values: Floats) -> dict[str, Any]:
    return {"name": name, "look": look, "values": listed(values)}


def _words(run: Run, history: ForceHistory, name: str) -> str:
    row = row_of(run, history.name, final_model(run))
    if row is None or name not in row.forces:
        return ""
    errors = row.forces[name]
    words = f"E_p {percent(errors.E_p)}"
    inside = percent(errors.coverage)
    return words if inside == NOTHING else f"{words}; {inside} inside the intervals"
