"""What every family of motions offers: y(t) = y0(t) + B(t) c, and its two derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from mechid.errors import DataError

Floats: TypeAlias = npt.NDArray[np.float64]

# A time may miss the ends of a span by this part of it: the rounding of sampled times.
SPAN_SLACK = 1e-9


class Rates(NamedTuple):
    """Position, speed and acceleration of one coordinate, each (N,)."""

    position: Floats
    speed: Floats
    acceleration: Floats


class Basis(NamedTuple):
    """B, Ḃ, B̈, each (N, n): position, speed and acceleration per unit of each coefficient."""

    position: Floats
    speed: Floats
    acceleration: Floats


class Family(ABC):
    """A motion of one coordinate, linear in its coefficients.

    A family without coefficients is a given signal: it is sampled, not designed. What enters
    otherwise than linearly (frequencies, knots) is fixed when a family is made.
    """

    @property
    def coefficients(self) -> Floats:
        """What is designed, (n,)."""
        return np.zeros(0)

    def with_coefficients(self, c: Floats) -> Self:
        """Return the same family with other coefficients (n,)."""
        assert np.size(c) == 0
        return self

    @abstractmethod
    def given(self, t: Floats) -> Rates:
        """Return the part y0 that no coefficient changes."""

    def basis(self, t: Floats) -> Basis:
        """Return B, Ḃ, B̈ (N, n) at times t (N,)."""
        none = np.zeros((len(t), 0))
        return Basis(none, none, none)

    def rates(self, t: Floats) -> Rates:
        """Return y, ẏ, ÿ at times t (N,)."""
        c = self.coefficients
        return Rates(*(g + B @ c for g, B in zip(self.given(t), self.basis(t), strict=True)))

    def __call__(self, t: float) -> tuple[float, float, float]:
        """Return y, ẏ, ÿ at one time, so that a family can drive a coordinate of `simulate`.

        Raises
        ------
        DataError
            Outside the span.
        """
        first, last = self.span
        slack = SPAN_SLACK * (last - first) if np.isfinite(last - first) else 0.0
        if not first - slack <= t <= last + slack:
            raise DataError(
                f"there is no motion at t = {t:.10g} s: it goes from {first:.10g} s to "
                f"{last:.10g} s",
                remedy="give a longer signal, or simulate a shorter time",
            )
        y, yd, ydd = (float(values[0]) for values in self.rates(np.array([t])))
        return y, yd, ydd

    @property
    def period(self) -> float | None:
        """Time after which it repeats, s; 0 if it stands still, None if it never does."""
        return None

    @property
    def span(self) -> tuple[float, float]:
        """First and last time at which it is defined, s."""
        return (-np.inf, np.inf)

    @property
    def band(self) -> float | None:
        """Highest frequency that it is made of, Hz; None where that is not known."""
        return None


def still(t: Floats) -> Rates:
    """Return a motion that stays at zero."""
    return Rates(np.zeros(len(t)), np.zeros(len(t)), np.zeros(len(t)))


# Periods of the longest one that are tried, and how far from whole the others may be: frequencies
# are decimal numbers of a few digits.
_MOST_PERIODS = 1000
_WHOLE = 1e-9


def common_period(periods: Sequence[float | None]) -> float | None:
    """Return the smallest common multiple of periods (s), or None if there is none.

    None among them never repeats; 0 repeats after any time.
    """
    if any(p is None for p in periods):
        return None
    moving = np.array([p for p in periods if p])
    if not moving.size:
        return 0.0
    longest = float(moving.max())
    for k in range(1, _MOST_PERIODS + 1):
        counts = k * longest / moving
        if np.all(np.abs(counts - np.round(counts)) <= _WHOLE * counts):
            return k * longest
    return None
