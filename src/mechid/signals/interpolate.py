"""Speeds and accelerations of sampled positions, by a spline through the samples."""

from __future__ import annotations

import numpy as np

from mechid.kinematics.tables import Floats

DEGREE = 5  # four continuous derivatives, so that the acceleration is smooth
# Errors at an end are hundreds of times those inside. They fall by 0.431 from sample to sample (a
# root of z⁴ + 26 z³ + 66 z² + 26 z + 1, the spline of degree 5): to 1 % after so many.
ENDS = 6
_SHORT = 10 * ENDS  # samples below which all are needed


def unsure(n: int) -> int:
    """Return how many samples at each end of n have derivatives that are not to be trusted."""
    return ENDS if n >= _SHORT else 0


def derivatives(time: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return first and second derivatives at the samples of values (N, …) over time (N,).

    The interpolating spline of degree 5 (not-a-knot) passes through every sample and smooths
    nothing: noise in the values comes out amplified. Fewer than six samples get the polynomial
    through them; one sample is at rest.
    """
    from scipy.interpolate import make_interp_spline

    n = time.size
    if n < 2:
        return np.zeros(values.shape), np.zeros(values.shape)
    # Scaled to steps of about one, which keeps the linear system well conditioned.
    step = (time[-1] - time[0]) / (n - 1)
    x = (time - time[0]) / step
    spline = make_interp_spline(x, values, k=min(DEGREE, n - 1))
    first = np.asarray(spline(x, 1)) / step
    second = np.asarray(spline(x, 2)) / step**2 if n > 2 else np.zeros(values.shape)
    return first, second


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
