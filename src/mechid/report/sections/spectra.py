"""Spectra of measured forces and residuals: at which frequencies something is left."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import welch

from mechid.estimation.regression import Floats
from mechid.report.plot import listed
from mechid.report.section import Section, not_there, units_of
from mechid.runs.record import ForceHistory, Run

_KEY, _TITLE = "spectra", "Spectra"
_SEGMENT = 256  # samples of a segment, whose spectra are averaged
_FEWEST = 32


def section(run: Run) -> Section:
    """Return the section with a chart for each force, of the first log and a motion not used."""
    if not run.forces:
        return Section(_KEY, _TITLE, missing=not_there(run, "validation"))
    histories = [*run.forces[:1], *run.forces[run.n_logs : run.n_logs + 1]]
    motions = [
        {"name": h.name, "charts": [c for j in range(len(h.forces)) if (c := _chart(run, h, j))]}
        for h in histories
    ]
    motions = [motion for motion in motions if motion["charts"]]
    if not motions:
        return Section(_KEY, _TITLE, missing=f"Spectra need {_FEWEST} samples in a row.")
    return Section(_KEY, _TITLE, {"motions": motions})


def amplitude_density(values: Floats, step: float) -> tuple[Floats, Floats]:
    """Return frequencies in Hz and the amplitude density, unit per √Hz, without the mean.

    White noise of standard deviation σ has σ √(2 step) at all frequencies.
    """
    n = min(len(values), _SEGMENT)
    frequency, power = welch(values - values.mean(), fs=1.0 / step, nperseg=n)
    return frequency[1:], np.sqrt(power[1:])


def _chart(run: Run, history: ForceHistory, j: int) -> dict[str, Any] | None:
    name = history.forces[j]
    unit = units_of(run)[name]
    here = _longest(np.isfinite(history.measured[:, j]))
    if here.stop - here.start < _FEWEST:
        return None
    step = float(np.median(np.diff(history.time[here])))
    measured, predicted = history.measured[here, j], history.predicted[here, j]
    frequency, force = amplitude_density(measured, step)
    rest = amplitude_density(measured - predicted, step)[1]
    noise = np.full_like(frequency, float(run.final.noise[j]) * np.sqrt(2 * step))
    curves = {"measured": ("measured", force), "measured − predicted": ("residual", rest)}
    if np.isfinite(noise).all() and noise[0] > 0:
        curves["noise, if white"] = ("cad", noise)
    x: dict[str, Any] = {
        "name": "frequency",
        "unit": "Hz",
        "label": "frequency in Hz",
        "values": listed(frequency),
    }
    return {
        "title": f"spectrum of {name}, {history.name}",
        "force": name,
        "unit": f"{unit}/√Hz",
        "group": "",
        "x": x,
        "y": {"unit": f"{unit}/√Hz", "log": True},
        "series": [
            {"name": label, "look": look, "values": listed(values)}
            for label, (look, values) in curves.items()
        ],
    }


def _longest(there: np.ndarray) -> slice:
    """Return the longest run of samples that are there."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], there, [False]]).astype(int)))
    if not edges.size:
        return slice(0, 0)
    starts, ends = edges[::2], edges[1::2]
    k = int(np.argmax(ends - starts))
    return slice(int(starts[k]), int(ends[k]))
