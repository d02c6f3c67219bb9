"""Motions by a formula: any function with its derivatives, a constant, a sine, a chirp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.excitation.families.family import Family, Floats, Rates, still


@dataclass(frozen=True)
class Function(Family):
    """A given motion as a function t (N,) -> (y, ẏ, ÿ), without coefficients.

    It cannot be written to a trajectory file; an expression or a table can.

    Attributes
    ----------
    function : callable
        Returns position, speed and acceleration, each (N,).
    repeats : float or None
        Period, s, if it has one.
    highest : float or None
        Highest frequency, Hz, if it is known.
    """

    function: Callable[[Floats], tuple[Floats, Floats, Floats]]
    repeats: float | None = None
    highest: float | None = None

    def given(self, t: Floats) -> Rates:
        """Return y, ẏ, ÿ."""
        found = self.function(np.asarray(t, dtype=float))
        if len(found) != 3:
            raise DataError(
                f"a function of time must return 3 arrays, got {len(found)}",
                remedy="return position, speed and acceleration",
            )
        return Rates(*(np.broadcast_to(np.asarray(x, dtype=float), len(t)).copy() for x in found))

    @property
    def period(self) -> float | None:
        """As it was given."""
        return self.repeats

    @property
    def band(self) -> float | None:
        """As it was given."""
        return self.highest


@dataclass(frozen=True)
class Constant(Family):
    """y = value, without coefficients.

    Attributes
    ----------
    value : float
        m or rad.
    """

    value: float

    def given(self, t: Floats) -> Rates:
        """Return y, ẏ, ÿ."""
        at_rest = still(t)
        return Rates(at_rest.position + self.value, at_rest.speed, at_rest.acceleration)

    @property
    def period(self) -> float:
        """0: it repeats after any time."""
        return 0.0

    @property
    def band(self) -> float:
        """0."""
        return 0.0


@dataclass(frozen=True)
class Sine(Family):
    """y = offset + amplitude sin(2π frequency t + phase), without coefficients.

    The wheels' 50 sin(π f t) of the literature is `Sine(50, f / 2)`.

    Attributes
    ----------
    amplitude, offset : float
        m or rad.
    frequency : float
        Hz.
    phase : float
        rad.
    """

    amplitude: float
    frequency: float
    phase: float = 0.0
    offset: float = 0.0

    def given(self, t: Floats) -> Rates:
        """Return y, ẏ, ÿ."""
        w = 2 * np.pi * self.frequency
        sine, cosine = np.sin(w * t + self.phase), np.cos(w * t + self.phase)
        return Rates(
            self.offset + self.amplitude * sine,
            self.amplitude * w * cosine,
            -self.amplitude * w**2 * sine,
        )

    @property
    def period(self) -> float:
        """1/f."""
        return 1 / abs(self.frequency) if self.frequency else 0.0

    @property
    def band(self) -> float:
        """Its frequency."""
        return abs(self.frequency)


@dataclass(frozen=True)
class Chirp(Family):
    """y = offset + amplitude sin(θ(t) + phase) with θ̇ = 2π (f0 + (f1 - f0) t / length).

    Without coefficients. The amplitude is that of the position; the acceleration grows with the
    square of the frequency.

    Attributes
    ----------
    amplitude, offset : float
        m or rad.
    start_frequency, end_frequency : float
        f0 and f1, Hz, at the times 0 and `length`.
    length : float
        s.
    phase : float
        rad.
    """

    amplitude: float
    start_frequency: float
    end_frequency: float
    length: float
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        """Reject a length that is not positive."""
        if not 0 < self.length < np.inf:
            raise DataError(f"the length of a chirp must be > 0 s, got {self.length:g}")

    def given(self, t: Floats) -> Rates:
        """Return y, ẏ, ÿ."""
        rate = 2 * np.pi * (self.end_frequency - self.start_frequency) / self.length
        start = 2 * np.pi * self.start_frequency
        angle = self.phase + t * (start + 0.5 * rate * t)
        w = start + rate * t
        sine, cosine = np.sin(angle), np.cos(angle)
        return Rates(
            self.offset + self.amplitude * sine,
            self.amplitude * w * cosine,
            self.amplitude * (rate * cosine - w**2 * sine),
        )

    @property
    def span(self) -> tuple[float, float]:
        """From 0 to the length."""
        return (0.0, self.length)

    @property
    def band(self) -> float:
        """The higher of its frequencies."""
        return max(abs(self.start_frequency), abs(self.end_frequency))
