"""Forces that follow a table: functions of time for `simulate`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.tables import Floats

Forces: TypeAlias = Callable[[float, Floats, Floats], Floats]
Interpolation: TypeAlias = Literal["linear", "cubic", "hold"]
INTERPOLATIONS: tuple[Interpolation, ...] = ("linear", "cubic", "hold")

# A time may miss the ends of the table by this part of a step: the rounding of sampled times.
_SLACK = 1e-6


@dataclass(frozen=True)
class ForcesOverTime:
    """Forces that depend on time alone: simulations need not ask for them at every evaluation."""

    at: Callable[[float], Floats]

    def __call__(self, t: float, y: Floats, yd: Floats) -> Floats:
        """Return the forces at a time, (n_i,)."""
        return self.at(t)


def table_forces(
    time: Floats, values: Floats, interpolation: Interpolation = "linear"
) -> ForcesOverTime:
    """Return the forces of a table as a function (t, y, ẏ) -> (n_i,).

    Parameters
    ----------
    time : array (N,)
        Seconds, increasing.
    values : array (N, n_i)
        Forces on the independent coordinates (N or N m), in the order of the model.
    interpolation : "linear", "cubic" or "hold"
        Between samples: straight lines, a cubic spline (not-a-knot), or the last sample.

    Returns
    -------
    callable
        It raises DataError for a time outside the table.

    Raises
    ------
    DataError
        Naming the time, if a value is missing or time does not increase.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> force = mechid.table_forces(np.array([0.0, 1.0]), np.array([[0.0], [4.0]]))
    >>> force(0.25, np.zeros(1), np.zeros(1)).tolist()
    [1.0]
    """
    time, values = np.array(time, dtype=float), np.array(values, dtype=float)
    _check(time, values)
    between = _interpolant(time, values, interpolation)
    first, last = float(time[0]), float(time[-1])
    slack = _SLACK * (last - first) / max(time.size - 1, 1)

    def forces(t: float) -> Floats:
        if not first - slack <= t <= last + slack:
            raise DataError(
                f"there is no force for t = {t:.10g} s: the table of forces goes from "
                f"{first:.10g} s to {last:.10g} s",
                remedy="give a longer table, or simulate a shorter time",
            )
        return between(min(max(t, first), last))

    return ForcesOverTime(forces)


def _interpolant(time: Floats, values: Floats, interpolation: str) -> Callable[[float], Floats]:
    from scipy.interpolate import CubicSpline

    if interpolation not in INTERPOLATIONS:
        raise DataError(
            f"unknown interpolation '{interpolation}'",
            remedy=f"choose one of {', '.join(INTERPOLATIONS)}",
        )
    if interpolation == "cubic" and time.size > 1:
        spline = None
        with suppress(ValueError), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            spline = CubicSpline(time, values)
        if spline is None or not np.isfinite(spline.c).all():  # samples at almost the same time
            raise DataError(
                "a spline through the forces has no finite slopes",
                remedy="check the times of the table, or use linear interpolation",
            )
        return lambda t: np.asarray(spline(t), dtype=float)
    hold = interpolation == "hold" or time.size == 1

    def at(t: float) -> Floats:
        k = int(np.searchsorted(time, t, side="right")) - 1
        if hold or k == time.size - 1:
            return np.array(values[k])
        share = (t - time[k]) / (time[k + 1] - time[k])
        return np.asarray((1 - share) * values[k] + share * values[k + 1])

    return at


def _check(time: Floats, values: Floats) -> None:
    if time.ndim != 1 or not time.size or values.ndim != 2 or len(values) != time.size:
        raise DataError(
            f"a table of forces needs times (N,) and values (N, n_i), got {time.shape} and "
            f"{values.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(time))
    if bad.size:
        raise DataError(
            "the time is not a finite number",
            where=f"sample {bad[0]}",
            remedy="fill or remove the sample",
        )
    late = np.flatnonzero(np.diff(time) <= 0)
    if late.size:
        k = int(late[0]) + 1
        raise DataError(
            f"time does not increase: {time[k]:.10g} s comes after {time[k - 1]:.10g} s",
            where=f"sample {k}",
            remedy="sort the samples by time and keep one for each time",
        )
    gaps = np.argwhere(~np.isfinite(values))
    if gaps.size:
        k, i = (int(x) for x in gaps[0])
        raise DataError(
            f"force number {i + 1} has no value at t = {time[k]:.10g} s",
            where=f"sample {k}",
            remedy="fill the gap or remove the sample",
        )
