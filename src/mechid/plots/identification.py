"""What to plot of measurements and of a run: signals, forces with intervals, coverage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.special import ndtri

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import force_unit
from mechid.plots.charts import bars, reduction_figure
from mechid.plots.figures import TIME, by_unit, motion_panels
from mechid.plots.panels import Panel, panel_figure
from mechid.plots.style import COLORS, INK, Plot, styled
from mechid.runs.record import ForceHistory, Run, Validation
from mechid.signals.record import Measurement, PreparedMeasurement

_LEVELS = np.linspace(0.01, 0.99, 99)


def measured_panels(
    names: Sequence[tuple[str, str]],
    data: Measurement | PreparedMeasurement,
    units: Mapping[str, str],
) -> list[Panel]:
    """Return measured coordinates, and the forces where they are valid.

    Parameters
    ----------
    names : sequence of (name, unit)
        Of the coordinates.
    data : Measurement or PreparedMeasurement
    units : mapping force → unit
        As far as they are known.
    """
    tau = np.where(data.valid, data.tau, np.nan)
    curves = [(name, units.get(name, "N or N m"), tau[:, j]) for j, name in enumerate(data.forces)]
    return [*motion_panels(names, data.time, [data.y]), *by_unit(data.time, TIME, curves)]


def force_panels(history: ForceHistory, units: Mapping[str, str]) -> list[Panel]:
    """Return two panels per force: itself, and residuals with the interval of 95 %.

    Where nothing was measured, one panel with the interval.
    """
    lower, upper = history.interval(0.95)
    panels = []
    for j, name in enumerate(history.forces):
        predicted, measured = history.predicted[:, j], history.measured[:, j]
        curves = {"predicted": predicted, "measured": measured, "CAD alone": history.cad[:, j]}
        shown = {k: v for k, v in curves.items() if np.any(np.isfinite(v))}
        unit = units.get(name, "N or N m")
        label, dashed = f"{name} / {unit}", ("CAD alone",)
        band = (lower[:, j], upper[:, j])
        if "measured" not in shown:
            panels.append(Panel(label, history.time, shown, dashed=dashed, band=band))
            continue
        panels.append(Panel(label, history.time, shown, dashed=dashed))
        rest = {"measured − predicted": measured - predicted}
        around = (band[0] - predicted, band[1] - predicted)
        panels.append(Panel(f"residual / {unit}", history.time, rest, band=around))
    return panels


def run_figure(run: Run, what: str = "forces") -> Plot:
    """Return one of the figures of a run.

    Raises
    ------
    DataError
        For another word, or if the run did not come so far.
    """
    units = {c.force: force_unit(c) for c in run.mechanism.coordinates}
    names = [(c.name, c.unit) for c in run.mechanism.coordinates]
    figures: dict[str, Callable[[], Plot | None]] = {
        "forces": lambda: _histories(
            run.forces[run.n_logs : run.n_logs + 1] or run.forces[:1], units
        ),
        "motion": lambda: panel_figure(measured_panels(names, run.motions[0], units)),
        "contribution": lambda: (
            bars(
                run.contribution.parameters,
                run.contribution.index,
                "contribution to the forces / %",
            )
            if run.contribution
            else None
        ),
        "reduction": lambda: reduction_figure(run.reduction) if run.reduction else None,
        "coverage": lambda: coverage_figure(run.forces) if run.forces else None,
    }
    if what not in figures:
        raise DataError(f"unknown plot '{what}'", remedy=f"choose one of: {', '.join(figures)}")
    figure = figures[what]()
    if figure is None:
        raise DataError(f"the run has no {what} to plot", remedy="see run.stages")
    return figure


def validation_figure(validation: Validation) -> Plot:
    """Return measured and predicted forces of all its motions."""
    units = {c.force: force_unit(c) for c in validation.run.mechanism.coordinates}
    figure = _histories(validation.forces, units)
    if figure is None:
        raise DataError("there are no motions to plot")
    return figure


def coverage(history: ForceHistory, levels: Floats = _LEVELS) -> Floats:
    """Return the share of measured forces within their intervals of each level.

    Returns
    -------
    array (n_levels, n_d)
        Equal to the levels if the standard deviations are right; NaN for forces that were
        not measured.
    """
    error = np.abs(history.measured - history.predicted) / history.total
    half = ndtri(0.5 + levels / 2)
    inside = error[None] <= half[:, None, None]
    measured = np.isfinite(error)
    with np.errstate(invalid="ignore"):
        return np.asarray((inside & measured).sum(axis=1) / measured.sum(axis=0))


@styled
def coverage_figure(histories: Sequence[ForceHistory]) -> Plot:
    """Return the share of measured forces within intervals over the level of the interval."""
    figure = Plot(figsize=(4.6, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 100], [0, 100], color=INK, lw=1.0, ls=":")
    k = 0
    for history in histories:
        for name, shares in zip(history.forces, coverage(history).T, strict=True):
            label = f"{name}, {history.name}"
            axes.plot(100 * _LEVELS, 100 * shares, color=COLORS[k % len(COLORS)], label=label)
            k += 1
    axes.set(xlabel="level of the interval / %", ylabel="measured forces inside / %")
    axes.set_aspect("equal")
    axes.legend(loc="upper left")
    return figure


def _histories(histories: Sequence[ForceHistory], units: Mapping[str, str]) -> Plot | None:
    panels = [panel for history in histories for panel in force_panels(history, units)]
    return panel_figure(panels, ", ".join(h.name for h in histories)) if panels else None
