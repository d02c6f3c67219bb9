"""One table per type of record: what `record.to_frame()` returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from mechid.base.analyse import BaseParameters
from mechid.base.baseset import BaseSet
from mechid.base.expressions import readable
from mechid.base.nullspace import parameter_columns
from mechid.dynamics.inverse import InverseDynamics
from mechid.dynamics.reactions import JointReactions
from mechid.dynamics.regressor import Observation
from mechid.dynamics.simulation import Simulation, simulated_motion
from mechid.errors import MechidError
from mechid.estimation.estimate import Estimate
from mechid.excitation.trajectory import Trajectory, sample
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import Mechanism
from mechid.plots.charts import reduction_errors
from mechid.reduction.contribution import Contribution
from mechid.reduction.reduce import Reduction
from mechid.report.sections.parameters import parameter_rows
from mechid.runs.payload import Payload
from mechid.runs.record import ForceHistory, Run, Validation
from mechid.signals.record import Measurement, PreparedMeasurement
from mechid.tables.forces import inverse_columns, reaction_columns
from mechid.tables.motion import TIME
from mechid.tables.observe import coordinate_columns
from mechid.tables.simulation import simulation_columns
from mechid.tasks.excite import DesignedMotion
from mechid.tasks.synthesise import Synthesis

if TYPE_CHECKING:
    from pandas import DataFrame


@singledispatch
def to_frame(record: object) -> DataFrame:
    """Return the table of a record."""
    raise NotImplementedError(f"{type(record).__name__} has no table")


@to_frame.register
def _(record: Mechanism) -> Any:
    """Return the parameters: owner, unit, CAD value."""
    columns = parameter_columns(record)
    table = {"owner": [c.owner for c in columns], "unit": [c.unit for c in columns]}
    cad = [np.nan if c.value is None else c.value for c in columns]
    return _frame({**table, "cad": cad}, "parameter", [c.name for c in columns])


@to_frame.register
def _(record: Motion) -> Any:
    time = {} if record.time is None else {TIME: record.time}
    return _frame(time | coordinate_columns(record))


@to_frame.register
def _(record: Trajectory) -> Any:
    found = sample(record)
    columns = {TIME: found.time}
    for i, name in enumerate(record.names):
        columns |= {
            f"{name}{s}": x[:, i] for s, x in zip(("", ".d", ".dd"), found[1:], strict=True)
        }
    return _frame(columns)


@to_frame.register
def _(record: Observation) -> Any:
    """Return W with a row per sample and force, and `known` as the last column."""
    n, n_i, p = record.W.shape
    rows = {"sample": np.repeat(np.arange(n), n_i), "coordinate": np.tile(np.arange(n_i), n)}
    W = record.W.reshape(-1, p)
    columns = {c.name: W[:, k] for k, c in enumerate(record.columns)}
    return _frame({**rows, **columns, "known": record.known.ravel()}).set_index(list(rows))


@to_frame.register
def _(record: InverseDynamics) -> Any:
    return _frame(inverse_columns(record))


@to_frame.register
def _(record: JointReactions) -> Any:
    return _frame(reaction_columns(record))


@to_frame.register
def _(record: Simulation) -> Any:
    return _frame(simulation_columns(record, simulated_motion(record)))


@to_frame.register
def _(record: BaseSet) -> Any:
    units = {c.name: c.unit for c in record.null_space.columns}
    words = readable(record)
    table = {"unit": [units[n] for n in record.base], "expression": [words[n][0] for n in words]}
    return _frame(table, "parameter", record.base)


@to_frame.register
def _(record: BaseParameters) -> Any:
    return to_frame(record.chosen)


@to_frame.register
def _(record: Estimate) -> Any:
    table = {"value": record.values, "sigma": record.sigma, "percent": record.relative}
    prior = [name in record.resting for name in record.parameters]
    return _frame({**table, "mainly_prior": prior}, "parameter", record.parameters)


@to_frame.register
def _(record: Contribution) -> Any:
    table = {"index": record.index, "share": record.share}
    return _frame(table, "parameter", record.parameters).sort_values("index", ascending=False)


@to_frame.register
def _(record: Reduction) -> Any:
    """Return condition numbers and prediction errors of each size."""
    c = record.curves
    table = {"condition": c.condition, "condition_si": c.raw_condition, **reduction_errors(c)}
    return _frame(table, "size", c.sizes)


@to_frame.register
def _(record: Run) -> Any:
    """Return the base parameters: CAD value, value, standard deviation, truth, error in σ.

    `source` says where a value comes from: "data", "cad" (mainly the prior), "out" (eliminated).
    """
    rows = parameter_rows(record)
    names = {n: "source" if n == "mark" else n for n in rows[0] if n not in ("name", "latex")}
    table = {shown: [row[name] for row in rows] for name, shown in names.items()}
    return _frame(table, "parameter", record.parameters.names)


@to_frame.register
def _(record: Validation) -> Any:
    """Return the errors, a row per motion, model and force."""
    rows = [
        {"motion": row.motion, "model": row.model, "force": force, **asdict(error)}
        for row in record.rows
        for force, error in row.forces.items()
    ]
    return _frame({name: [row[name] for row in rows] for name in rows[0]})


@to_frame.register
def _(record: Payload) -> Any:
    """Return mass, centre and inertia; NaN for what is not determined."""
    rows = record.rows
    columns = {k: [row[k] for row in rows] for k in ("value", "sigma", "unit", "determined")}
    return _frame(columns, "quantity", [row["quantity"] for row in rows])


@to_frame.register
def _(record: ForceHistory) -> Any:
    columns = {TIME: record.time}
    for j, name in enumerate(record.forces):
        for kind in ("measured", "predicted", "sigma", "total", "cad"):
            columns[f"{name}.{kind}"] = getattr(record, kind)[:, j]
    return _frame(columns)


@to_frame.register
def _(record: Measurement) -> Any:
    rates = (record.y, record.yd, record.ydd)
    return _measured(record, [c.name for c in record.coordinates], rates)


@to_frame.register
def _(record: PreparedMeasurement) -> Any:
    names = [f"y{k + 1}" for k in range(record.y.shape[1])]
    return _measured(record, names, (record.y, record.yd, record.ydd))


@to_frame.register
def _(record: Synthesis) -> Any:
    return _frame(record.table())


@to_frame.register
def _(record: DesignedMotion) -> Any:
    return to_frame(record.trajectory)


def _measured(record: Measurement | PreparedMeasurement, names: Sequence[str], rates: Any) -> Any:
    """Return time, coordinates with their rates, and forces where they are valid."""
    columns = {TIME: record.time}
    for i, name in enumerate(names):
        parts = zip(("", ".d", ".dd"), rates, strict=True)
        columns |= {f"{name}{s}": values[:, i] for s, values in parts if values is not None}
    tau = np.where(record.valid, record.tau, np.nan)
    return _frame(columns | {name: tau[:, j] for j, name in enumerate(record.forces)})


def _frame(columns: Any, index_name: str | None = None, index: Any = None) -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise MechidError(
            "to_frame needs pandas, which is not installed", remedy="pip install pandas"
        ) from None
    rows = None if index is None else pd.Index(list(index), name=index_name)
    return pd.DataFrame(dict(columns), index=rows)
