"""The noise of each force channel, from what a fit leaves unexplained."""

from __future__ import annotations

import numpy as np

from mechid.estimation.regression import Floats, Ints


def channel_noise(e: Floats, leverage: Floats, channel: Ints, n_d: int) -> Floats:
    """Return the standard deviation of the noise of each channel (n_d,).

    Parameters
    ----------
    e : array (m,)
        Residuals of all rows.
    leverage : array (m,)
        How much each row determines its own prediction: what the parameters took of each channel.
    channel : array (m,)
    n_d : int

    Channels without rows to spare have none: not a number.
    """
    squares = np.bincount(channel, e**2, minlength=n_d)
    spare = np.bincount(channel, 1.0 - leverage, minlength=n_d)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(np.where(spare > 1e-9 * len(e), squares / spare, np.nan))
