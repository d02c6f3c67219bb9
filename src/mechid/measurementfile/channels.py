"""Files of measurements as named channels, whatever wrote them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.measurementfile.document import TableSpec
from mechid.tables.files import numbers, read_columns
from mechid.textfile.quiet import quiet

_UNIT_BEHIND = re.compile(r"\s*[\[(][^\])]*[\])]$")
_LABEL_BEHIND = re.compile(r"\s*[\[(]\s*(?!\d+\s*[\])])[^\])]*[\])]$")  # no index
_LIKE = 0.6  # of two names: one may be meant by the other


class MissingChannelError(DataError):
    """A channel that a mapping names and the log does not have."""


@dataclass(frozen=True, eq=False)
class Channel:
    """Samples of one channel (NaN: missing), the unit its file states, and its own times, if any.

    A column that is not numeric has a `problem`, which is reported only if the channel is used.
    `start` is to be added to the values: of dates in s since 1970, and of integers with more digits
    than a float has.
    """

    values: Floats
    unit: str = ""
    time: Floats | None = None
    problem: DataError | None = None
    start: int = 0

    def __post_init__(self) -> None:
        """Quiet the NaNs of damaged files that signal: any arithmetic with them would warn."""
        for name in ("values", "time"):
            values = getattr(self, name)
            if values is not None and (missing := np.isnan(values)).any():
                object.__setattr__(self, name, np.where(missing, np.nan, values))


# Channels by name, notes, and what their times count from, if not zero.
Found: TypeAlias = (
    tuple[dict[str, Channel], list[str]] | tuple[dict[str, Channel], list[str], Fraction]
)


@dataclass(frozen=True, eq=False)
class Channels:
    """The channels of a file, by name, and how they were read.

    Times of channels are seconds after `origin`, which is zero or a date (s since 1970).
    """

    file: str
    channels: dict[str, Channel]
    notes: tuple[str, ...] = ()
    origin: Fraction = Fraction(0)

    def name_of(self, name: str) -> str:
        """Return the name of a channel that is given with the unit behind it, as in its file."""
        bare = _UNIT_BEHIND.sub("", name)
        return bare if name not in self.channels and bare in self.channels else name

    def get(self, name: str) -> Channel:
        """Return a channel.

        Raises
        ------
        DataError
            If there is none of that name, or it is not made of numbers.
        """
        name = self.name_of(name)
        if name in self.channels:
            found = self.channels[name]
            if found.problem is not None:
                raise found.problem.located(self.file)
            return found
        raise MissingChannelError(
            f"there is no channel {name}; the file has {listed(list(self.channels))}",
            where=self.file,
            remedy=_near(name, self.channels),
        )


def _near(name: str, known: Iterable[str]) -> str:
    """Return which channel may be meant: what is in brackets behind a name says little."""
    bare = {_LABEL_BEHIND.sub("", n).lower(): n for n in known}
    found = get_close_matches(_LABEL_BEHIND.sub("", name).lower(), bare, n=1, cutoff=_LIKE)
    return f"did you mean {bare[found[0]]}?" if found else ""


def listed(names: list[str], most: int = 12) -> str:
    """Return names in one line, not too many of them."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def read_channels(path: str | Path, table: TableSpec = TableSpec()) -> Channels:  # noqa: B008
    """Return the channels of a log in any of the formats of `_READERS`.

    Columns of matrices are channels `name[1]`, `name[2]`, …; members of structures and groups are
    `outer.inner` (.mat) or `outer/inner` (.h5).

    Parameters
    ----------
    path : str or Path
        A file, or the folder of a ROS 2 bag.
    table : TableSpec
        How a text table is written, where its reader cannot tell.

    Raises
    ------
    DataError
        If the file cannot be read, or its ending says nothing.
    """
    path = Path(path)
    bag = path.is_dir() and (path / "metadata.yaml").exists()
    reader = _bag if bag else _READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            f"unknown file type {path.suffix or '(no extension)'}",
            where=str(path),
            remedy=f"choose one of: {', '.join(_READERS)}",
        )
    if not bag and not path.is_file():
        raise DataError("there is no such file", where=str(path))
    try:
        with quiet():
            channels, notes, *origin = reader(path, table)
    except DataError as error:
        known = error.where.startswith(("table.", str(path)))
        raise (error if known else error.located(str(path))) from None
    except OSError as error:
        words = " ".join(str(error).split())
        raise DataError(f"cannot read the file: {words}", where=str(path)) from None
    except Exception as error:  # libraries fail on damaged files in ways of their own
        words = (str(error).splitlines() or [""])[0] or type(error).__name__
        raise DataError(
            f"the file is damaged: {words[:200]}", where=str(path), remedy="export it again"
        ) from None
    if not channels:
        raise DataError("the file has no numeric channels", where=str(path))
    return Channels(str(path), channels, tuple(notes), *origin)


def columns_of(name: str, values: np.ndarray, unit: str = "") -> dict[str, Channel]:
    """Return an array of a file as channels: a vector as one, a matrix as one for each column."""
    if values.dtype.names:
        parts = ((f"{name}.{field}", values[field]) for field in values.dtype.names)
        return {k: c for n, v in parts for k, c in columns_of(n, v, unit).items()}
    if values.dtype.kind not in "iuf" or values.ndim > 2 or values.size < 2:
        return {}
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim == 1:
        return {name: channel_of(values, unit)}
    return {f"{name}[{k + 1}]": channel_of(values[:, k], unit) for k in range(values.shape[1])}


def channel_of(values: np.ndarray, unit: str = "", time: Floats | None = None) -> Channel:
    """Return numbers or dates as a channel; what a float would round counts from its first."""
    if values.dtype.kind == "M":
        found = channel_of(values.astype("datetime64[ns]").astype(np.int64))
        whole, rest = divmod(found.start, 10**9)
        return Channel(found.values * 1e-9 + rest * 1e-9, "s", time, start=whole)
    if values.dtype.kind in "iu" and values.size and np.abs(values.astype(float)).max() > 2**53:
        start = int(values[0])
        return Channel((values - values[0]).astype(float), unit, time, start=start)
    with np.errstate(invalid="ignore"):  # NaNs that signal, of single precision
        return Channel(np.array(values, dtype=float), unit, time)


def arrow_channel(column: Any, name: str, unit: str = "") -> Channel:
    """Return a column of a table as a channel; one of text has a problem."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_timestamp(kind) or (pa.types.is_integer(kind) and not column.null_count):
        if column.null_count:
            row = column.is_null().to_pylist().index(True) + 1
            problem = DataError("the date is missing", where=f"row {row}, column {name}")
            return Channel(np.zeros(0), problem=problem)
        return channel_of(column.to_numpy(), unit)
    if pa.types.is_time(kind):
        column, unit = column.cast(pa.time64("ns")).cast(pa.int64()), "ns"
    try:
        return Channel(numbers(column, name, "", gaps=True), unit)
    except DataError as error:
        where = error.where.removeprefix(": ")
        return Channel(np.zeros(0), problem=DataError(error.what, where=where, remedy=error.remedy))


def _text(path: Path, table: TableSpec) -> Found:
    from mechid.measurementfile.text_table import read_text

    return read_text(path, table)


def _parquet(path: Path, table: TableSpec) -> Found:
    return {name: arrow_channel(c, name) for name, c in read_columns(path).items()}, []


def _mat(path: Path, table: TableSpec) -> Found:
    from mechid.measurementfile.matlab import read_mat

    return read_mat(path), []


def _hdf5(path: Path, table: TableSpec) -> Found:
    from mechid.measurementfile.hdf5 import read_hdf5

    return read_hdf5(path), []


def _mdf(path: Path, table: TableSpec) -> Found:
    from mechid.measurementfile.mdf import read_mdf

    return read_mdf(path), []


def _bag(path: Path, table: TableSpec) -> Found:
    from mechid.measurementfile.rosbag import read_bag

    return read_bag(path)


_READERS: dict[str, Callable[[Path, TableSpec], Found]] = {
    ".csv": _text,
    ".tsv": _text,
    ".txt": _text,
    ".dat": _text,
    ".asc": _text,
    ".parquet": _parquet,
    ".mat": _mat,
    ".h5": _hdf5,
    ".hdf5": _hdf5,
    ".mf4": _mdf,
    ".bag": _bag,
    ".db3": _bag,
    ".mcap": _bag,
}
