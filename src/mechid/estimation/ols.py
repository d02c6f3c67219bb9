"""Ordinary least squares: all rows alike, nothing known beforehand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.estimation.cautions import cautions, coloured_residuals, enough
from mechid.estimation.estimate import Estimate
from mechid.estimation.knowledge import Knowledge
from mechid.estimation.linear import least_squares
from mechid.estimation.noise import channel_noise, rounding_noise, settled
from mechid.estimation.regression import Regression


@dataclass(frozen=True)
class OrdinaryLeastSquares:
    """Minimise the sum of all squared residuals, N and N m alike, as the sources do.

    The covariance allows for channels with noise of different size: (AᵀA)⁻¹ Aᵀ Ω A (AᵀA)⁻¹.
    """

    name: str = "ols"

    def __call__(self, regression: Regression, knowledge: Knowledge | None = None) -> Estimate:
        """Return the estimate; knowledge is not used."""
        A, t, channel = regression.stacked()
        names = regression.channels
        enough(*A.shape)
        solved = least_squares(A, t)
        e = t - A @ solved.x
        declared = np.zeros(len(names)) if regression.noise is None else regression.noise
        found = channel_noise(e, solved.leverage, channel, len(names))
        rounding = rounding_noise(A, solved.x, t, channel, len(names))
        noise = settled(found, declared, rounding, channel, names)
        # (AᵀA)⁻¹ Aᵀ = T (A T)ᵀ
        spread = solved.root @ ((A @ solved.root).T * noise[channel])
        sigma = np.linalg.norm(spread, axis=1)
        return Estimate(
            self.name,
            regression.parameters,
            solved.x,
            np.asarray(spread @ spread.T),
            names,
            noise,
            regression.unstacked(e),
            solved.condition,
            warnings=(
                *cautions(regression.parameters, solved.x, sigma, solved.condition, solved.unseen),
                *coloured_residuals(regression, e),
            ),
        )
