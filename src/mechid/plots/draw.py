"""One figure per type of record: what `record.plot()` draws."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from matplotlib.figure import Figure

from mechid.dynamics.inverse import InverseDynamics
from mechid.dynamics.reactions import JointReactions
from mechid.dynamics.simulation import Simulation
from mechid.estimation.estimate import Estimate
from mechid.excitation.trajectory import Trajectory, sample
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import Mechanism, force_unit
from mechid.plots.charts import bars, dots, reduction_figure
from mechid.plots.figures import inverse_panels, motion_panels, simulation_panels, times
from mechid.plots.identification import (
    force_panels,
    measured_panels,
    run_figure,
    validation_figure,
)
from mechid.plots.panels import Panel, panel_figure
from mechid.plots.picture import picture
from mechid.reduction.contribution import Contribution
from mechid.reduction.reduce import Reduction
from mechid.runs.record import ForceHistory, Run, Validation
from mechid.signals.record import Measurement, PreparedMeasurement
from mechid.tasks.excite import DesignedMotion
from mechid.tasks.synthesise import Synthesis


@singledispatch
def draw(record: object, *what: str) -> Figure:
    """Return the figure of a record; `what` chooses where there are several."""
    raise NotImplementedError(f"{type(record).__name__} has no plot")


draw.register(Mechanism, picture)


@draw.register
def _(record: Motion) -> Figure:
    names = [(c.name, c.unit) for c in record.model.mechanism.coordinates]
    return panel_figure(motion_panels(names, record.time, (record.y, record.yd, record.ydd)))


@draw.register
def _(record: Trajectory) -> Figure:
    found = sample(record)
    names = [
        (name, "(m or rad)") for name in record.names
    ]  # a trajectory does not know its mechanism
    return panel_figure(motion_panels(names, found.time, found[1:]), record.name)


@draw.register
def _(record: Simulation) -> Figure:
    return panel_figure(simulation_panels(record))


@draw.register
def _(record: InverseDynamics) -> Figure:
    return panel_figure(inverse_panels(record))


@draw.register
def _(record: JointReactions) -> Figure:
    where, x = times(None, len(record.force))
    panels = [
        Panel(
            label,
            where,
            {name: np.linalg.norm(values[:, j], axis=1) for j, name in enumerate(record.joints)},
            x=x,
        )
        for label, values in (("|force| / N", record.force), ("|moment| / N m", record.moment))
    ]
    return panel_figure(panels)


@draw.register
def _(record: Estimate) -> Figure:
    return dots(record.parameters, record.relative, "standard deviation / %", mark=10.0)


@draw.register
def _(record: Contribution) -> Figure:
    return bars(record.parameters, record.index, "contribution to the forces / %")


draw.register(Reduction, reduction_figure)
draw.register(Run, run_figure)
draw.register(Validation, validation_figure)


@draw.register
def _(record: ForceHistory) -> Figure:
    return panel_figure(force_panels(record, {}), record.name)


@draw.register
def _(record: Measurement) -> Figure:
    names = [(c.name, c.unit) for c in record.coordinates]
    units = {c.force: force_unit(c) for c in record.coordinates}
    return panel_figure(measured_panels(names, record, units))


@draw.register
def _(record: Synthesis) -> Figure:
    return draw(record.measurement)


@draw.register
def _(record: PreparedMeasurement) -> Figure:
    # What was prepared does not know the names of its coordinates.
    names = [(f"y{k + 1}", "(m or rad)") for k in range(record.y.shape[1])]
    return panel_figure(measured_panels(names, record, {}), record.name)


@draw.register
def _(record: DesignedMotion) -> Figure:
    found = sample(record.trajectory.ordered([c.name for c in record.mechanism.coordinates]))
    names = [(c.name, c.unit) for c in record.mechanism.coordinates]
    return panel_figure(motion_panels(names, found.time, found[1:]))
