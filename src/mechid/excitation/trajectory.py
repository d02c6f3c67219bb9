"""A trajectory: one family per independent coordinate, over a duration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mechid.errors import DataError, MechidError
from mechid.excitation.families.elementary import Constant
from mechid.excitation.families.family import SPAN_SLACK, Family, Floats, common_period
from mechid.kinematics.model import held_values
from mechid.mechanism.records import Mechanism
from mechid.shown import Plotted, Tabular

# Samples per period of the highest frequency where nothing else is said: the acceleration between
# two samples is then off by less than 2 % of its amplitude, drawn or interpolated linearly.
SAMPLES_PER_PERIOD = 20
_USUAL_RATE = 100.0  # Hz, where no frequency is known
# Samples, counted for each coordinate: half a gigabyte. More is a mistake in a unit.
_MOST_SAMPLES = 2 * 10**7
_BLOCK = 1 << 13  # samples whose bases are in memory at the same time


@dataclass(frozen=True, repr=False)
class Trajectory(Plotted, Tabular):
    """A motion of all independent coordinates.

    Attributes
    ----------
    names : tuple of str
        Independent coordinates.
    families : tuple of Family
        How each of them moves.
    duration : float
        s; it starts at time 0.
    rate : float or None
        Samples per second by default; None: `usual_rate`.
    name : str
        Description.
    """

    names: tuple[str, ...]
    families: tuple[Family, ...]
    duration: float
    rate: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        """Reject names that do not fit and families that end too early."""
        if len(self.names) != len(self.families) or len(set(self.names)) != len(self.names):
            raise DataError(
                f"a trajectory needs one family per coordinate ({', '.join(self.names)}), "
                f"got {len(self.families)}",
                remedy="give one family for each coordinate",
            )
        if not 0 < self.duration < np.inf:
            raise DataError(f"the duration of a trajectory must be > 0 s, got {self.duration:g}")
        if self.rate is not None and not 0 < self.rate < np.inf:
            raise DataError(f"the rate of a trajectory must be > 0 Hz, got {self.rate:g}")
        for name, family in zip(self.names, self.families, strict=True):
            _check_span(name, family, np.array([0.0, self.duration]))

    @staticmethod
    def of(
        families: Mapping[str, Family],
        duration: float,
        *,
        rate: float | None = None,
        name: str = "",
    ) -> Trajectory:
        """Return the trajectory of a mapping coordinate → family."""
        return Trajectory(tuple(families), tuple(families.values()), duration, rate, name)

    def keys(self) -> tuple[str, ...]:
        """Return the names of the coordinates: with [], a mapping that can drive a simulation."""
        return self.names

    def __getitem__(self, name: str) -> Family:
        """Return the family of a coordinate."""
        return self.families[self._place(name)]

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        return {
            "name": self.name,
            "duration": f"{self.duration:g} s",
            "rate": None if self.rate is None else f"{self.rate:g} Hz",
            **{n: type(f).__name__ for n, f in zip(self.names, self.families, strict=True)},
        }

    @property
    def period(self) -> float | None:
        """Smallest time after which all coordinates repeat, s; None if they do not."""
        return common_period([family.period for family in self.families])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of coefficients of each coordinate."""
        return tuple(family.coefficients.size for family in self.families)

    @property
    def coefficients(self) -> Floats:
        """Coefficients of all coordinates, one coordinate after the other."""
        return np.concatenate([np.zeros(0), *(f.coefficients for f in self.families)])

    def with_coefficients(self, c: Floats) -> Trajectory:
        """Return the trajectory with other coefficients, in the same order."""
        c = np.asarray(c, dtype=float)
        if c.shape != (sum(self.sizes),):
            raise DataError(
                f"coefficients must have shape ({sum(self.sizes)},), got {c.shape}",
                remedy="list them in one row, coordinate by coordinate",
            )
        parts = np.split(c, np.cumsum(self.sizes)[:-1])
        families = zip(self.families, parts, strict=True)
        return replace(self, families=tuple(f.with_coefficients(p) for f, p in families))

    def ordered(self, names: Sequence[str], where: str = "") -> Trajectory:
        """Return the trajectory with its coordinates in the order of a model.

        Raises
        ------
        DataError
            If a coordinate of the model is missing, or one is not of the model.
        """
        if missing := [name for name in names if name not in self.names]:
            raise DataError(
                f"the trajectory does not define {', '.join(missing)}",
                where=where,
                remedy="add it; use a constant for a coordinate at rest",
            )
        if strange := [name for name in self.names if name not in names]:
            raise DataError(
                f"the model has no independent coordinate {', '.join(strange)}",
                where=where,
                remedy=f"choose one of: {', '.join(names)}",
            )
        families = tuple(self[name] for name in names)
        return replace(self, names=tuple(names), families=families)

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise MechidError(
                f"the trajectory has no coordinate {name}",
                remedy=f"choose one of: {', '.join(self.names)}",
            )
        return self.names.index(name)


def of_mechanism(trajectory: Trajectory, mechanism: Mechanism, where: str = "") -> Trajectory:
    """Return a trajectory in the order of a mechanism; coordinates that it holds may be missing.

    Raises
    ------
    DataError
        If another coordinate is missing, or one is not of the mechanism.
    """
    still = {n: Constant(x) for n, x in held_values(mechanism).items() if n not in trajectory.names}
    families = (*trajectory.families, *still.values())
    whole = replace(trajectory, names=(*trajectory.names, *still), families=families)
    names = [c.name for c in mechanism.coordinates]
    return whole.ordered(names, where=where or trajectory.name)


class Sampled(NamedTuple):
    """A trajectory at some times: time (N,), coordinates, speeds and accelerations (N, n_i)."""

    time: Floats
    y: Floats
    yd: Floats
    ydd: Floats


def sample(
    trajectory: Trajectory, *, rate: float | None = None, times: Floats | None = None
) -> Sampled:
    """Return coordinates, speeds and accelerations of a trajectory.

    Parameters
    ----------
    trajectory : Trajectory
    rate : float, optional
        Samples per second, from 0 up to the duration; by default that of the trajectory.
    times : array (N,), optional
        Instants, instead of a rate.

    Raises
    ------
    DataError
        For both of them, or a time at which a coordinate is not defined.
    """
    if rate is not None and times is not None:
        raise DataError("rate and times exclude each other", remedy="give one of them")
    if times is None:
        t = times_at(trajectory.duration, rate or trajectory.rate or usual_rate(trajectory))
    else:
        t = np.asarray(times, dtype=float)
        for name, family in zip(trajectory.names, trajectory.families, strict=True):
            _check_span(name, family, t)
    n = len(trajectory.families)
    if n * len(t) > _MOST_SAMPLES:
        raise DataError(
            f"too many samples: {len(t):.3g} of {n} coordinates",
            remedy="use a lower rate or a shorter duration",
        )
    found = [np.empty((len(t), n)) for _ in range(3)]
    for part in (slice(k, k + _BLOCK) for k in range(0, len(t), _BLOCK)):
        for i, family in enumerate(trajectory.families):
            with np.errstate(all="ignore"):  # values that are not finite are rejected below
                for values, rates in zip(found, family.rates(t[part]), strict=True):
                    values[part, i] = rates
    for i, name in enumerate(trajectory.names):
        if not all(np.all(np.isfinite(values[:, i])) for values in found):
            raise DataError(f"{name} is not finite", remedy="check amplitudes and frequencies")
    return Sampled(t, *found)


def times_at(duration: float, rate: float) -> Floats:
    """Return the times k / rate from 0 up to the duration, which counts if it is a sample."""
    if not 0 < rate < np.inf:
        raise DataError(f"the rate must be > 0 Hz, got {rate:g}")
    if duration * rate > _MOST_SAMPLES:
        raise DataError(
            f"too many samples: {duration:g} s at {rate:g} Hz are {duration * rate:.3g}",
            remedy="use a lower rate or a shorter duration",
        )
    last = int(np.floor(duration * rate * (1 + SPAN_SLACK)))
    return np.minimum(np.arange(last + 1) / rate, duration)


def usual_rate(trajectory: Trajectory, per_period: float = SAMPLES_PER_PERIOD) -> float:
    """Return a rate that draws the highest frequency of a trajectory, Hz."""
    bands = [b for b in (family.band for family in trajectory.families) if b]
    return max(per_period * max(bands), 1 / trajectory.duration) if bands else _USUAL_RATE


def _check_span(name: str, family: Family, t: Floats) -> None:
    first, last = family.span
    slack = SPAN_SLACK * (last - first) if np.isfinite(last - first) else 0.0
    outside = t[(t < first - slack) | (t > last + slack)]
    if outside.size:
        raise DataError(
            f"{name} is not defined at t = {outside[0]:.10g} s, only from {first:.10g} s "
            f"to {last:.10g} s",
            remedy="give a longer signal, or use a shorter duration",
        )
