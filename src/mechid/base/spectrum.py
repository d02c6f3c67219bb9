"""A rank read off a spectrum, and how reliable the reading is.

Singular values (or the diagonal of a pivoted factorisation) fall off; what rounding leaves of zero
lies about eps √(M p) below the largest. A rank can be read where the values fall from well above
that level to that level. Where they slide down without a step, or where what is dropped lies above
what rounding explains, it cannot: the reading is kept, and said to be ambiguous.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from mechid.kinematics.tables import Floats

Verdict: TypeAlias = Literal["clear", "weak", "ambiguous"]

_CLEAR_STEP = 1e3
_WEAK_STEP = 10.0
# Rounding is amplified by the closure of loops and by cancellation before W is there.
_ROUNDING = 1e2


@dataclass(frozen=True, eq=False)
class Reading:
    """A rank, and what speaks for it.

    Attributes
    ----------
    rank : int
    spectrum : array
        All values, the largest first, relative to it.
    kept, dropped : float
        The smallest value that counts, the largest that does not (0: none).
    rounding : float
        eps √(M p), about what zeros become.
    tolerance : float
        Relative; values above it count.
    largest_step : int
        The rank at the largest step between neighbours, rounding level included as the last.
    """

    rank: int
    spectrum: Floats
    kept: float
    dropped: float
    rounding: float
    tolerance: float
    largest_step: int

    @property
    def gap(self) -> float:
        """Ratio of the smallest kept value to the largest dropped one, or to the rounding level
        where nothing was dropped."""
        below = self.dropped if self.dropped > 0 else self.rounding
        return float(self.kept / below) if below > 0 else float("inf")

    @property
    def strength(self) -> float:
        """How far the smallest kept value stands above what is dropped and above rounding.

        Values hidden below rounding leave no trace: a wide gap that ends right above the rounding
        level says nothing of what lies below it.
        """
        return min(self.gap, float(self.kept / self.rounding) if self.rounding > 0 else np.inf)

    @property
    def verdict(self) -> Verdict:
        """How reliable the reading is, in a word."""
        explained = self.dropped <= _ROUNDING * self.rounding
        if self.strength >= _CLEAR_STEP and explained and self.rank == self.largest_step:
            return "clear"
        return "weak" if self.strength >= _WEAK_STEP and explained else "ambiguous"

    @property
    def words(self) -> str:
        """Say it in a sentence, with the numbers."""
        return (
            f"rank {self.rank} is {self.verdict}: smallest kept {self.kept:.1e}, largest dropped "
            f"{self.dropped:.1e} (ratio {self.gap:.1e}); rounding leaves about {self.rounding:.1e};"
            f" the largest step is at {self.largest_step}"
        )


def read_rank(
    values: Floats, shape: tuple[int, int], eps: float, tolerance: float | None = None
) -> Reading:
    """Read the rank off singular values or pivots.

    Parameters
    ----------
    values : array
        In falling order (pivots may waver).
    shape : (M, p)
        Of the matrix they come from.
    eps : float
        Unit roundoff of the arithmetic.
    tolerance : float, optional
        Relative to the largest value; by default eps max(M, p), as is usual.
    """
    top = float(values[0]) if len(values) else 0.0
    spectrum = np.sort(values / top)[::-1] if top > 0 else np.zeros(0)
    limit = eps * max(*shape, 1) if tolerance is None else tolerance
    rounding = eps * float(np.sqrt(max(shape[0] * shape[1], 1)))
    rank = int(np.sum(spectrum > limit))
    # Steps below the rounding level are accidents of rounding.
    floor = np.append(np.maximum(spectrum, rounding), rounding)
    step = int(np.argmax(floor[:-1] / floor[1:])) + 1 if len(spectrum) else 0
    return Reading(
        rank=rank,
        spectrum=spectrum,
        kept=float(spectrum[rank - 1]) if rank else 0.0,
        dropped=float(spectrum[rank]) if rank < len(spectrum) else 0.0,
        rounding=rounding,
        tolerance=limit,
        largest_step=step,
    )
