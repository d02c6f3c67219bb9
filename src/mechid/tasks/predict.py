"""Predict the forces of a motion with the model of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mechid.blas_threads import one_blas_thread
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.load_friction import load_friction
from mechid.mechanism.records import force_unit
from mechid.runs.record import ForceHistory, Run
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.assess import force_history
from mechid.tasks.inputs import motion_of, run_of
from mechid.tasks.regress import regression_of


@one_blas_thread()
def predict(
    run: Run | str | Path, motion: Any, *, rate: float | None = None, periods: float | None = None
) -> ForceHistory:
    """Return the forces that the model of a run predicts for a motion, with their uncertainty.

    Parameters
    ----------
    run : Run, str or Path
        A run, or its folder.
    motion : DesignedMotion, Trajectory, MotionTable, str or Path
        A file is a trajectory (.yaml) or a table.
    rate : float, optional
        Samples per second of a trajectory.
    periods : float, optional
        Periods of a trajectory to go through.

    Returns
    -------
    ForceHistory
        Predicted forces and standard deviations (N or N m), (N, n_d); `interval` gives bounds.

    Raises
    ------
    MechidError
        If the mechanism cannot perform the motion.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0)
    >>> log = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=3)
    >>> run = mechid.identify("five_bar", log)
    >>> lower, upper = mechid.predict(run, motion, rate=100.0).interval(0.95)
    >>> lower.shape
    (100, 2)
    """
    found = run_of(run)
    table = motion_of(motion, found.mechanism, rate=rate, periods=periods)
    channels = found.final.channels
    name = str(motion) if isinstance(motion, str | Path) else "prediction"
    prepared = PreparedMeasurement(
        time=table.time,
        y=table.y,
        yd=table.yd,
        ydd=table.ydd,
        forces=channels,
        tau=np.full((len(table.time), len(channels)), np.nan),
        name=name,
    )
    model = dynamic_model(found.mechanism)
    regression = regression_of(model, prepared, found.parameters.names)
    if load_friction(found.mechanism) is not None:
        # Forces of the estimate tell the direction of friction better than CAD values.
        expected = force_history(found, name, regression).predicted
        regression = regression_of(model, replace(prepared, tau=expected), found.parameters.names)
    history = force_history(found, name, regression, same_sensors=False)
    nothing = np.full_like(history.predicted, np.nan)
    return replace(history, measured=nothing, notes=(*table.notes, *_offsets(found)))


def _offsets(run: Run) -> tuple[str, ...]:
    """Say that offsets which were found are part of the predicted forces."""
    errors = run.final.errors
    if errors is None or not np.any(errors.offset):
        return ()
    units = {c.force: force_unit(c) for c in run.mechanism.coordinates}
    sizes = ", ".join(
        f"{name} {offset:.3g} {units[name]}"
        for name, offset in zip(run.final.channels, errors.offset.tolist(), strict=True)
    )
    return (f"the offsets of the identification are part of the predicted forces: {sizes}",)
