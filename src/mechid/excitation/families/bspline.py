"""B-splines on uniform knots: periodic, at rest at both ends, or with free ends.

A change of one coefficient moves the coordinate near one knot only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self, TypeAlias

import numpy as np

from mechid.errors import DataError
from mechid.excitation.families.family import Basis, Family, Floats, Rates, still

Ends: TypeAlias = Literal["periodic", "rest", "free"]
ENDS: tuple[Ends, ...] = ("periodic", "rest", "free")
SMALLEST_DEGREE = 3  # the acceleration of anything less jumps


@dataclass(frozen=True)
class BSpline(Family):
    """A spline on uniform knots over [0, length].

    Attributes
    ----------
    length : float
        Duration of the spline, s; the period of a periodic one.
    values : tuple of floats
        Control values, m or rad. With ends at rest the first and the last one stand for three
        equal ones each, which is what makes speed and acceleration zero there.
    degree : int
        3 or more; 5 makes the acceleration a cubic spline.
    ends : "periodic", "rest" or "free"
    """

    length: float
    values: tuple[float, ...]
    degree: int = 5
    ends: Ends = "periodic"

    def __post_init__(self) -> None:
        """Reject an invalid length, degree or number of values."""
        if not 0 < self.length < np.inf:
            raise DataError(f"the length of a spline must be > 0 s, got {self.length:g}")
        if self.degree < SMALLEST_DEGREE:
            raise DataError(
                f"the acceleration of a spline of degree {self.degree} jumps",
                remedy=f"use a degree of {SMALLEST_DEGREE} or more",
            )
        if self.ends not in ENDS:
            raise DataError(
                f"unknown ends '{self.ends}' of a spline",
                remedy=f"choose one of: {', '.join(ENDS)}",
            )
        least = smallest_number(self.degree, self.ends)
        if len(self.values) < least:
            raise DataError(
                f"a spline of degree {self.degree} with ends '{self.ends}' needs {least} values, "
                f"got {len(self.values)}",
                remedy="give more values, or a smaller degree",
            )

    @classmethod
    def zeros(cls, length: float, number: int, degree: int = 5, ends: Ends = "periodic") -> Self:
        """Return a spline that stands at zero, to be designed."""
        return cls(length, (0.0,) * number, degree, ends)

    @property
    def coefficients(self) -> Floats:
        """Control values."""
        return np.array(self.values)

    def with_coefficients(self, c: Floats) -> Self:
        """Return the spline with other control values."""
        return replace(self, values=tuple(np.asarray(c, dtype=float).tolist()))

    def given(self, t: Floats) -> Rates:
        """Return zeros: all of the spline is designed."""
        return still(t)

    def basis(self, t: Floats) -> Basis:
        """Return B, Ḃ, B̈ (N, n)."""
        from scipy.interpolate import BSpline as Spline

        knots, merged = self._layout
        spline = Spline(knots, merged, self.degree)
        # Knots of unit distance: the derivatives are scaled afterwards.
        n = np.count_nonzero(np.diff(knots)) - self._outside
        step = self.length / n
        u = np.asarray(t, dtype=float) / step
        u = np.mod(u, n) if self.ends == "periodic" else np.clip(u, 0.0, n)
        return Basis(*(np.asarray(spline(u, nu)) / step**nu for nu in range(3)))

    @property
    def period(self) -> float | None:
        """The length of a periodic spline."""
        return self.length if self.ends == "periodic" else None

    @property
    def span(self) -> tuple[float, float]:
        """From 0 to the length, unless it is periodic."""
        return (-np.inf, np.inf) if self.ends == "periodic" else (0.0, self.length)

    @property
    def band(self) -> float:
        """Highest frequency that the distance of the knots can follow."""
        return len(self.values) / (2 * self.length)

    @property
    def _outside(self) -> int:
        """Intervals between knots that lie outside of [0, length]."""
        return 2 * self.degree if self.ends == "periodic" else 0

    @cached_property
    def _layout(self) -> tuple[Floats, Floats]:
        """Knots in units of their distance, and plain control values per coefficient."""
        n, k = len(self.values), self.degree
        if self.ends == "periodic":
            wrapped = np.eye(n)[np.arange(n + k) % n]
            return np.arange(-k, n + k + 1, dtype=float), wrapped
        plain = np.eye(n)
        if self.ends == "rest":
            plain = np.repeat(plain, [3, *([1] * (n - 2)), 3], axis=0)
        inner = np.arange(len(plain) - k + 1, dtype=float)
        return np.concatenate([np.zeros(k), inner, np.full(k, inner[-1])]), plain


def smallest_number(degree: int, ends: Ends) -> int:
    """Return how many control values a spline needs at least.

    Two at rest: where it starts and where it ends.
    """
    if ends == "periodic":
        return degree + 1
    return degree + 1 if ends == "free" else max(2, degree - 3)
