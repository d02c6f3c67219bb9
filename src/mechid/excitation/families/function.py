"""Any function of time that brings its derivatives along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.excitation.families.family import Family, Floats, Rates


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
