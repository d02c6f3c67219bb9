"""Motions of the independent coordinates, read from a table and checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.model import held_values
from mechid.mechanism.records import Mechanism
from mechid.shown import Shown
from mechid.signals.interpolate import derivatives
from mechid.tables.files import Floats, numbers, read_columns
from mechid.textfile.expressions import LARGEST
from mechid.textfile.words import suggestion

TIME = "time"
_MANY_RADIANS = 50.0  # eight turns: more in one motion looks like degrees
_SHORTEST, _LONGEST = 1e-15, 1e15  # s: beyond them, the steps of a motion are a mistake
_UNIT = re.compile(r"[\s_.\-/(\[]*(deg|degrees?|°|mm|cm|rpm)[)\]]*", re.IGNORECASE)


@dataclass(frozen=True, repr=False)
class MotionTable(Shown):
    """A motion as the independent coordinates over time.

    Attributes
    ----------
    time : array (N,)
        Seconds, increasing.
    y, yd, ydd : arrays (N, n_i)
        Coordinates, speeds and accelerations, in the order of the model.
    notes : tuple of str
        What a reader should know: columns that were derived, columns that were not used.
    """

    time: Floats
    y: Floats
    yd: Floats
    ydd: Floats
    notes: tuple[str, ...] = ()


def read_motion(path: str | Path, mechanism: Mechanism) -> MotionTable:
    """Read a motion of a mechanism from a CSV or Parquet table.

    The table has a column `time` (s) and one column per independent coordinate with its name (m or
    rad). `<name>.d` and `<name>.dd` are speed and acceleration; where they are missing they are
    derived with a spline of degree 5 through the samples (`notes` says which). Coordinates that
    the model holds need no column. Other columns are left alone.

    Parameters
    ----------
    path : str or Path
        .csv or .parquet.
    mechanism : Mechanism

    Raises
    ------
    DataError
        With file, row and column.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> t = np.linspace(0, 1, 101)
    >>> mechid.write_table("motion.csv", {"time": t, "angle": np.sin(t)})
    >>> motion = mechid.read_motion("motion.csv", mechid.load("pendulum"))
    >>> np.allclose(motion.yd[:, 0], np.cos(t), atol=1e-6)  # derived, rad/s
    True
    """
    where = str(path)
    columns = read_columns(path)
    names = [coordinate.name for coordinate in mechanism.coordinates]
    still = held_values(mechanism)
    for name in (TIME, *names):
        if name not in columns and name not in still:
            raise _missing(name, columns, where)
    time = _values(columns, TIME, where)
    _check_time(time, where)
    notes: list[str] = []
    y, yd, ydd = (np.zeros((time.size, len(names))) for _ in range(3))
    derived: list[str] = []
    for i, name in enumerate(names):
        if name not in columns:
            y[:, i] = still[name]
            continue
        y[:, i] = _values(columns, name, where)
        endings = (".d", ".dd")
        given = {
            s: _values(columns, f"{name}{s}", where) for s in endings if f"{name}{s}" in columns
        }
        first, second = derivatives(time, y[:, i])
        if ".d" in given and ".dd" not in given:  # one differentiation less
            second, _ = derivatives(time, given[".d"])
        yd[:, i], ydd[:, i] = given.get(".d", first), given.get(".dd", second)
        derived += [f"{name}{s}" for s in (".d", ".dd") if s not in given]
    if derived:
        notes.append(_derived_note(derived, 2 * sum(n in columns for n in names), time.size))
    notes += _unused_note(columns, names)
    notes += _unit_notes(mechanism, y)
    return MotionTable(time, y, yd, ydd, tuple(notes))


def _missing(name: str, columns: Mapping[str, Any], where: str) -> DataError:
    has = ", ".join(list(columns)[:12]) + (", …" if len(columns) > 12 else "")
    remedy = _nearest(name, columns)
    for column in columns:
        unit = _UNIT.fullmatch(column[len(name) :]) if column.startswith(name) else None
        if unit:
            remedy = f"{column} seems to be in {unit[1]}; give {name} in SI units (s, m, rad)"
    return DataError(f"missing column {name}; the table has {has}", where=where, remedy=remedy)


def _values(columns: Mapping[str, Any], name: str, where: str) -> Floats:
    """Return the numbers of a column; their derivatives must be finite, too."""
    values = numbers(columns[name], name, where)
    large = np.flatnonzero(np.abs(values) > LARGEST)
    if large.size:
        raise DataError(
            f"{values[large[0]]:g} is out of range",
            where=f"{where}: row {large[0] + 1}, column {name}",
        )
    return values


def _check_time(time: Floats, where: str) -> None:
    if time.size == 0:
        raise DataError("the table has no rows", where=where)
    bad = np.flatnonzero(np.diff(time) <= 0)
    if bad.size:
        row = int(bad[0]) + 2
        early, late = float(time[row - 2]), float(time[row - 1])
        what = "occurs twice" if early == late else f"comes after {early:.10g} s"
        raise DataError(
            f"time does not increase: {late:.10g} s {what}",
            where=f"{where}: row {row}, column {TIME}",
            remedy="sort the rows by time and keep one row for each time",
        )
    step = (time[-1] - time[0]) / max(time.size - 1, 1)
    if time.size > 1 and not _SHORTEST < step < _LONGEST:
        raise DataError(
            f"steps of {step:.3g} s cannot be used",
            where=f"{where}: column {TIME}",
            remedy="give the times in seconds",
        )
    near = np.flatnonzero(np.diff(time) <= _SHORTEST)
    if near.size:  # derivatives of the spline through both overflow
        row = int(near[0]) + 2
        apart = float(time[row - 1] - time[row - 2])
        raise DataError(
            f"samples must be more than {_SHORTEST:g} s apart, got {apart:.3g} s",
            where=f"{where}: row {row}, column {TIME}",
            remedy="keep one row for each time",
        )


def _derived_note(derived: list[str], all_of_them: int, samples: int) -> str:
    what = "speeds and accelerations" if len(derived) == all_of_them else _few(derived)
    if samples == 1:
        return f"one sample: {what} are zero"
    how = "a spline of degree 5" if samples > 5 else "a polynomial"
    return f"{what} derived with {how} through the samples"


def _unused_note(columns: Iterable[str], names: list[str]) -> list[str]:
    used = [TIME, *(f"{name}{s}" for name in names for s in ("", ".d", ".dd"))]
    unused = [column for column in columns if column not in used]
    if not unused:
        return []
    near = _nearest(unused[0], used) if len(unused) == 1 else ""
    return [f"not used: {_few(unused)}" + (f" ({near})" if near else "")]


def _nearest(wrong: str, known: Iterable[str]) -> str:
    """Suggest what differs in capitals only, or else what is spelled alike."""
    same = [name for name in known if name.lower() == wrong.lower()]
    return f"did you mean {same[0]}?" if same else suggestion(wrong, known)


def _unit_notes(mechanism: Mechanism, y: Floats) -> list[str]:
    ranges = np.ptp(y, axis=0) if len(y) else np.zeros(y.shape[1])
    return [
        f"{coordinate.name} ranges over {span:.4g} rad, {span / (2 * np.pi):.3g} turns; "
        "angles are in radians"
        for coordinate, span in zip(mechanism.coordinates, ranges, strict=True)
        if coordinate.unit == "rad" and span > _MANY_RADIANS
    ]


def _few(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
