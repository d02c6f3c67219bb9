"""Ordinary least squares: all rows alike, nothing known beforehand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate
from mechid.estimation.knowledge import Knowledge
from mechid.estimation.linear import least_squares
from mechid.estimation.noise import channel_noise
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
        if len(t) < A.shape[1]:
            raise DataError(
                f"{len(t)} measured values are too few for {A.shape[1]} parameters",
                remedy="measure longer, or reduce the model",
            )
        solved = least_squares(A, t)
        e = t - A @ solved.x
        noise = channel_noise(e, solved.leverage, channel, len(regression.channels))
        # (AᵀA)⁻¹ Aᵀ = T (A T)ᵀ
        spread = solved.root @ ((A @ solved.root).T * noise[channel])
        return Estimate(
            self.name,
            regression.parameters,
            solved.x,
            np.asarray(spread @ spread.T),
            regression.channels,
            noise,
            regression.unstacked(e),
            solved.condition,
        )
