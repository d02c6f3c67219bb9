"""Forces as their sensors show them: with the gains and delays that an estimate found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.estimation.estimate import ChannelErrors
from mechid.estimation.late import beside_jumps, late
from mechid.estimation.regression import Floats, Regression


def sensed(regression: Regression, errors: ChannelErrors | None) -> Regression:
    """Return a problem in which W φ + known is what the sensors show, but for offsets and drift.

    Samples whose forces were felt outside of the record are not valid any more.
    """
    if errors is None or not (np.any(errors.gain) or np.any(errors.delay)):
        return regression
    r = late_regression(regression, errors.delay)
    gain = 1.0 + errors.gain
    return replace(r, W=r.W * gain[:, None], known=r.known * gain, between=None)


def late_regression(regression: Regression, delay: Floats | None) -> Regression:
    """Return a problem in which the force of each channel is that of an earlier time.

    Samples whose forces were felt outside of the record are not valid any more, nor are those
    beside a jump of dry friction.

    Parameters
    ----------
    regression : Regression
    delay : array (n_d,), optional
        Seconds; by default no force is late.
    """
    if delay is None or not np.any(delay):
        return regression
    W, known, *_ = late(regression, delay)
    time, logs = regression.time, regression.logs
    ends = [(time[logs == k].min(), time[logs == k].max()) for k in range(logs.max() + 1)]
    first, last = np.array(ends)[logs].T[..., None]
    earlier = time[:, None] - delay
    valid = regression.valid & (earlier >= first) & (earlier <= last)
    valid &= ~beside_jumps(regression, delay)
    return replace(regression, W=W, known=known, valid=valid, between=None)


def late_values(regression: Regression, values: Floats, delay: Floats | None) -> Floats:
    """Return values of each force at the samples, (N, n_d), at earlier times, by straight lines.

    Parameters
    ----------
    regression : Regression
        For times and logs of the samples.
    values : array (N, n_d)
    delay : array (n_d,), optional
        Seconds; by default none is late.
    """
    if delay is None or not np.any(delay):
        return values
    found = np.empty_like(values)
    for log in np.unique(regression.logs):
        at = regression.logs == log
        time = regression.time[at]
        for j, seconds in enumerate(delay):
            found[at, j] = np.interp(time - seconds, time, values[at, j])
    return found
