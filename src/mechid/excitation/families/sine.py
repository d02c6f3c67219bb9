"""One sine, given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.excitation.families.family import Family, Floats, Rates


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
