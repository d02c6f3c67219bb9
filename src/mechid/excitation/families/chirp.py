"""A chirp: a sine whose frequency grows linearly with time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.excitation.families.family import Family, Floats, Rates


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
