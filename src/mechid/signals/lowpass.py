"""Speeds and accelerations by a zero-phase low-pass filter and central differences."""

from __future__ import annotations

import numpy as np

from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.signals.filters import edge, zero_phase
from mechid.signals.spectrum import HIGHEST

# Central differences over five samples; their error is of the fourth power of the step.
_FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12
_SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12
_REACH = 2


def dropped(rate: float, cutoff: float) -> int:
    """Return how many samples `low_pass` drops at each end."""
    return max(_REACH, edge(cutoff / rate))


def low_pass(values: Floats, rate: float, cutoff: float) -> tuple[Floats, Floats, Floats]:
    """Return values (N, n) filtered, and their first and second derivatives, (M, n) each.

    Parameters
    ----------
    values : array (N, n)
    rate : float
        Samples per second.
    cutoff : float
        Hz; half of the amplitude is left there.

    Raises
    ------
    DataError
        If the cut-off does not fit the rate, or nothing remains between the ends.
    """
    if not 0 < cutoff <= HIGHEST * rate:
        raise DataError(
            f"the cut-off must be between 0 and {HIGHEST * rate:g} Hz at a rate of "
            f"{rate:g} Hz, got {cutoff:g}",
            remedy=f"choose one between 0 and {HIGHEST * rate:g} Hz",
        )
    drop = dropped(rate, cutoff)
    if len(values) <= 2 * drop:
        raise DataError(
            f"{len(values)} samples are too few for a cut-off of {cutoff:g} Hz",
            remedy=f"the filter drops {drop} samples at each end; use a longer record or a "
            "higher cut-off",
        )
    smooth = zero_phase(values, cutoff / rate)
    n = len(values)
    first, second = (
        sum(c * smooth[drop + k - _REACH : n - drop + k - _REACH] for k, c in enumerate(stencil))
        for stencil in (rate * _FIRST, rate**2 * _SECOND)
    )
    return smooth[drop : n - drop], np.asarray(first), np.asarray(second)
