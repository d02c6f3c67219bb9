"""Coloured noise: an autoregressive model per channel, and the filter that makes it white.

e_k = a_1 e_(k-1) + … + a_p e_(k-p) + white. Coefficients come from Burg's method: reflection
coefficients one after the other, each by least squares forwards and backwards, over all stretches
of a channel together. They lie between -1 and 1, so the model is stable, and they give the
predictors of all lower orders too. With these the first samples of a stretch are whitened exactly:
no row is lost at a gap, and none is filtered across it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from mechid.estimation.regression import Bools, Floats, Ints, Regression

# Rows of a series (a channel in a log) that follow each other without a gap, per stretch.
Stretches: TypeAlias = tuple[tuple[Ints, ...], ...]

# A step that differs by more than this fraction from the usual one is a gap.
_JITTER = 0.5


@dataclass(frozen=True, eq=False)
class Colour:
    """Autoregressive model of the noise of one channel.

    Attributes
    ----------
    predictors : tuple of array
        Coefficients a_1, …, a_m of the best predictors of order m = 0, …, p.
    deviations : array (p + 1,)
        Standard deviations of their errors, in units of that of the last.
    """

    predictors: tuple[Floats, ...]
    deviations: Floats

    @property
    def coefficients(self) -> Floats:
        """a_1, …, a_p."""
        return self.predictors[-1]

    @property
    def ratio(self) -> float:
        """Deviation of the noise in units of that of its white part."""
        return float(self.deviations[0])


def coloured(reflection: Sequence[float]) -> Colour:
    """Return the model that has these reflection coefficients, by Levinson's recursion."""
    predictors = [np.zeros(0)]
    deviations = np.ones(len(reflection) + 1)
    for m, k in enumerate(reflection):
        a = predictors[-1]
        predictors.append(np.append(a - k * a[::-1], k))
        deviations[: m + 1] /= np.sqrt(1.0 - k**2)
    return Colour(tuple(predictors), deviations)


WHITE = coloured(())


def segments(regression: Regression, samples: Ints) -> list[Ints]:
    """Return samples in pieces that follow each other in time without a gap, each of one log."""
    joined = _joined(regression)
    apart = (np.diff(samples) > 1) | ~joined[samples[:-1]]
    return [part for part in np.split(samples, np.flatnonzero(apart) + 1) if part.size]


def _joined(regression: Regression) -> Bools:
    """Return whether each sample but the last is followed by the next one without a gap."""
    steps = np.diff(regression.time)
    usual = float(np.median(steps[steps > 0])) if np.any(steps > 0) else 1.0
    return np.asarray((np.abs(steps - usual) <= _JITTER * usual) & (np.diff(regression.logs) == 0))


def stretches(regression: Regression) -> Stretches:
    """Return which of the valid rows follow each other, for each series (channels of each log).

    Rows are numbered as `Regression.stacked` does.
    """
    valid, logs = regression.valid, regression.logs
    row = np.cumsum(valid.ravel()).reshape(valid.shape) - 1
    return tuple(
        tuple(
            row[part, j]
            for part in segments(regression, np.flatnonzero(valid[:, j] & (logs == log)))
        )
        for log in range(int(logs.max(initial=0)) + 1)
        for j in range(valid.shape[1])
    )


def fit_colour(parts: Sequence[Floats], order: int | None = None) -> Colour:
    """Return the autoregressive model of residuals, given stretch by stretch.

    Parameters
    ----------
    parts : sequence of array
    order : int, optional
        Otherwise the one with the least n log σ² + p log n (Bayesian information criterion), up
        to 10 log₁₀ n; it may be zero.
    """
    n = sum(len(part) for part in parts)
    longest = max((len(part) for part in parts), default=0)
    most = max(0, min(int(10 * np.log10(max(n, 1))), longest // 2))
    reflection = _burg(parts, most if order is None else min(order, most))
    if order is None and reflection.size:
        loss = np.cumsum(n * np.log1p(-(reflection**2)) + np.log(n))
        best = int(np.argmin(loss)) + 1 if np.min(loss) < 0 else 0
        reflection = reflection[:best]
    return coloured(reflection.tolist())


def whitened(rows: Floats, where: Stretches, colours: Sequence[Colour]) -> Floats:
    """Return rows (m,) or (m, k) filtered so that noise of these colours becomes white.

    The standard deviation of the result is that of the white part of each channel.
    """
    found = rows.copy()
    for parts, colour in zip(where, colours, strict=True):
        if parts:
            own = np.concatenate(parts)
            found[own] = _filtered(rows[own], _ages(parts), colour)
    return found


def _ages(parts: Sequence[Floats] | Sequence[Ints]) -> Ints:
    """Return how many samples of its stretch come before each sample of stretches in a row."""
    return np.concatenate([np.arange(len(part)) for part in parts])


def _filtered(x: Floats, age: Ints, colour: Colour) -> Floats:
    y = x.copy()
    last = len(colour.coefficients)
    for order, (predictor, size) in enumerate(
        zip(colour.predictors, colour.deviations, strict=True)
    ):
        at = np.flatnonzero(age >= last if order == last else age == order)
        for lag, a in enumerate(predictor, start=1):
            y[at] -= a * x[at - lag]
        y[at] /= size
    return y


def _burg(parts: Sequence[Floats], order: int) -> Floats:
    if not parts:
        return np.zeros(0)
    f, age = np.concatenate(parts), _ages(parts)
    b = f.copy()
    # n samples do not determine a coefficient near one more closely.
    most = 1.0 - 1.0 / max(len(f), 2)
    found: list[float] = []
    for m in range(1, order + 1):
        at = np.flatnonzero(age >= m)
        ahead, behind = f[at], b[at - 1]
        power = float(ahead @ ahead + behind @ behind)
        if power == 0.0:
            break
        k = float(np.clip(2 * float(ahead @ behind) / power, -most, most))
        f[at], b[at] = ahead - k * behind, behind - k * ahead
        found.append(k)
    return np.array(found)
