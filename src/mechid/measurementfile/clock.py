"""Times as files have them: seconds or smaller, counted from any start, or dates.

The unit of a time channel is that of the mapping, else of the file, else the end of its name
(`t_ms`), else: counts since 1970 in the one unit in which they are between 2000 and 2100, and
seconds otherwise. A step that is too long for that is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.measurementfile.channels import Channel, Channels
from mechid.measurementfile.document import TimeSpec
from mechid.measurementfile.units import Unit, parse_unit

_NAME = re.compile(r"(time|t|tout|timestamp|stamp)(?:[_ .](s|ms|us|µs|ns))?", re.IGNORECASE)
_USUAL = ("time", "t", "tout")
_ENDING = re.compile(r".*[_ .](s|ms|us|µs|ns)", re.IGNORECASE)
_UNITS = ("s", "ms", "us", "ns")
_SINCE_2000, _UNTIL_2100 = 946684800.0, 4102444800.0  # s since 1970
_LONGEST, _SHORTEST = 0.5, 1e-6  # s: steps of a log whose unit is not stated


@dataclass(frozen=True, eq=False)
class Clock:
    """Times of a channel: seconds (N,) after `origin`, which is zero or a date since 1970 (s)."""

    channel: str
    time: Floats
    origin: Fraction
    notes: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """How the times were read, for the notes."""
        if not self.origin:
            return self.notes
        return (*self.notes, f"times count from {date(self.origin)}")


def date(origin: Fraction) -> str:
    """Return seconds since 1970 as a date.

    Raises
    ------
    DataError
        If no calendar has it.
    """
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=float(origin))).isoformat()
    except OverflowError:
        raise DataError(
            "times that count from 1970 must be between the years 1 and 9999",
            remedy="state their unit in the mapping, time: {channel: NAME, unit: ns}",
        ) from None


def find_clock(channels: Channels, spec: TimeSpec | None) -> Clock | None:
    """Return the times of a file: those of the channel that the mapping names, or of `time`, `t`, …

    Raises
    ------
    DataError
        If several such channels increase, or the unit is not clear.
    """
    if spec is not None:
        return _clock(spec.channel, channels.get(spec.channel), spec.unit, channels.file)
    fits = {name: found for name in channels.channels if (found := _NAME.fullmatch(name))}
    if len(fits) > 1:  # a force may be called T
        rising = {x: found for x, found in fits.items() if _increases(channels.get(x).values)}
        fits = rising or fits
    usual = [name for name, found in fits.items() if found[1].lower() in _USUAL]
    for names in ([name for name in usual if not fits[name][2]], usual, list(fits)):
        if len(names) > 1:
            raise DataError(
                f"there are several channels of time, {', '.join(names)}",
                where=channels.file,
                remedy="name the one to use in the mapping, time: NAME",
            )
        if names:
            return _clock(names[0], channels.get(names[0]), None, channels.file)
    return None


def _increases(values: Floats) -> bool:
    there = values[np.isfinite(values)]
    return there.size > 1 and bool(np.all(there[1:] > there[:-1]))


def _clock(name: str, channel: Channel, given: str | None, file: str) -> Clock:
    unit, notes = _unit(name, channel, given, file)
    size = Fraction(unit.size).limit_denominator(10**9)
    values = channel.values * unit.size
    origin = channel.start * size
    there = values[np.isfinite(values)]
    if not origin and there.size and abs(there[0]) >= _SINCE_2000:
        # Differences of large numbers: taken before the unit rounds them.
        first = float(channel.values[np.isfinite(channel.values)][0])
        origin, values = Fraction(first) * size, (channel.values - first) * unit.size
    return Clock(name, values, origin, tuple(notes))


def _unit(name: str, channel: Channel, given: str | None, file: str) -> tuple[Unit, list[str]]:
    if given is not None:
        return time_unit(given, "time.unit"), []
    if channel.unit:
        where = f"{file}: channel {name}"
        found = time_unit(channel.unit, where)
        dated = channel.start and channel.unit == "s"
        return found, [] if found.size == 1 or dated else [
            f"{name} is in {found.text}, by the file"
        ]
    ending = _ENDING.fullmatch(name)
    if ending:
        found = parse_unit(ending[1].lower())
        return found, [] if found.size == 1 else [f"{name} is in {ending[1]}, by its name"]
    return _by_size(name, channel, file)


def time_unit(text: str, where: str) -> Unit:
    """Return a unit of time, or reject it."""
    try:
        unit = parse_unit(text)
    except DataError as error:
        raise error.located(where) from None
    if unit.dimension != (0, 0, 0, 1):
        raise DataError(f'"{unit.text}" is not a unit of time', where=where, remedy="use ms")
    return unit


def _by_size(name: str, channel: Channel, file: str) -> tuple[Unit, list[str]]:
    values = channel.values[np.isfinite(channel.values)]
    if len(values) < 2:
        return parse_unit("s"), []
    step = float(np.median(np.abs(np.diff(values))))
    at = channel.start + float(values[0])
    for text in _UNITS:
        unit = parse_unit(text)
        if (
            _SINCE_2000 <= at * unit.size < _UNTIL_2100
            and _SHORTEST <= step * unit.size <= 10 * _LONGEST
        ):
            return unit, [f"{name} is in {text} since 1970, by its size"]
    if step > _LONGEST:
        raise DataError(
            f"the unit of the times is not stated, and steps of {step:.6g} s are too long",
            where=f"{file}: channel {name}",
            remedy=f"state it in the mapping, time: {{channel: {name}, unit: ms}} (or s, us, ns)",
        )
    return parse_unit("s"), []
