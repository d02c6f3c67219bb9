"""One time base for all signals: times of a channel, of the file, or of a stated rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.measurementfile.channels import Channel, Channels
from mechid.measurementfile.clock import date, find_clock
from mechid.measurementfile.document import MappingDocument
from mechid.measurementfile.mapping import Signal

GAP = 1.5  # steps: a longer one means that samples are missing
_SHORTEST = 1e-12  # s; accelerations per square of a step must be finite
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
    name, time, notes = _times(channels, document, used)
    if time is None:
        forces = {name for s in signals if s.role == "forces" for name, _ in s.factors}
        most = {name: 0 if name in forces else document.gaps for name in used}
        time, used, notes = _common(used, most, channels)
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
    return _cut(_shifted(raw, signals, channels.file), document.range, channels.file)


def _times(
    channels: Channels, document: MappingDocument, used: dict[str, Channel]
) -> tuple[str | None, Floats | None, list[str]]:
    if document.rate is not None:
        n = max(len(c.values) for c in used.values())
        return None, np.arange(n) / document.rate, []
    if document.time is None and all(c.time is not None for c in used.values()):
        return None, None, []
    clock = find_clock(channels, document.time)
    if clock is None:
        raise DataError(
            "missing channel time",
            where=channels.file,
            remedy="name the time channel in the mapping, or give the rate",
        )
    return clock.channel, clock.time, list(clock.words)


def _common(
    used: dict[str, Channel], most: dict[str, int], channels: Channels
) -> tuple[Floats, dict[str, Channel], list[str]]:
    """Bring channels with times of their own to those of the one with most samples.

    Within a pause of more than `most` lost samples a channel has no values.
    """
    file = channels.file
    times = {name: c.time for name, c in used.items() if c.time is not None and len(c.time)}
    if len(times) < len(used):
        empty = next(name for name in used if name not in times)
        raise DataError(f"channel {empty} is empty", where=file)
    for name, t in times.items():
        check_increasing(t, f"{file}: channel {name}")
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
            values = _interpolated(time, t, channel.values, most[name])
            found[name] = Channel(values, channel.unit)
            moved.append(name)
    notes = [f"interpolated at the times of {base}: {', '.join(moved)}"] if moved else []
    notes += [f"times count from {date(channels.origin)}"] if channels.origin else []
    return time, found, notes


def _interpolated(time: Floats, own: Floats, values: Floats, most: int | None = None) -> Floats:
    """Interpolate by a cubic spline; what lies next to a missing sample is missing.

    With `most`, so is what lies in a pause of more than so many lost samples.
    """
    from scipy.interpolate import make_interp_spline

    there = np.isfinite(values)
    if there.sum() < 4:
        return np.interp(time, own, values)
    out = np.asarray(make_interp_spline(own[there], values[there], k=3)(time))
    out[~np.isfinite(np.interp(time, own, np.where(there, 0.0, np.nan)))] = np.nan
    if most is not None:
        steps = np.diff(own)
        step = float(np.median(steps))
        long = (steps > GAP * step) & (np.rint(steps / step) - 1 > most)
        after = np.clip(np.searchsorted(own, time, side="left"), 1, len(own) - 1)
        out[long[after - 1] & (time < own[after])] = np.nan
    return out


def _shifted(raw: Raw, signals: list[Signal], file: str) -> Raw:
    """Shift signals that are late: what was recorded at t + delay belongs to t."""
    delays = np.array([s.delay for s in signals])
    if not delays.any():
        return raw
    start, end = raw.time[0] - min(0.0, delays.min()), raw.time[-1] - max(0.0, delays.max())
    inside = (raw.time >= start) & (raw.time <= end)
    if inside.sum() < 2:
        raise DataError(
            f"a delay of {np.abs(delays).max():g} s is longer than the log",
            where=file,
            remedy="give delays in seconds",
        )
    time = raw.time[inside]
    values = [
        _interpolated(time + s.delay, raw.time, raw.values[:, j])
        if s.delay
        else raw.values[inside, j]
        for j, s in enumerate(signals)
    ]
    notes = [f"{s.words}: late by {s.delay:g} s, shifted" for s in signals if s.delay]
    return Raw(time, raw.rows[inside], np.stack(values, axis=1), raw.channel, (*raw.notes, *notes))


def _check_times(raw: Raw, file: str) -> None:
    where = f"{file}: channel {raw.channel}" if raw.channel else file
    if len(raw.time) < 2:
        raise DataError(f"at least 2 samples are needed, got {len(raw.time)}", where=file)
    check_increasing(raw.time, where)


def check_increasing(time: Floats, where: str) -> None:
    """Reject times that are missing, occur twice, go back, or follow each other too fast."""
    bad = np.flatnonzero(~np.isfinite(time))
    if bad.size:
        raise DataError(
            "the time is missing", where=f"{where}, row {bad[0] + 1}", remedy="remove the row"
        )
    back = np.flatnonzero(np.diff(time) <= 0)
    if back.size:
        k = int(back[0]) + 1
        early, late = float(time[k - 1]), float(time[k])
        what = "occurs twice" if early == late else f"comes after {early:.10g} s"
        more = f" ({back.size} such rows)" if back.size > 1 else ""
        raise DataError(
            f"time does not increase: {late:.10g} s {what}{more}",
            where=f"{where}, row {k + 1}",
            remedy="sort the rows by time and keep one row for each time",
        )
    close = np.flatnonzero(np.diff(time) < _SHORTEST)
    if close.size:
        k = int(close[0]) + 1
        raise DataError(
            f"samples must be at least {_SHORTEST:g} s apart, got {time[k] - time[k - 1]:.3g} s",
            where=f"{where}, row {k + 1}",
            remedy="check the unit of the time, and keep one row for each time",
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
