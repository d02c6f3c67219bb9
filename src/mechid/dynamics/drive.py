"""Driven coordinates: independent coordinates whose motion is given instead of their force."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.model import held_values
from mechid.kinematics.tables import Floats, Ints
from mechid.mechanism.records import Mechanism

# Position, speed and acceleration at a time.
Given: TypeAlias = Callable[[float], tuple[float, float, float]]


class Drive(Protocol):
    """Motions by the names of their coordinates: a mapping, or a `Trajectory`."""

    def keys(self) -> Iterable[str]:
        """Return the names of the driven coordinates."""

    def __getitem__(self, name: str, /) -> Given | float:
        """Return the motion of one of them: a function of time, or a number if it stands still."""


@dataclass(frozen=True, eq=False)
class Driven:
    """Which coordinates are driven, and how.

    Attributes
    ----------
    index, free : arrays of int
        Numbers of the driven coordinates (n_d,), and of the others.
    given : tuple of callables
        One for each driven coordinate.
    """

    index: Ints
    free: Ints
    names: tuple[str, ...] = ()
    given: tuple[Given, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is driven."""
        return bool(self.names)

    def at(self, t: float) -> tuple[Floats, Floats, Floats]:
        """Return y, ẏ, ÿ of the driven coordinates at a time, (n_d,) each.

        Raises
        ------
        DataError
            If a motion does not give three finite numbers.
        """
        found = np.zeros((3, len(self.names)))
        for k, (name, motion) in enumerate(zip(self.names, self.given, strict=True)):
            values = np.asarray(motion(t), dtype=float)
            if values.shape != (3,) or not np.all(np.isfinite(values)):
                raise DataError(
                    f"the motion of {name} must give three finite numbers (position, speed, "
                    f"acceleration), got {values.tolist()} at t = {t:g} s"
                )
            found[:, k] = values
        return found[0], found[1], found[2]

    def set(self, t: float, y: Floats, yd: Floats) -> None:
        """Put the driven coordinates and speeds of a time into y and ẏ (n_i,)."""
        if self.names:
            y[self.index], yd[self.index], _ = self.at(t)


def nothing_driven(n_independent: int) -> Driven:
    """Return the record of a mechanism that only forces move."""
    return Driven(np.zeros(0, dtype=np.int64), np.arange(n_independent))


def driven_coordinates(mechanism: Mechanism, drive: Drive | None) -> Driven:
    """Return which coordinates are driven: those of `drive`, and those that the model holds.

    Parameters
    ----------
    drive : mapping coordinate → motion, or Trajectory, optional
        A motion is a function of time that returns position, speed and acceleration (a `Family`
        is one), or a number for a coordinate that stands still there.

    Raises
    ------
    DataError
        For a name that is not an independent coordinate.
    """
    names = [c.name for c in mechanism.coordinates]
    motions = {} if drive is None else {name: drive[name] for name in drive.keys()}  # noqa: SIM118
    for name in motions:
        if name not in names:
            raise DataError(
                f"there is no independent coordinate {name} to drive",
                where=mechanism.name,
                remedy=f"choose one of: {', '.join(names)}",
            )
    motions = {**held_values(mechanism), **motions}
    index = [i for i, name in enumerate(names) if name in motions]
    return Driven(
        index=np.array(index, dtype=np.int64),
        free=np.array([i for i in range(len(names)) if i not in index], dtype=np.int64),
        names=tuple(names[i] for i in index),
        given=tuple(_motion(motions[names[i]]) for i in index),
    )


def _motion(given: Given | float) -> Given:
    if callable(given):
        return given
    constant = (float(given), 0.0, 0.0)
    return lambda t: constant
