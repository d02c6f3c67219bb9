"""Texts that several sections share: units of forces, names of models, errors on motions."""

from __future__ import annotations

from mechid.runs.record import Run
from mechid.tables.forces import force_unit

MODELS = {"cad": "CAD values alone", "estimate": "all parameters", "reduced": "reduced model"}


def units_of(run: Run) -> dict[str, str]:
    """Return the unit of each force."""
    return {c.force: force_unit(c) for c in run.mechanism.coordinates}


def not_there(run: Run, stage: str) -> str:
    """Return a sentence: a stage of the run is missing."""
    last = run.stages[-1] if run.stages else ""
    return f"The run was stopped before the stage “{stage}”" + (
        f"; the last complete stage is “{last}”." if last else "."
    )
