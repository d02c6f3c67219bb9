"""Motions that repeat: averages over periods, a Fourier series, noise from the spread.

What differs from period to period is noise; it needs no model of the motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechid.errors import DataError
from mechid.kinematics.tables import Floats

_FALSE_ALARM = 0.01  # chance that noise alone adds a harmonic
_STRAY = 3.0  # a period that differs from the average this much more than most others is named


@dataclass(frozen=True, eq=False)
class Periods:
    """Average over periods: mean (M, n) of one period, standard deviation (n,) of a single
    sample, and count (M, n) of the samples behind each mean. `stray` are periods unlike the
    others."""

    mean: Floats
    sigma: Floats
    count: npt.NDArray[np.int64]
    stray: tuple[int, ...] = ()


def samples_per_period(period: float, rate: float, n: int) -> float:
    """Return the samples of a period, or reject a period that does not suit the record.

    Raises
    ------
    DataError
    """
    per = period * rate
    if per < 8:
        raise DataError(
            f"a period of {period:g} s has only {per:.3g} samples",
            remedy="check the period and the rate",
        )
    if n < per - 0.5:
        raise DataError(
            f"the record of {n / rate:g} s is shorter than the period of {period:g} s",
            remedy="check the period, or choose another method",
        )
    return per


def average(values: Floats, per: int, valid: npt.NDArray[np.bool_] | None = None) -> Periods:
    """Average the whole periods of values (N, n), `per` samples each.

    Samples that are not valid do not count; a mean of none is zero with a count of zero.
    The standard deviation is NaN for a single period.
    """
    whole = len(values) // per
    folded = values[: whole * per].reshape(whole, per, -1)
    used = np.ones(folded.shape, dtype=bool)
    if valid is not None:
        used = valid[: whole * per].reshape(folded.shape)
    count = used.sum(axis=0)
    mean = np.where(used, folded, 0.0).sum(axis=0) / np.maximum(count, 1)
    apart = np.where(used, folded - mean, 0.0)
    freedom = np.maximum(count - 1, 0).sum(axis=0)
    square = (apart**2).sum(axis=(0, 1)) / np.maximum(freedom, 1)
    sigma = np.where(freedom > 0, np.sqrt(square), np.nan)
    each = np.sqrt((apart**2).mean(axis=1))  # (periods, n)
    stray: tuple[int, ...] = ()
    if whole > 2:
        usual = np.median(each, axis=0)
        stray = tuple(int(k) for k in np.flatnonzero((each > _STRAY * usual).any(axis=1)))
    return Periods(mean, sigma, count, stray)


def choose_harmonics(periods: Periods) -> int:
    """Return up to which harmonic the average stands out of its noise."""
    per = len(periods.mean)
    amplitude = np.abs(np.fft.rfft(periods.mean, axis=0) / per) ** 2
    highest = (per - 1) // 2
    # The power of a harmonic of white noise is exponentially distributed about σ²/(P M).
    level = np.nan_to_num(periods.sigma) ** 2 / np.maximum(periods.count.mean(axis=0), 1) / per
    rounding = (np.finfo(float).eps * np.abs(periods.mean).max(axis=0)) ** 2
    limit = (level + rounding) * np.log(max(highest, 2) / _FALSE_ALARM)
    seen = np.flatnonzero((amplitude > limit).any(axis=1))
    return int(np.clip(seen[-1] if seen.size else 1, 1, highest))


def series(mean: Floats, rate: float, harmonics: int) -> tuple[Floats, Floats, Floats]:
    """Return the Fourier series of one period (M, n) and its derivatives at the samples.

    Parameters
    ----------
    mean : array (M, n)
        One period, without its end.
    rate : float
        Samples per second.
    harmonics : int

    Raises
    ------
    DataError
        If there are more harmonics than the samples determine.
    """
    per = len(mean)
    if not 1 <= harmonics <= (per - 1) // 2:
        raise DataError(
            f"{per} samples per period do not determine {harmonics} harmonics",
            remedy=f"choose between 1 and {(per - 1) // 2}",
        )
    c = np.fft.rfft(mean, axis=0)
    c[harmonics + 1 :] = 0.0
    w = 2j * np.pi * rate / per * np.arange(len(c))[:, None]
    y, yd, ydd = (np.fft.irfft(c * w**k, n=per, axis=0) for k in range(3))
    return y, yd, ydd
