"""Trajectories as motions of a mechanism and as tables for controllers and shakers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mechid.errors import DataError
from mechid.excitation.trajectory import Trajectory, of_mechanism, sample
from mechid.mechanism.records import Mechanism
from mechid.tables.files import read_columns, write_table
from mechid.tables.motion import TIME, MotionTable, read_motion
from mechid.trajectoryfile.api import YAML_SUFFIXES, load_trajectory
from mechid.trajectoryfile.tabular import table_family

QUANTITIES = {"position": "", "speed": ".d", "acceleration": ".dd"}


def read_motion_file(
    path: str | Path, mechanism: Mechanism, *, rate: float | None = None
) -> MotionTable:
    """Return a motion of a mechanism from a table, or from a trajectory file.

    Parameters
    ----------
    path : str or Path
        .csv or .parquet as for `read_motion`, or the .yaml of a trajectory.
    mechanism : Mechanism
    rate : float, optional
        Samples per second of a trajectory; by default that of the file, or enough.

    Raises
    ------
    DataError
        With the place in the file.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> t = np.linspace(0, 1, 11)
    >>> mechid.write_table("motion.csv", {"time": t, "angle": 0.1 * t})
    >>> mechid.read_motion_file("motion.csv", mechid.load("pendulum")).y.shape
    (11, 1)
    """
    if Path(path).suffix.lower() not in YAML_SUFFIXES:
        return read_motion(path, mechanism)
    loaded = load_trajectory(path)
    trajectory = of_mechanism(loaded, mechanism, where=str(path))
    found = sample(trajectory, rate=rate)
    notes = []
    if rate is None and trajectory.rate is None:
        per_second = (len(found.time) - 1) / found.time[-1]
        notes.append(f"sampled at {per_second:.6g} Hz; set rate in the trajectory to change it")
    return MotionTable(found.time, found.y, found.yd, found.ydd, tuple(notes))


def read_drive(path: str | Path, mechanism: Mechanism) -> Trajectory:
    """Return motions of some coordinates of a mechanism, to drive them in a simulation.

    Parameters
    ----------
    path : str or Path
        The .yaml of a trajectory, or a .csv or .parquet table with a column `time` and columns
        named as the coordinates, perhaps with speeds `.d` and accelerations `.dd`; other columns
        of a table are left alone. The first sample is at time 0.
    mechanism : Mechanism

    Raises
    ------
    DataError
        With the place in the file; also if nothing in it is a coordinate.

    Examples
    --------
    >>> import mechid
    >>> mechid.write_table("drive.csv", {"time": [0.0, 0.5, 1.0], "q1": [0.0, 0.1, 0.0]})
    >>> mechid.read_drive("drive.csv", mechid.load("five_bar")).names
    ('q1',)
    """
    names = [c.name for c in mechanism.coordinates]
    if Path(path).suffix.lower() in YAML_SUFFIXES:
        found = load_trajectory(path)
        return found.ordered([name for name in names if name in found.names], where=str(path))
    columns = read_columns(path)
    families = {name: table_family(Path(path), name) for name in names if name in columns}
    if not families:
        raise DataError(
            "no column is an independent coordinate",
            where=str(path),
            remedy=f"name columns as the coordinates: {', '.join(names)}",
        )
    return Trajectory.of(families, next(iter(families.values())).time[-1])


def write_trajectory_table(
    path: str | Path,
    trajectory: Trajectory,
    *,
    rate: float | None = None,
    quantities: Sequence[str] = tuple(QUANTITIES),
) -> None:
    """Write a trajectory as a CSV or Parquet table, without losing a digit.

    Parameters
    ----------
    path : str or Path
    trajectory : Trajectory
    rate : float, optional
        Samples per second; by default that of the trajectory, or enough.
    quantities : sequence of str
        "position" (column `name`), "speed" (`name.d`), "acceleration" (`name.dd`): what the
        controller or the shaker takes.

    Raises
    ------
    DataError
        For another quantity, or a file that cannot be written.

    Examples
    --------
    >>> import mechid
    >>> from mechid.excitation.families import Constant
    >>> still = mechid.Trajectory.of({"angle": Constant(0.2)}, duration=1.0, rate=10.0)
    >>> mechid.write_trajectory_table("still.csv", still, quantities=["position"])
    >>> mechid.read_motion("still.csv", mechid.load("pendulum")).y.shape
    (11, 1)
    """
    if strange := [q for q in quantities if q not in QUANTITIES]:
        raise DataError(
            f"a trajectory has no quantity {strange[0]}",
            remedy=f"choose one of: {', '.join(QUANTITIES)}",
        )
    found = sample(trajectory, rate=rate)
    columns = {TIME: found.time}
    for j, name in enumerate(trajectory.names):
        for quantity in quantities:
            values = dict(zip(QUANTITIES, (found.y, found.yd, found.ydd), strict=True))[quantity]
            columns[f"{name}{QUANTITIES[quantity]}"] = values[:, j]
    write_table(path, columns)
