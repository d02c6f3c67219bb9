"""What the models of a run are worth on its motions: CAD values, estimate, reduced model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.regression import Regression
from mechid.runs.record import ForceCourse, Run
from mechid.validation.errors import force_errors
from mechid.validation.validate import validate

LEVEL = 0.95


def force_course(run: Run, name: str, regression: Regression) -> ForceCourse:
    """Return measured and predicted forces of a motion, by the final model of a run."""
    found = predict(run.final, regression)
    return ForceCourse(
        name,
        regression.time,
        regression.channels,
        np.where(regression.valid, regression.tau, np.nan),
        found.forces,
        found.sigma,
        found.total,
        np.asarray(regression.W @ run.parameters.cad + regression.known),
    )


def validation_rows(
    run: Run, regressions: Mapping[str, Regression]
) -> tuple[Mapping[str, Any], ...]:
    """Return one row per motion and model, as `Run.validation` holds them.

    Parameters
    ----------
    run : Run
        With an estimate.
    regressions : mapping motion → Regression
        With all base parameters.
    """
    rows: list[Mapping[str, Any]] = []
    for motion, regression in regressions.items():
        for model, estimate in models_of(run):
            rows.append(_row(run, motion, model, estimate, regression))
    return tuple(rows)


def models_of(run: Run) -> Sequence[tuple[str, Estimate | None]]:
    """Return the models of a run by name; None stands for the CAD values, if there are some."""
    models: list[tuple[str, Estimate | None]] = []
    if np.all(np.isfinite(run.parameters.cad)):
        models.append(("cad", None))
    models += [(name, e) for name, e in (("estimate", run.estimate), ("reduced", run.reduced)) if e]
    return models


def _row(
    run: Run, motion: str, model: str, estimate: Estimate | None, regression: Regression
) -> Mapping[str, Any]:
    if estimate is None:
        forces = regression.W @ run.parameters.cad + regression.known
    else:
        forces = predict(estimate, regression).forces
    errors = force_errors(forces, regression)
    by_force: dict[str, dict[str, float]] = {
        name: {
            "E_p": float(errors.prediction[j]),
            "rms": float(errors.rms[j]),
            "absolute": float(errors.absolute[j]),
            "r2": float(errors.r2[j]),
        }
        for j, name in enumerate(regression.channels)
    }
    if estimate is run.final:
        more = validate(run.final, regression, level=LEVEL)
        for j, name in enumerate(regression.channels):
            by_force[name] |= {
                "coverage": float(more.coverage[j]),
                "lag_one": float(more.whiteness.lag_one[j]),
                "white": float(more.whiteness.p[j]),
            }
    size = 0 if estimate is None else _size(run, model, estimate)
    return {"motion": motion, "model": model, "size": size, "total": errors.total,
            "forces": by_force}  # fmt: skip


def _size(run: Run, model: str, estimate: Estimate) -> int:
    """Return how many parameters were estimated: a reduced model may hold CAD values besides."""
    if model == "reduced" and run.reduction is not None:
        return run.reduction.size.size
    return len(estimate.parameters)
