"""A motion between its samples: splines through positions, speeds and accelerations."""

from __future__ import annotations

import numpy as np

from mechid.kinematics.tables import Floats

_DEGREE = 5


def between_samples(
    time: Floats, fractions: Floats, *signals: Floats
) -> tuple[Floats, tuple[Floats, ...]]:
    """Return times after each sample, and signals there.

    Speeds and accelerations have splines of their own: at the samples all are as they were
    measured or filtered.

    Parameters
    ----------
    time : array (N,)
        Increasing, s; at least two.
    fractions : array (k,)
        Parts of the step to the next sample, increasing, from 0 to less than 1.
    *signals : arrays (N, n)

    Returns
    -------
    array (N, k)
        After the last sample, steps are as long as the one before.
    tuple of arrays (N, k, n)
        After the last sample, its values.
    """
    steps = np.diff(time, append=2 * time[-1] - time[-2])
    at = time[:, None] + steps[:, None] * fractions
    n = signals[0].shape[1]
    values = at_times(time, np.minimum(at, time[-1]), np.hstack(signals))
    return at, tuple(values[..., i * n : (i + 1) * n] for i in range(len(signals)))


def at_times(time: Floats, at: Floats, signals: Floats) -> Floats:
    """Return signals (N, n) at other times within theirs, of any shape (…), as (…, n)."""
    from scipy.interpolate import make_interp_spline

    curve = make_interp_spline(time, signals, k=min(_DEGREE, len(time) - 1))
    return np.asarray(curve(at))
