"""What the steps of the method are given: models, motions and runs, as records, names or files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from mechid.errors import DataError, MechidError
from mechid.excitation.sampling import sample_times
from mechid.excitation.trajectory import Trajectory, of_mechanism, sample
from mechid.importing import resolve
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion
from mechid.mechanism.plausible import tell_implausible_units
from mechid.mechanism.records import Mechanism
from mechid.runs.folder import load_run
from mechid.runs.record import Run, Validation
from mechid.tables.motion import MotionTable, read_motion
from mechid.trajectoryfile.api import YAML_SUFFIXES, load_trajectory


def mechanism_of(model: Any) -> Mechanism:
    """Return a mechanism that can be assembled; what goes wrong there names the model.

    Raises
    ------
    MechidError
        If there is no such model, or it cannot be assembled.
    """
    mechanism = resolve.mechanism_of(model)
    if isinstance(model, str | Path):
        tell_implausible_units(mechanism, str(model))
    try:
        kinematic_model(mechanism)
    except MechidError as error:
        raise error.located(
            str(model) if isinstance(model, str | Path) else mechanism.name
        ) from None
    return mechanism


def run_of(run: Any) -> Run:
    """Return a run that is given as a record, as its folder, or as its validation.

    Raises
    ------
    DataError
        If it is none of these.
    """
    if isinstance(run, str | Path):
        return load_run(run)
    found = run.run if isinstance(run, Validation) else run
    if not isinstance(found, Run):
        raise wrong_type("run", "a Run or its folder", run)
    return found


def trajectory_of(motion: Any) -> Trajectory:
    """Return a trajectory that is given as such, as a designed motion, or as a file.

    Raises
    ------
    DataError
        If it is none of these.
    """
    if isinstance(motion, str | Path):
        return replace(load_trajectory(motion), name=str(motion))
    found = getattr(motion, "trajectory", motion)
    if not isinstance(found, Trajectory):
        raise wrong_type("motion", "a designed motion, a Trajectory or a file", motion)
    return found


def motion_of(
    motion: Any, mechanism: Mechanism, *, rate: float | None = None, periods: float | None = None
) -> MotionTable:
    """Return the samples of a motion; of a trajectory whole periods without their end.

    Parameters
    ----------
    motion : Motion, MotionTable, Trajectory, DesignedMotion, str or Path
        A file is a trajectory (.yaml), or a table (.csv, .parquet).
    mechanism : Mechanism
    rate : float, optional
        Samples per second of a trajectory.
    periods : float, optional
        Periods of a trajectory to go through.

    Raises
    ------
    DataError
        If it is none of these, or a table is to be sampled.
    """
    if isinstance(motion, Motion):
        if motion.time is None:
            raise DataError("the motion has no times", remedy="give `time` to solve_motion")
        motion = MotionTable(motion.time, motion.y, motion.yd, motion.ydd)
    is_file = isinstance(motion, str | Path)
    table = is_file and Path(motion).suffix.lower() not in YAML_SUFFIXES
    where = str(motion) if is_file else ""
    if table or isinstance(motion, MotionTable):
        if rate is not None or periods is not None:
            raise DataError(
                "rate and periods sample a trajectory; this is a table",
                where=where,
                remedy="omit them, or give a trajectory",
            )
        return motion if isinstance(motion, MotionTable) else read_motion(motion, mechanism)
    found = trajectory_of(motion)
    ordered = of_mechanism(found, mechanism)
    try:
        times = sample_times(ordered, rate=rate, periods=periods)
    except DataError as error:
        raise (error.located(where) if where else error) from None
    s = sample(ordered, times=times)
    notes: tuple[str, ...] = ()
    if rate is None and ordered.rate is None and len(times) > 1:
        usual = 1 / (times[1] - times[0])
        notes = (f"sampled at {usual:.6g} Hz; give a rate to change that",)
    return MotionTable(time=s.time, y=s.y, yd=s.yd, ydd=s.ydd, notes=notes)


def wrong_type(name: str, expected: str, got: Any) -> DataError:
    """Return the error of an argument of another type than expected."""
    return DataError(f"{name} must be {expected}, got {type(got).__name__}")
