"""Texts that several sections share: units of forces, names of models, errors on motions."""

from __future__ import annotations

from mechid.runs.record import Run, ValidationRow
from mechid.tables.forces import force_unit

MODELS = {"cad": "CAD values alone", "estimate": "all parameters", "reduced": "reduced model"}


def units_of(run: Run) -> dict[str, str]:
    """Return the unit of each force."""
    return {c.force: force_unit(c) for c in run.mechanism.coordinates}


def final_model(run: Run) -> str:
    """Return the name of the model to predict with."""
    return "estimate" if run.reduced is None else "reduced"


def row_of(run: Run, motion: str, model: str) -> ValidationRow | None:
    """Return the validation of a model on a motion, if there is one."""
    rows = (row for row in run.validation if (row.motion, row.model) == (motion, model))
    return next(rows, None)


def not_there(run: Run, stage: str) -> str:
    """Return a sentence: a stage of the run is missing."""
    last = run.stages[-1] if run.stages else ""
    return f"The run was stopped before the stage “{stage}”" + (
        f"; the last complete stage is “{last}”." if last else "."
    )
