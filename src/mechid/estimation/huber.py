"""Huber's estimator: outliers count, but not by their square."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechid.errors import DataError
from mechid.estimation.channels import Channels
from mechid.estimation.estimate import Estimate
from mechid.estimation.estimate_warnings import enough
from mechid.estimation.iteration import Transform, finish, iterate
from mechid.estimation.linear import Solution, least_squares
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Ints, Regression

# Median of |e| of a normal distribution with standard deviation one.
_MEDIAN = 0.6744897501960817


@dataclass(frozen=True)
class Huber:
    """Minimise Σ ρ(e/σ): e²/2 up to a threshold c σ, and linear beyond.

    Each pass is a least-squares problem with weights that follow from the residuals of the last.
    The scale σ of each channel is the median of its absolute residuals, in units of that of a
    normal distribution. The covariance is the asymptotic one, (AᵀDA)⁻¹ AᵀVA (AᵀDA)⁻¹ with the means
    D of ψ' and V of ψ² of each channel.

    Attributes
    ----------
    threshold : float
        c; 1.345 loses 5 % of efficiency if the noise is normal after all.
    """

    threshold: float = 1.345
    name: str = "huber"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate; prior is not used."""
        if not self.threshold > 0:
            raise DataError(f"the threshold must be > 0, got {self.threshold:g}")
        channels = Channels(regression)
        enough(len(channels.channel), len(regression.parameters))
        channel, n_d = channels.channel, len(regression.channels)

        weight = np.ones(len(channel))

        def solve(A: Floats, t: Floats, _: Transform) -> Solution:
            nonlocal weight
            solved = least_squares(A * weight[:, None], t * weight)
            e = np.abs(t - A @ solved.x)
            weight = np.sqrt(self.threshold / np.maximum(e, self.threshold))
            return solved

        fit = iterate(channels, solve, spread=median_noise)
        solved = fit.solution
        u = fit.t - fit.A @ solved.x
        slope = _means((np.abs(u) <= self.threshold).astype(float), channel, n_d)
        power = _means(np.clip(u, -self.threshold, self.threshold) ** 2, channel, n_d)
        # Small samples: m rows less those that the parameters use up.
        spare = len(u) / max(len(u) - len(solved.x), 1)
        half = np.sqrt(np.where(slope > 0, slope, 1.0))[channel]
        T = least_squares(fit.A * half[:, None], fit.t).root
        meat = (fit.A @ T).T * np.sqrt(power * spare)[channel]
        outliers = int(np.count_nonzero(np.abs(u) > self.threshold))
        return finish(
            self.name,
            channels,
            replace(fit, solution=replace(solved, root=T @ meat)),
            known=(f"{outliers} of {len(u)} measured values were treated as outliers",),
        )


def median_noise(
    e: Floats, leverage: Floats, channel: Ints, n_d: int, zeros: Ints | int = 0
) -> Floats:
    """Return the scale of each channel (n_d,) from the median of absolute residuals."""
    found = np.full(n_d, np.nan)
    for j in range(n_d):
        own = channel == j
        spare = float(np.sum(1.0 - leverage[own]))
        if np.any(own) and spare > 0:
            size = np.median(np.abs(e[own])) / _MEDIAN
            found[j] = size * np.sqrt(np.count_nonzero(own) / spare)
    return found


def _means(rows: Floats, channel: Ints, n_d: int) -> Floats:
    count = np.maximum(np.bincount(channel, minlength=n_d), 1)
    return np.asarray(np.bincount(channel, rows, minlength=n_d) / count)
