"""The noise of each force channel: declared, or from what a fit leaves unexplained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.errors import DataError
from mechid.estimation.linear import ROUNDING
from mechid.estimation.regression import Floats, Ints

# Proportional part of the noise, in units of the constant part at the usual force.
_SLOPES = np.append(0.0, np.logspace(-1, 2, 25))
# Few rows do not show that theirs is less than this.
_LEAST = 0.1
_TINY = float(np.finfo(float).tiny)


def channel_noise(
    e: Floats, leverage: Floats, channel: Ints, n_d: int, zeros: Ints | int = 0
) -> Floats:
    """Return the standard deviation of the noise of each channel (n_d,).

    Parameters
    ----------
    e : array (m,)
        Residuals of all rows.
    leverage : array (m,)
        Leverages: how much each row determines its own prediction.
    channel : array (m,)
    n_d : int
    zeros : array (n_d,), optional
        Rows besides, without residual and leverage.

    Channels without rows to spare have none: NaN.
    """
    squares = np.bincount(channel, e**2, minlength=n_d)
    spare = np.bincount(channel, 1.0 - leverage, minlength=n_d) + zeros
    # Leverages are sums of squares of unit vectors: their rounding grows with the number of rows.
    with np.errstate(divide="ignore", invalid="ignore"):
        some = spare > 100 * (len(e) + np.sum(zeros)) * ROUNDING
        return np.sqrt(np.where(some, squares / spare, np.nan))


def root_mean_square(rows: Floats, channel: Ints, n_d: int, zeros: Ints | int = 0) -> Floats:
    """Return the root mean square of the rows of each channel (n_d,); zero without rows."""
    squares = np.bincount(channel, rows**2, minlength=n_d)
    count = np.bincount(channel, minlength=n_d) + zeros
    return np.asarray(np.sqrt(squares / np.maximum(count, 1)))


def relative_variances(e: Floats, forces: Floats, channel: Ints, n_d: int) -> Floats:
    """Return variances 1 + (κ F)² of the rows, relative to that of their channel without force.

    κ is the most probable one of a range, channel by channel, for normal residuals e with expected
    forces F.
    """
    size = root_mean_square(forces, channel, n_d)
    f2 = (forces / np.where(size > 0, size, 1.0)[channel]) ** 2
    variance = np.ones(len(e))
    for j in np.unique(channel):
        own = channel == j
        tried = 1.0 + _SLOPES[:, None] ** 2 * f2[own]
        n = tried.shape[1]
        loss = np.sum(np.log(tried), axis=1) + n * np.log(
            np.sum(e[own] ** 2 / tried, axis=1) + _TINY
        )
        variance[own] = tried[int(np.argmin(loss))]
    return variance


def student_efficiency(u: Floats, weight: Floats, tails: float, channel: Ints, n_d: int) -> Floats:
    """Return the information of rows with Student's weights, by that of normal noise (n_d,).

    The weights are one on average, but estimates by them have the variance E ψ²/(E ψ')² with
    ψ = w u: (ν + 3)/(ν + 1) for Student's noise, and for any other what the residuals u, in units
    of its scale, say.
    """
    slope = np.bincount(channel, weight * (tails - u**2) / (tails + u**2), minlength=n_d)
    square = np.bincount(channel, (weight * u) ** 2, minlength=n_d)
    count = np.maximum(np.bincount(channel, minlength=n_d), 1)
    found = np.maximum(slope, 0.0) ** 2 / (count * np.where(square > 0, square, np.inf))
    return np.where(square > 0, np.clip(found, _LEAST, 1.0), 1.0)


def rounding_noise(
    A: Floats, x: Floats, t: Floats, channel: Ints, n_d: int, zeros: Ints | int = 0
) -> Floats:
    """Return the residuals that rounding alone leaves in each channel (n_d,), none of them zero.

    Data without noise must not get infinite weight.
    """
    size = root_mean_square(np.abs(t) + np.abs(A) @ np.abs(x), channel, n_d, zeros)
    floor = max(len(A) + int(np.sum(zeros)), A.shape[1]) * ROUNDING * size
    # A channel of zeros carries no information, whatever its weight.
    return np.where(floor > 0, floor, 1.0)


def settled(
    found: Floats, declared: Floats, rounding: Floats, channel: Ints, names: Sequence[str]
) -> Floats:
    """Return noise that is usable as weight: not below what is declared, nor below rounding.

    Channels without rows have none: NaN. `declared` is zero where nothing is.

    Raises
    ------
    DataError
        For a channel whose rows are all used up by the parameters, with nothing declared.
    """
    present = np.bincount(channel, minlength=len(names)) > 0
    for name in np.array(names)[present & np.isnan(found) & (declared == 0)]:
        raise DataError(
            f"force {name} has too few measured values to estimate its noise",
            remedy="measure longer, reduce the model, or declare the error of this force",
        )
    noise = np.maximum(np.where(np.isnan(found), 0.0, found), np.maximum(declared, rounding))
    return np.where(present, noise, np.nan)
