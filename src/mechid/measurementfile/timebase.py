"""One time base for all signals: times of a channel, of the file, or of a stated rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.measurementfile.channels import Channel, Channels
from mechid.measurementfile.document import MappingDocument
from mechid.measurementfile.mapping import Signal
from mechid.measurementfile.units import parse_unit

_NAMES = ("time", "t", "tout")
_EVEN = 0.01  # of a step: times that deviate less are as good as equidistant


@dataclass(frozen=True, eq=False)
class Raw:
    """Signals at common times: values (N, k), NaN where there is none; rows count from 1."""

    time: Floats
    rows: np.ndarray
    values: Floats
    channel: str | None
    notes: tuple[str, ...] = ()


def gather(channels: Channels, document: MappingDocument, signals: list[Signal]) -> Raw:
    """Return all signals in SI units at common times.

    Channels with times of their own are interpolated at those of the channel with most samples.

    Raises
    ------
    DataError
        If there are no times, or channels without times have different lengths.
    """
    used = {name: channels.get(name) for signal in signals for name, _ in signal.factors}
    name, time = _times(channels, document, used)
    notes: list[str] = []
    if time is None:
        time, used, notes = _common(used, channels.file)
    for label, channel in used.items():
        if len(channel.values) != len(time):
            of = f"channel {name}" if name else "the others"
            raise DataError(
                f"channel {label} has {len(channel.values)} samples, {of} {len(time)}",
                where=channels.file,
                remedy="choose channels of one group, or export them at one rate",
            )
    values = np.stack(
        [s.size * (sum(f * used[n].values for n, f in s.factors) + s.offset) for s in signals],
        axis=1,
    )
    rows = np.arange(1, len(time) + 1)
    raw = Raw(time, rows, values, name, tuple(notes))
    _check_times(raw, channels.file)
    return _cut(raw, document.range, channels.file)


def _times(
    channels: Channels, document: MappingDocument, used: dict[str, Channel]
) -> tuple[str | None, Floats | None]:
    if document.rate is not None:
        n = max(len(c.values) for c in used.values())
        return None, np.arange(n) / document.rate
    if document.time is not None:
        channel = channels.get(document.time.channel)
        try:
            unit = parse_unit(document.time.unit)
        except DataError as error:
            raise error.located("time.unit") from None
        if unit.dimension != (0, 0, 0, 1):
            raise DataError(
                f'"{unit.text}" is not a unit of time', where="time.unit", remedy="use ms"
            )
        return document.time.channel, channel.values * unit.size
    if all(c.time is not None for c in used.values()):
        return None, None
    for name in channels.channels:
        if name.lower() in _NAMES:
            return name, channels.channels[name].values
    raise DataError(
        "missing channel time",
        where=channels.file,
        remedy="name the time channel in the mapping, or give the rate",
    )


def _common(used: dict[str, Channel], file: str) -> tuple[Floats, dict[str, Channel], list[str]]:
    """Bring channels with times of their own to those of the one with most samples."""
    times = {name: c.time for name, c in used.items() if c.time is not None and len(c.time)}
    if len(times) < len(used):
        empty = next(name for name in used if name not in times)
        raise DataError(f"channel {empty} is empty", where=file)
    base = max(times, key=lambda name: len(times[name]))
    start, end = max(t[0] for t in times.values()), min(t[-1] for t in times.values())
    time = times[base][(times[base] >= start) & (times[base] <= end)]
    if len(time) < 2:
        raise DataError("the channels have no time in common", where=file)
    moved, found = [], {}
    for name, channel in used.items():
        t = times[name]
        if len(t) == len(times[base]) and np.array_equal(t, times[base]):
            inside = (t >= start) & (t <= end)
            found[name] = Channel(channel.values[inside], channel.unit)
        else:
            found[name] = Channel(_interpolated(time, t, channel.values), channel.unit)
            moved.append(name)
    notes = [f"interpolated at the times of {base}: {', '.join(moved)}"] if moved else []
    return time, found, notes


def _interpolated(time: Floats, own: Floats, values: Floats) -> Floats:
    """Interpolate by a cubic spline; what lies next to a missing sample is missing."""
    from scipy.interpolate import make_interp_spline

    there = np.isfinite(values)
    increasing = bool(np.all(np.diff(own) > 0))
    if there.sum() < 4 or not increasing:
        return np.interp(time, own, values)
    out = np.asarray(make_interp_spline(own[there], values[there], k=3)(time))
    out[~np.isfinite(np.interp(time, own, np.where(there, 0.0, np.nan)))] = np.nan
    return out


def _check_times(raw: Raw, file: str) -> None:
    where = f"{file}: channel {raw.channel}" if raw.channel else file
    if len(raw.time) < 2:
        raise DataError(f"at least 2 samples are needed, got {len(raw.time)}", where=file)
    bad = np.flatnonzero(~np.isfinite(raw.time))
    if bad.size:
        raise DataError(
            "the time is missing", where=f"{where}, row {bad[0] + 1}", remedy="remove the row"
        )
    back = np.flatnonzero(np.diff(raw.time) <= 0)
    if back.size:
        k = int(back[0]) + 1
        early, late = float(raw.time[k - 1]), float(raw.time[k])
        what = "occurs twice" if early == late else f"comes after {early:.10g} s"
        more = f" ({back.size} such rows)" if back.size > 1 else ""
        raise DataError(
            f"time does not increase: {late:.10g} s {what}{more}",
            where=f"{where}, row {k + 1}",
            remedy="sort the rows by time and keep one row for each time",
        )


def _cut(raw: Raw, window: tuple[float | None, float | None] | None, file: str) -> Raw:
    """Keep a part of a log; the window counts from its first sample, which may have any time."""
    if window is None:
        return raw
    low, high = window
    since = raw.time - raw.time[0]
    rounding = 4 * float(np.spacing(np.abs(raw.time).max()))
    inside = np.ones(len(since), dtype=bool)
    if low is not None:
        inside &= since >= low - rounding
    if high is not None:
        inside &= since <= high + rounding
    if inside.sum() < 2:
        remedy = f"the log lasts from 0 s to {since[-1]:g} s"
        if raw.time[0] != 0:
            remedy += f"; ranges count from its start, which is at {raw.time[0]:g} s"
        raise DataError("the range contains no samples", where=file, remedy=remedy)
    used = since[inside]
    return Raw(
        raw.time[inside],
        raw.rows[inside],
        raw.values[inside],
        raw.channel,
        (*raw.notes, f"used from {used[0]:g} s to {used[-1]:g} s"),
    )


def is_even(time: Floats) -> bool:
    """Tell whether times are equidistant for all purposes."""
    even = np.linspace(time[0], time[-1], len(time))
    return bool(np.abs(time - even).max() <= _EVEN * (even[1] - even[0]))
