"""An estimate again, by the noise, errors and scales that were found before.

Nested models of many sizes, on many blocks of time, cannot each find their own noise, errors of the
channels and scale of the prior, and need not: those of the whole model are used. What is left is
one linear problem. Colour is neglected: it hardly changes the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate
from mechid.estimation.gaussian_prior import cad_factor
from mechid.estimation.linear import with_prior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression


@dataclass(frozen=True, eq=False)
class Frozen:
    """Maximum a posteriori with the noise of an estimate.

    Errors of the channels have to be taken away before (`without_channel_errors`).

    Attributes
    ----------
    whole : Estimate
        With all parameters, on the same channels.
    prior : "diagonal" or "full"
    scale : float
        Of the declared standard deviations of the CAD values.
    """

    whole: Estimate
    prior: Literal["diagonal", "full"] = "full"
    scale: float = 1.0
    name: str = "frozen"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate."""
        if prior is None:
            raise DataError("CAD values are required", remedy="give prior")
        if regression.channels != self.whole.channels:
            raise DataError("the channels must be those of the estimate")
        A, t, channel = regression.stacked()
        noise = np.where(np.isnan(self.whole.noise), 1.0, self.whole.noise)
        if self.whole.errors is not None:
            noise = noise / np.abs(1.0 + self.whole.errors.gain)  # taken away from the noise, too
        sigma = noise[channel]
        mine = prior.select(regression.parameters)
        F = self.scale * cad_factor(mine, self.prior)
        solved = with_prior(A / sigma[:, None], t / sigma, mine.mean, F)
        return Estimate(
            self.name,
            regression.parameters,
            solved.x,
            solved.covariance,
            regression.channels,
            noise,
            regression.unstacked(t - A @ solved.x),
            solved.condition,
            known=(*mine.words, "noise of the whole model"),
        )
