"""How many parameters: by two limits, as the sources do, or by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechid.errors import DataError
from mechid.reduction.curves import Curves


@dataclass(frozen=True)
class Size:
    """A size, and why.

    Attributes
    ----------
    size : int
    why : str
        In a sentence.
    lower, upper : int, optional
        Between which sizes the rule sees no reason against.
    """

    size: int
    why: str
    lower: int | None = None
    upper: int | None = None


class SizeRule(Protocol):
    """Chooses a size from curves."""

    def __call__(self, curves: Curves) -> Size:
        """Return the choice."""
        ...


@dataclass(frozen=True)
class TwoLimits:
    """The smallest size whose prediction error is low, if its condition number is low too.

    Attributes
    ----------
    condition : float
        Largest condition number (columns of unit length).
    error : float, optional
        Largest E_p on the motion of identification, summed over the forces; by default the least
        one of the sizes below the other limit, and a part of it.
    tolerance : float
        That part.
    """

    condition: float = 1e5
    error: float | None = None
    tolerance: float = 0.1

    def __call__(self, curves: Curves) -> Size:
        """Return the choice; the condition number wins where both limits cannot be kept."""
        errors, n = curves.identification_total, curves.identification.shape[1]
        low = np.flatnonzero(curves.condition <= self.condition)
        if not low.size:
            return Size(
                int(curves.sizes[0]),
                f"no size has a condition number below {self.condition:.3g}; the smallest "
                "size is used",
            )
        top = int(curves.sizes[low[-1]])
        goal = self.error
        if goal is None:
            goal = (1 + self.tolerance) * float(np.min(errors[low]))
        good = low[errors[low] <= goal]
        if not good.size:
            return Size(
                top,
                f"mean E_p of the forces stays above {100 * goal / n:.3g} %; beyond {top} "
                f"parameters the condition number exceeds {self.condition:.3g}",
                None,
                top,
            )
        size = int(curves.sizes[good[0]])
        return Size(
            size,
            f"mean E_p of the forces ≤ {100 * goal / n:.3g} % from {size} parameters on; condition "
            f"number ≤ {self.condition:.3g} up to {top}",
            size,
            top,
        )


@dataclass(frozen=True)
class OneStandardError:
    """The smallest size whose cross-validated error is within one standard error of the least."""

    def __call__(self, curves: Curves) -> Size:
        """Return the choice."""
        if not curves.blocks.shape[1]:
            raise DataError(
                "this choice of size needs cross-validated errors",
                remedy="give folds, or choose by two limits",
            )
        cross, n = curves.cross, curves.identification.shape[1]
        best = int(np.argmin(cross))
        goal = float(cross[best] + curves.cross_error[best])
        at = int(np.flatnonzero(cross <= goal)[0])
        size, least = int(curves.sizes[at]), int(curves.sizes[best])
        which = "which is the minimum"
        if at != best:
            which = (
                f"within one standard error of the minimum, {100 * cross[best] / n:.3g} % with "
                f"{least}"
            )
        return Size(
            size,
            f"cross-validated error, mean over the forces, {100 * cross[at] / n:.3g} % with {size} "
            f"parameters, {which}",
            size,
            least,
        )


@dataclass(frozen=True)
class Fixed:
    """The size that the user wants, whatever the curves say."""

    size: int

    def __call__(self, curves: Curves) -> Size:
        """Return it."""
        return Size(self.size, "as requested")
