"""A motion given by samples, as a piecewise polynomial through them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.excitation.families.family import Family, Floats, Rates

DEGREE = 5  # four continuous derivatives, so that the acceleration is smooth


@dataclass(frozen=True)
class Tabulated(Family):
    """A given motion through samples, without coefficients.

    With positions only: the interpolating spline of degree 5. With speeds and accelerations too:
    the quintic between any two samples that has all six of their values.

    Attributes
    ----------
    time : tuple of floats
        s, increasing.
    positions : tuple of floats
        m or rad.
    speeds, accelerations : tuples of floats
        Both or none.
    periodic : bool
        Whether it repeats after the last sample, which then equals the first.
    """

    time: tuple[float, ...]
    positions: tuple[float, ...]
    speeds: tuple[float, ...] = ()
    accelerations: tuple[float, ...] = ()
    periodic: bool = False

    def __post_init__(self) -> None:
        """Reject tables that do not define a motion."""
        n = len(self.time)
        lengths = [len(self.positions), len(self.speeds), len(self.accelerations)]
        if n < 2 or lengths not in ([n, 0, 0], [n, n, n]):
            raise DataError(
                f"positions, speeds and accelerations must have the length of time, {n}, "
                f"got {lengths[0]}, {lengths[1]}, {lengths[2]}",
                remedy="give at least two samples, and speeds and accelerations for all "
                "of them or not at all",
            )
        every = (*self.time, *self.positions, *self.speeds, *self.accelerations)
        if not np.all(np.isfinite(every)):
            raise DataError("values of a table must be finite", remedy="remove their samples")
        # Steps that rounding hides in the length of the table are none.
        least = np.finfo(float).eps * abs(self.time[-1] - self.time[0])
        late = np.diff(self.time) <= least
        if np.any(late):
            k = int(np.flatnonzero(late)[0])
            raise DataError(
                f"time does not increase: {self.time[k + 1]:.10g} s comes after "
                f"{self.time[k]:.10g} s",
                remedy="sort the samples by time and keep one for each time",
            )
        if self.periodic and not self.speeds and n < DEGREE + 2:
            raise DataError(
                f"{n} positions are too few for a periodic spline",
                remedy=f"give {DEGREE + 2} or more, or speeds and accelerations too",
            )
        rows = (self.positions, self.speeds, self.accelerations)
        if self.periodic and any(row and row[0] != row[-1] for row in rows):
            raise DataError(
                "first and last sample of a periodic table must be equal",
                remedy="make the last sample equal to the first",
            )

    def given(self, t: Floats) -> Rates:
        """Return y, ẏ, ÿ."""
        first, last = self.time[0], self.time[-1]
        x = np.asarray(t, dtype=float)
        x = first + np.mod(x - first, last - first) if self.periodic else np.clip(x, first, last)
        step = (last - first) / (len(self.time) - 1)
        u = (x - first) / step
        return Rates(*(np.asarray(self._pieces(u, nu)) / step**nu for nu in range(3)))

    @property
    def period(self) -> float | None:
        """From the first to the last sample, if it repeats."""
        return self.time[-1] - self.time[0] if self.periodic else None

    @property
    def span(self) -> tuple[float, float]:
        """From the first to the last sample."""
        return (-np.inf, np.inf) if self.periodic else (self.time[0], self.time[-1])

    @property
    def band(self) -> float:
        """Half the mean rate of the samples."""
        return (len(self.time) - 1) / (2 * (self.time[-1] - self.time[0]))

    @cached_property
    def _pieces(self) -> Any:
        """Polynomials over time in mean steps, which keeps the linear systems well conditioned."""
        from scipy.interpolate import BPoly, make_interp_spline

        time, y = np.array(self.time), np.array(self.positions)
        step = (time[-1] - time[0]) / (len(time) - 1)
        x = (time - time[0]) / step
        if self.speeds:
            rows = [y, np.array(self.speeds) * step, np.array(self.accelerations) * step**2]
            return BPoly.from_derivatives(x, np.column_stack(rows))
        if self.periodic:
            return make_interp_spline(x, y, k=DEGREE, bc_type="periodic")
        return make_interp_spline(x, y, k=min(DEGREE, len(time) - 1))
