"""Sums of families, and given signals times a factor that is designed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mechid.errors import DataError
from mechid.excitation.families.family import Basis, Family, Floats, Rates, common_period, still


@dataclass(frozen=True)
class Scaled(Family):
    """y = factor · signal(t); the factor is the one coefficient.

    A sum of given signals with factors to be designed is a `Sum` of these.

    Attributes
    ----------
    signal : Family
        Without coefficients of its own.
    factor : float
    """

    signal: Family
    factor: float = 1.0

    def __post_init__(self) -> None:
        """Reject a product of coefficients."""
        if self.signal.coefficients.size:
            raise DataError(
                "a signal with coefficients of its own cannot have a designed factor",
                remedy="scale the coefficients instead, or give a signal without coefficients",
            )

    @property
    def coefficients(self) -> Floats:
        """The factor."""
        return np.array([self.factor])

    def with_coefficients(self, c: Floats) -> Self:
        """Return the signal with another factor."""
        return replace(self, factor=float(np.asarray(c)[0]))

    def given(self, t: Floats) -> Rates:
        """Return zeros."""
        return still(t)

    def basis(self, t: Floats) -> Basis:
        """Return the signal as the one column, (N, 1)."""
        return Basis(*(x[:, None] for x in self.signal.given(t)))

    @property
    def period(self) -> float | None:
        """That of the signal."""
        return self.signal.period

    @property
    def span(self) -> tuple[float, float]:
        """That of the signal."""
        return self.signal.span

    @property
    def band(self) -> float | None:
        """That of the signal."""
        return self.signal.band


@dataclass(frozen=True)
class Sum(Family):
    """y = Σ of the terms; its coefficients are theirs, one term after the other.

    Attributes
    ----------
    terms : tuple of Family
    """

    terms: tuple[Family, ...]

    def __post_init__(self) -> None:
        """Reject an empty sum."""
        if not self.terms:
            raise DataError("a sum needs at least one term")

    @property
    def coefficients(self) -> Floats:
        """Those of all terms."""
        return np.concatenate([term.coefficients for term in self.terms])

    def with_coefficients(self, c: Floats) -> Self:
        """Return the sum with other coefficients."""
        ends = np.cumsum([term.coefficients.size for term in self.terms])[:-1]
        parts = np.split(np.asarray(c, dtype=float), ends)
        terms = zip(self.terms, parts, strict=True)
        return replace(self, terms=tuple(term.with_coefficients(p) for term, p in terms))

    def given(self, t: Floats) -> Rates:
        """Return the sum of what is given of the terms."""
        parts = [term.given(t) for term in self.terms]
        return Rates(*(np.sum(x, axis=0) for x in zip(*parts, strict=True)))

    def basis(self, t: Floats) -> Basis:
        """Return the columns of all terms, side by side."""
        parts = [term.basis(t) for term in self.terms]
        return Basis(*(np.hstack(x) for x in zip(*parts, strict=True)))

    @property
    def period(self) -> float | None:
        """The smallest time after which all terms repeat."""
        return common_period([term.period for term in self.terms])

    @property
    def span(self) -> tuple[float, float]:
        """Where all terms are defined."""
        first, last = zip(*(term.span for term in self.terms), strict=True)
        return (max(first), min(last))

    @property
    def band(self) -> float | None:
        """The highest of all terms."""
        bands = [term.band for term in self.terms]
        known = [b for b in bands if b is not None]
        return max(known) if len(known) == len(bands) else None
