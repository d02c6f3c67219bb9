"""How many independent samples a series is worth.

Residuals of a real machine are mostly errors of the model: smooth, and the same again whenever the
motion repeats itself. Taken as independent samples they would outvote the prior, and standard
deviations would be far too small. A series of n residuals e counts as n/c samples: c is the factor
by which correlation increases the variance of what the columns of W determine,

    c = Σ_l ρ_e(l) ρ_W(l),

with the autocorrelations of residuals and columns, times what repetition adds: a motion of P equal
periods shows the same error P times.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.estimation.regression import Floats, Ints
from mechid.estimation.whitening import Stretches, fit_colour

# Lags are summed up to this part of the samples, with weights that fall linearly to zero.
_LONGEST = 0.2
# A motion repeats where the columns of W are correlated as much with themselves later, after they
# were correlated less than the second.
_SAME, _OTHER = 0.98, 0.9
# Samples below which nothing can be said.
_SHORTEST = 8


def correlation_factors(e: Floats, columns: Floats, where: Stretches) -> Floats:
    """Return by what factor samples of each series count too much (n_series,), at least 1.

    Parameters
    ----------
    e : array (m,)
        Residuals of the valid rows.
    columns : array (m, k)
        What the parameters contribute to the rows, each in units of its uncertainty.
    where : Stretches
        Rows that follow each other, per series.
    """
    return np.array([_factor(parts, e, columns) for parts in where])


def _factor(parts: Sequence[Ints], e: Floats, columns: Floats) -> float:
    n = sum(len(part) for part in parts)
    own = [e[part] for part in parts]
    # White residuals have correlations by chance; sums of them would be noise.
    if n < _SHORTEST or not len(fit_colour(own).coefficients):
        return 1.0
    longest = max(len(part) for part in parts)
    rho_e = _autocorrelation([x[:, None] for x in own], longest)
    rho_w = _autocorrelation([columns[part] for part in parts], longest)
    again = _period(rho_w)
    most = max(1, int(_LONGEST * longest))
    if again is not None:
        most = min(most, again // 2)
    lags = np.arange(1, most)
    sums = (1 - lags / most) * rho_e[lags] * rho_w[lags]
    # Less than one, if residuals vary faster than columns: a hum does little harm, also where its
    # phase is the same in each period of the motion.
    factor = max(0.0, 1.0 + 2.0 * float(np.sum(sums)))
    if again is not None:
        alike = max(0.0, float(rho_e[again]) - 2 / np.sqrt(n))
        factor *= 1.0 + (longest / again - 1.0) * alike
    return float(np.clip(factor, 1.0, n))


def _autocorrelation(parts: Sequence[Floats], longest: int) -> Floats:
    """Return ρ(l) of stretches (n, k), all columns together, l = 0 to longest - 1."""
    from scipy.fft import irfft, next_fast_len, rfft

    total, pairs = np.zeros(longest), np.zeros(longest)
    for x in parts:
        n = len(x)
        size = next_fast_len(2 * n)
        power = np.sum(np.abs(rfft(x, size, axis=0)) ** 2, axis=1)
        total[:n] += irfft(power, size)[:n]
        pairs[:n] += np.arange(n, 0, -1)
    if total[0] <= 0:
        return np.append(1.0, np.zeros(longest - 1))
    return np.asarray(total / np.maximum(pairs, 1) / (total[0] / pairs[0]))


def _period(rho: Floats) -> int | None:
    """Return after how many samples the motion repeats itself, at least once."""
    other = np.flatnonzero(rho < _OTHER)
    half = len(rho) // 2 + 1
    if not other.size:
        return None
    again = np.flatnonzero(rho[other[0] : half] > _SAME)
    if not again.size:
        return None
    first = int(other[0] + again[0])
    # The top of the first peak.
    while first + 1 < half and rho[first + 1] > rho[first]:
        first += 1
    return first
