"""Noise of several signals, as people write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mechid.errors import DataError
from mechid.textfile.numbers import named, number, share


@dataclass(frozen=True)
class Level:
    """Size of an error.

    Attributes
    ----------
    value : float
        A share of the signal, or a standard deviation in its unit.
    relative : bool
        Whether it is a share: of the root mean square of the signal, or of each sample.
    """

    value: float
    relative: bool = True


@dataclass(frozen=True)
class NoiseLevels:
    """Noise of several signals.

    Attributes
    ----------
    every : Level
        Of those that are not named.
    channels : mapping name → Level
        Of single signals, instead.
    """

    every: Level = Level(0.0)
    channels: Mapping[str, Level] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether there is any noise."""
        return bool(self.every.value) or bool(self.channels)

    def of(self, name: str) -> Level:
        """Return the level of a signal."""
        return self.channels.get(name, self.every)

    @classmethod
    def read(cls, given: Any, name: str) -> NoiseLevels:
        """Return noise as `changed` reads it."""
        return noise_levels(given, name, absolute=name != "noise")


NO_NOISE = NoiseLevels()


def noise_levels(given: Any, name: str = "noise", *, absolute: bool = False) -> NoiseLevels:
    """Return noise as people write it.

    Parameters
    ----------
    given : NoiseLevels, number, str, mapping or sequence of str
        A share of each signal ("5 %" or 0.05); {"M1": 12.5, "M2": "5 %"} for single signals, in
        their unit or as a share; or what a command line gives: ["5%", "M1=12.5"].
    name : str
        What it is, for messages.
    absolute : bool
        A plain number for all signals is a standard deviation in their unit, not a share.

    Raises
    ------
    DataError
        For what is not a level, or negative.
    """
    if isinstance(given, NoiseLevels):
        return given
    if isinstance(given, str | float | int):
        given = [given]
    single: Mapping[str, Any] = {}
    every: list[Any] = []
    if isinstance(given, Mapping):
        single = given
    elif isinstance(given, Sequence):
        every = [x for x in given if not (isinstance(x, str) and "=" in x)]
        single = named([x for x in given if isinstance(x, str) and "=" in x], name, "F_x=12.5")
    else:
        every = [given]
    if len(every) > 1:
        raise DataError(f"{name} for all signals is given twice", remedy="give one")
    level = _level(every[0], name, relative=not absolute) if every else Level(0.0)
    return NoiseLevels(level, {key: _level(x, f"{name} {key}={x}") for key, x in single.items()})


def _level(value: Any, where: str, *, relative: bool = False) -> Level:
    if isinstance(value, Level):
        return value
    percent = isinstance(value, str) and value.strip().endswith("%")
    found = Level(share(value, where) if percent else number(value, where), percent or relative)
    if not 0 <= found.value < float("inf"):
        raise DataError(f"{where.partition(' ')[0]} must be ≥ 0, got {found.value:g}")
    return found
