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
from mechid.mechanism.records import Mechanism
from mechid.plots.bars import bars, dots
from mechid.plots.figures import inverse_panels, motion_panels, simulation_panels, times
from mechid.plots.panels import Panel, panel_figure
from mechid.plots.picture import picture
from mechid.reduction.contribution import Contribution
from mechid.reduction.reduce import Reduction


@singledispatch
def draw(record: object) -> Figure:
    """Return the figure of a record."""
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


@draw.register
def _(record: Reduction) -> Figure:
    c = record.curves
    errors = {"identification": c.identification_total}
    errors |= {f"validation {k + 1}": v for k, v in enumerate(c.validation_total.T)}
    if c.blocks.shape[1]:
        errors["cross-validation"] = c.cross
    conditions = {"columns of unit length": c.condition, "SI units": c.raw_condition}
    shared = {"log": True, "mark": float(record.size.size), "x": "number of parameters"}
    sizes = c.sizes.astype(float)
    percent = {name: 100.0 * values for name, values in errors.items()}
    return panel_figure(
        [
            Panel("prediction error / %", sizes, percent, **shared),  # type: ignore[arg-type]
            Panel("condition number", sizes, conditions, **shared),  # type: ignore[arg-type]
        ]
    )
