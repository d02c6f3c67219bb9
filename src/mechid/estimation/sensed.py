"""Forces as their sensors show them: with the gains and delays that an estimate found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.estimation.estimate import ChannelErrors
from mechid.estimation.late import late
from mechid.estimation.regression import Regression


def sensed(regression: Regression, errors: ChannelErrors | None) -> Regression:
    """Return a problem in which W φ + known is what the sensors show, but for offsets and drift.

    Samples whose forces were felt outside of the record are not valid any more.
    """
    late_by = None if errors is None or errors.delay is None else errors.delay
    if errors is None or not (np.any(errors.gain) or np.any(late_by)):
        return regression
    W, known, valid = regression.W, regression.known, regression.valid
    if late_by is not None and np.any(late_by):
        W, known, *_ = late(regression, late_by)
        time, logs = regression.time, regression.logs
        ends = [(time[logs == k].min(), time[logs == k].max()) for k in range(logs.max() + 1)]
        first, last = np.array(ends)[logs].T[..., None]
        earlier = time[:, None] - late_by
        valid = valid & (earlier >= first) & (earlier <= last)
    gain = 1.0 + errors.gain
    return replace(regression, W=W * gain[:, None], known=known * gain, valid=valid, between=None)
