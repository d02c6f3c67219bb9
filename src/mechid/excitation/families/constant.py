"""A coordinate that is held."""

from __future__ import annotations

from dataclasses import dataclass

from mechid.excitation.families.family import Family, Floats, Rates, still


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
