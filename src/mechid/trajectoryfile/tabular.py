"""Given motions from CSV and Parquet tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mechid.errors import DataError
from mechid.excitation.families import Tabulated
from mechid.excitation.trajectory import Trajectory
from mechid.tables.files import read_columns, usable_numbers
from mechid.tables.motion import TIME
from mechid.textfile.words import hint


def table_family(path: Path, column: str, periodic: bool = False) -> Tabulated:
    """Return one column of a table as a motion; speeds and accelerations are taken if both stand.

    Times count from the first sample.

    Raises
    ------
    DataError
        With file, row and column.
    """
    columns = read_columns(path)
    where = str(path)
    for name in (TIME, column):
        if name not in columns:
            raise DataError(
                f"there is no column {name}", where=where, remedy=hint(name, list(columns))
            )
    names = [f"{column}{s}" for s in (".d", ".dd") if f"{column}{s}" in columns]
    rows = [
        usable_numbers(columns[n], n, where) for n in (TIME, column, *(names * (len(names) == 2)))
    ]
    rows[0] = rows[0] - rows[0][0] if rows[0].size else rows[0]
    try:
        y, *rates = (tuple(np.asarray(row).tolist()) for row in rows[1:])
        speeds, accelerations = rates or ((), ())
        return Tabulated(tuple(rows[0].tolist()), y, speeds, accelerations, periodic)
    except DataError as error:
        raise error.located(where) from None


def table_trajectory(path: Path) -> Trajectory:
    """Return a table as a trajectory: every column but time, speeds and accelerations moves."""
    columns = read_columns(path)
    names = [
        n
        for n in columns
        if n != TIME
        and not (n.rpartition(".")[0] in columns and n.rpartition(".")[2] in ("d", "dd"))
    ]
    families = {name: table_family(path, name) for name in names}
    if not families:
        raise DataError("the table has no column other than time", where=str(path))
    time = next(iter(families.values())).time
    rate = (len(time) - 1) / time[-1]
    return Trajectory.of(families, time[-1], rate=rate, name=path.stem)
