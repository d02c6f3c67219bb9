"""Finite Fourier series, in the form of the literature the method comes from.

With ω = 2π f and harmonics j = 1 … NH,

    y  = A0 + Σ a_j / (ω j) sin(ω j t) - b_j / (ω j) cos(ω j t)
    ẏ  =      Σ a_j cos(ω j t) + b_j sin(ω j t)
    ÿ  =      Σ -a_j ω j sin(ω j t) + b_j ω j cos(ω j t)

so that a_j and b_j are amplitudes of *speed*, and A0 is the mean of the position.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mechid.errors import DataError
from mechid.excitation.families.family import Basis, Family, Floats, Rates, still


@dataclass(frozen=True)
class Fourier(Family):
    """Finite Fourier series with coefficients (A0, a_1 … a_NH, b_1 … b_NH).

    Attributes
    ----------
    frequency : float
        Base frequency f, Hz.
    offset : float
        A0, m or rad.
    a, b : tuples of NH floats
        Amplitudes of the speed, m/s or rad/s.
    """

    frequency: float
    offset: float
    a: tuple[float, ...]
    b: tuple[float, ...]

    def __post_init__(self) -> None:
        """Reject invalid frequencies and coefficients."""
        if not 0 < self.frequency < np.inf:
            raise DataError(
                f"the base frequency of a Fourier series must be > 0 Hz, got {self.frequency:g}"
            )
        if len(self.a) != len(self.b):
            raise DataError(
                f"a and b of a Fourier series must have the same length, got {len(self.a)} "
                f"and {len(self.b)}",
                remedy="give one of each per harmonic",
            )

    @classmethod
    def zeros(cls, frequency: float, harmonics: int, offset: float = 0.0) -> Self:
        """Return a series that stands at its offset, to be designed."""
        none = (0.0,) * harmonics
        return cls(frequency, offset, none, none)

    @property
    def harmonics(self) -> int:
        """Number of harmonics NH."""
        return len(self.a)

    @property
    def coefficients(self) -> Floats:
        """A0, a_1 … a_NH, b_1 … b_NH."""
        return np.array([self.offset, *self.a, *self.b])

    def with_coefficients(self, c: Floats) -> Self:
        """Return the series with other coefficients."""
        offset, *rest = np.asarray(c, dtype=float).tolist()
        n = self.harmonics
        return replace(self, offset=offset, a=tuple(rest[:n]), b=tuple(rest[n:]))

    def given(self, t: Floats) -> Rates:
        """Return zeros: all of the series is designed."""
        return still(t)

    def basis(self, t: Floats) -> Basis:
        """Return B, Ḃ, B̈ (N, 2 NH + 1)."""
        w = 2 * np.pi * self.frequency * np.arange(1, self.harmonics + 1)
        sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
        one, none = np.ones((len(t), 1)), np.zeros((len(t), 1))
        return Basis(
            np.hstack([one, sine / w, -cosine / w]),
            np.hstack([none, cosine, sine]),
            np.hstack([none, -sine * w, cosine * w]),
        )

    @property
    def period(self) -> float:
        """1/f."""
        return 1 / self.frequency if self.harmonics else 0.0

    @property
    def band(self) -> float:
        """NH f."""
        return self.harmonics * self.frequency
