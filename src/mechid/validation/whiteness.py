"""Whether residuals are white: what a model leaves unexplained should have no memory.

Correlated residuals say that something is missing in the model (or that the noise is coloured), and
that standard deviations computed for white noise are too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from mechid.errors import DataError
from mechid.estimation.regression import Floats

_LAGS = 10


@dataclass(frozen=True, eq=False)
class Whiteness:
    """Memory of the residuals of each force; NaN where too few follow each other.

    Attributes
    ----------
    lag_one : array (n_d,)
        Correlation of neighbouring samples.
    durbin_watson : array (n_d,)
        Σ(e_k - e_(k-1))²/Σe²: 2 for white residuals, near 0 for slow ones.
    ljung_box : array (n_d,)
        Weighted sum of the squared correlations at lags 1 to `lags`.
    p : array (n_d,)
        Probability that white residuals have a `ljung_box` as large as this.
    lags : int
    """

    lag_one: Floats
    durbin_watson: Floats
    ljung_box: Floats
    p: Floats
    lags: int


def whiteness(
    residuals: Floats, *, lags: int | None = None, colour: Sequence[Floats] | None = None
) -> Whiteness:
    """Test residuals for whiteness.

    Parameters
    ----------
    residuals : array (N, n_d)
        At equal steps of time; NaN where nothing valid was measured. Only pairs of
        samples that are both there count.
    lags : int, optional
        By default 10, or a fifth of the samples if that is less.
    colour : sequence of array, optional
        Coefficients of each force as in `Estimate.colour`; what they explain is taken out first.
    """
    n, n_d = residuals.shape
    taken = max(1, min(_LAGS, n // 5)) if lags is None else lags
    if not 1 <= taken < n:
        raise DataError(
            f"the number of lags must be between 1 and {n - 1}, got {taken}",
            remedy="use fewer lags, or a longer motion",
        )
    found = np.full((4, n_d), np.nan)
    for j in range(n_d):
        e = residuals[:, j]
        if colour is not None:
            e = _innovations(e, colour[j])
        found[:, j] = _test(e, taken)
    return Whiteness(found[0], found[1], found[2], found[3], taken)


def _test(e: Floats, lags: int) -> tuple[float, float, float, float]:
    here = np.isfinite(e)
    n = int(np.count_nonzero(here))
    e = np.where(here, e - np.mean(e[here]) if n else 0.0, 0.0)
    power = float(e @ e)
    pairs = np.array([np.count_nonzero(here[h:] & here[:-h]) for h in range(1, lags + 1)])
    if power == 0 or not pairs.all():
        return np.nan, np.nan, np.nan, np.nan
    r = np.array([e[h:] @ e[:-h] for h in range(1, lags + 1)]) / power
    # Under whiteness the variance of r is that of a sum over as many products as there are pairs.
    statistic = n * (n + 2) * float(np.sum(r**2 / pairs))
    # Sums over fewer pairs than a motion without gaps has are scaled up.
    whole = (n - 1) / float(pairs[0])
    jumps = float(np.sum(np.diff(e)[here[1:] & here[:-1]] ** 2))
    return float(r[0]) * whole, whole * jumps / power, statistic, float(chdtrc(lags, statistic))


def _innovations(e: Floats, a: Floats) -> Floats:
    """Return e_k - Σ a_i e_(k-i), NaN where one of them is missing."""
    w = e.copy()
    for i, x in enumerate(a, start=1):
        w[i:] -= x * e[:-i]
        w[:i] = np.nan
    return w
