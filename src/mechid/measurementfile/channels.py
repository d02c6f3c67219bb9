"""Files of measurements as named channels, whatever wrote them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.tables.files import numbers, read_columns
from mechid.textfile.words import suggestion


class MissingChannelError(DataError):
    """A channel that a mapping names and the log does not have."""


@dataclass(frozen=True, eq=False)
class Channel:
    """Samples of one channel (NaN: missing), the unit its file states, and its own times, if any.

    A column that is not numeric has a `problem`, which is reported only if the channel is used.
    """

    values: Floats
    unit: str = ""
    time: Floats | None = None
    problem: DataError | None = None


@dataclass(frozen=True, eq=False)
class Channels:
    """The channels of a file, by name."""

    file: str
    channels: dict[str, Channel]

    def get(self, name: str) -> Channel:
        """Return a channel.

        Raises
        ------
        DataError
            If there is none of that name, or it is not made of numbers.
        """
        if name in self.channels:
            found = self.channels[name]
            if found.problem is not None:
                raise found.problem
            return found
        same = [n for n in self.channels if n.lower() == name.lower()]
        near = f"did you mean {same[0]}?" if same else suggestion(name, self.channels)
        raise MissingChannelError(
            f"there is no channel {name}; the file has {listed(list(self.channels))}",
            where=self.file,
            remedy=near,
        )


def listed(names: list[str], most: int = 12) -> str:
    """Return names in one line, not too many of them."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def read_channels(path: str | Path) -> Channels:
    """Return the channels of a .csv, .parquet, .mat, .h5 (.hdf5) or .mf4 file.

    Columns of matrices are channels `name[1]`, `name[2]`, …; members of structures and groups are
    `outer.inner` (.mat) or `outer/inner` (.h5).

    Raises
    ------
    DataError
        If the file cannot be read, or its ending says nothing.
    """
    path = Path(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            f"unknown file type {path.suffix or '(no extension)'}",
            where=str(path),
            remedy=f"choose one of: {', '.join(_READERS)}",
        )
    if not path.is_file():
        raise DataError("there is no such file", where=str(path))
    try:
        channels = reader(path)
    except OSError as error:
        raise DataError(f"cannot read the file: {error}", where=str(path)) from None
    if not channels:
        raise DataError("the file has no numeric channels", where=str(path))
    return Channels(str(path), channels)


def columns_of(name: str, values: np.ndarray, unit: str = "") -> dict[str, Channel]:
    """Return an array of a file as channels: a vector as one, a matrix as one for each column."""
    if values.dtype.names:
        parts = ((f"{name}.{field}", values[field]) for field in values.dtype.names)
        return {k: c for n, v in parts for k, c in columns_of(n, v, unit).items()}
    if values.dtype.kind not in "iuf" or values.ndim > 2 or values.size < 2:
        return {}
    values = np.asarray(values, dtype=float)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim == 1:
        return {name: Channel(values, unit)}
    return {f"{name}[{k + 1}]": Channel(values[:, k].copy(), unit) for k in range(values.shape[1])}


def _table(path: Path) -> dict[str, Channel]:
    found = {}
    for name, column in read_columns(path).items():
        try:
            found[name] = Channel(numbers(column, name, str(path), gaps=True))
        except DataError as problem:
            found[name] = Channel(np.zeros(0), problem=problem)
    return found


def _mat(path: Path) -> dict[str, Channel]:
    from mechid.measurementfile.matlab import read_mat

    return read_mat(path)


def _hdf5(path: Path) -> dict[str, Channel]:
    from mechid.measurementfile.hdf5 import read_hdf5

    return read_hdf5(path)


def _mdf(path: Path) -> dict[str, Channel]:
    from mechid.measurementfile.mdf import read_mdf

    return read_mdf(path)


_READERS: dict[str, Callable[[Path], dict[str, Channel]]] = {
    ".csv": _table,
    ".parquet": _table,
    ".mat": _mat,
    ".h5": _hdf5,
    ".hdf5": _hdf5,
    ".mf4": _mdf,
}
