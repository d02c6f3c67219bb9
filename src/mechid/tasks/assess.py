"""Errors of the models of a run on its motions: CAD values, estimate, reduced model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.sensed import sensed
from mechid.runs.record import ForceError, ForceHistory, Run, ValidationRow
from mechid.validation.errors import force_errors
from mechid.validation.validate import validate

LEVEL = 0.95


def force_history(
    run: Run, name: str, regression: Regression, *, same_sensors: bool = True
) -> ForceHistory:
    """Return measured and predicted forces of a motion, by the final model of a run.

    Intervals are those of a measurement by the sensors of the identification, or by calibrated
    sensors.
    """
    found = predict(run.final, regression, own_log=_is_log(run, name))
    return ForceHistory(
        name=name,
        time=regression.time,
        forces=regression.channels,
        measured=np.where(regression.valid, regression.tau, np.nan),
        predicted=found.forces,
        sigma=found.sigma,
        total=found.by_same_sensors if same_sensors else found.total,
        cad=np.asarray(regression.W @ run.parameters.cad + regression.known),
    )


def as_measured(run: Run, regression: Regression) -> Regression:
    """Return a motion with forces as the sensors of a run show them, late and with wrong gains.

    Measured forces have these errors, so that predicted ones need them for a comparison.
    """
    return sensed(regression, None if run.estimate is None else run.estimate.errors)


def validation_rows(run: Run, regressions: Mapping[str, Regression]) -> tuple[ValidationRow, ...]:
    """Return one row per motion and model.

    Parameters
    ----------
    run : Run
        With an estimate.
    regressions : mapping motion → Regression
        With all base parameters.
    """
    shown = {motion: as_measured(run, r) for motion, r in regressions.items()}
    return tuple(
        _row(run, motion, model, estimate, regression, shown[motion])
        for motion, regression in regressions.items()
        for model, estimate in models_of(run)
    )


def cad_row(motion: str, cad: Floats, regression: Regression, shown: Regression) -> ValidationRow:
    """Return the errors of the CAD values, the smaller of two: as they are, and as sensors show
    them (`shown`). A delay or gain may be wrong, too."""
    return min(
        (
            error_row(motion, "cad", 0, np.asarray(r.W @ cad + r.known), r)
            for r in ((regression,) if shown is regression else (regression, shown))
        ),
        key=lambda row: row.error,
    )


def models_of(run: Run) -> Sequence[tuple[str, Estimate | None]]:
    """Return the models of a run by name; None stands for the CAD values, if there are some."""
    models: list[tuple[str, Estimate | None]] = [("cad", None)] if has_cad(run) else []
    models += [(name, e) for name, e in (("estimate", run.estimate), ("reduced", run.reduced)) if e]
    return models


def has_cad(run: Run) -> bool:
    """Return whether all base parameters have CAD values."""
    return bool(np.all(np.isfinite(run.parameters.cad)))


def _row(
    run: Run,
    motion: str,
    model: str,
    estimate: Estimate | None,
    regression: Regression,
    shown: Regression,
) -> ValidationRow:
    if estimate is None:
        return cad_row(motion, run.parameters.cad, regression, shown)
    predicted = predict(estimate, shown).forces
    final = run.final if estimate is run.final else None
    size = _size(run, model, estimate)
    own_log = _is_log(run, motion)
    return error_row(motion, model, size, predicted, shown, final, own_log=own_log)


def _is_log(run: Run, motion: str) -> bool:
    """Return whether the run was identified from a motion."""
    return any(motion == log.name for log in run.motions[: run.n_logs])


def error_row(
    motion: str,
    model: str,
    size: int,
    predicted: Floats,
    regression: Regression,
    estimate: Estimate | None = None,
    *,
    own_log: bool = False,
) -> ValidationRow:
    """Return the errors of predicted forces (N, n_d).

    Parameters
    ----------
    motion, model : str
    size : int
        Number of estimated parameters.
    predicted : array (N, n_d)
    regression : Regression
        With the measured forces.
    estimate : Estimate, optional
        What predicted them: with it, the row has coverage and whiteness, too.
    own_log : bool
        Whether it comes from this motion.
    """
    errors = force_errors(predicted, regression)
    detail = None
    if estimate is not None:
        detail = validate(estimate, regression, level=LEVEL, own_log=own_log)
    forces = {
        name: ForceError(
            E_p=float(errors.prediction[j]),
            rms=float(errors.rms[j]),
            absolute=float(errors.absolute[j]),
            r2=float(errors.r2[j]),
            coverage=None if detail is None else float(detail.coverage[j]),
            lag_one=None if detail is None else float(detail.whiteness.lag_one[j]),
            white=None if detail is None else float(detail.whiteness.p[j]),
        )
        for j, name in enumerate(regression.channels)
    }
    return ValidationRow(
        motion=motion,
        model=model,
        size=size,
        total=float(errors.total),
        forces=forces,
        overall=errors.overall,
    )


def _size(run: Run, model: str, estimate: Estimate) -> int:
    """Return how many parameters were estimated: a reduced model may hold CAD values besides."""
    if model == "reduced" and run.reduction is not None:
        return run.reduction.size.size
    return len(estimate.parameters)
