"""Where coordinates move fast enough for the sign of dry friction to be known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.signals.filters import Decimation
from mechid.signals.record import Mask


def slow_speeds(limits: Mapping[str, float], mechanism: Mechanism) -> list[str]:
    """Check the speeds below which forces do not count, and return a note about them.

    Raises
    ------
    DataError
        For an unknown independent coordinate, or a speed that is not positive.
    """
    units = {c.name: c.unit for c in mechanism.coordinates}
    for name, speed in limits.items():
        if name not in units:
            raise DataError(
                f"ignore_below: {name} is not an independent coordinate",
                remedy=f"choose one of: {', '.join(units)}",
            )
        if not 0 < speed < np.inf:
            raise DataError(f"ignore_below: the speed of {name} must be > 0, got {speed:g}")
    words = ", ".join(f"{name} {speed:.3g} {units[name]}/s" for name, speed in limits.items())
    return [f"forces are ignored where their coordinate is slower than: {words}"] if words else []


def moving(
    mechanism: Mechanism,
    forces: Sequence[str],
    yd: Floats,
    limits: Mapping[str, float],
    decimation: int = 1,
) -> Mask:
    """Return where each force counts, (M, n_d): its coordinate is not slower than its limit.

    Parameters
    ----------
    mechanism : Mechanism
    forces : sequence of str
        The n_d forces of the columns.
    yd : array (N, n_i)
        Speeds before the parallel filter.
    limits : mapping coordinate → speed
        m/s or rad/s; coordinates that are not there have none.
    decimation : int
        Of the parallel filter, which the speeds pass as W and τ do.
    """
    speeds = yd if decimation == 1 else Decimation(decimation).apply(yd)
    slowest = {c.force: limits.get(c.name, 0.0) for c in mechanism.coordinates}
    place = {c.force: i for i, c in enumerate(mechanism.coordinates)}
    fast = [np.abs(speeds[:, place[name]]) >= slowest[name] for name in forces]
    return np.stack(fast, axis=1)
