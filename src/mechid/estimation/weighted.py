"""Weighted least squares: each force is weighted by its noise; no prior."""

from __future__ import annotations

from dataclasses import dataclass

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Estimate
from mechid.estimation.gaussian_prior import Scale
from mechid.estimation.iteration import NoiseOption
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression


@dataclass(frozen=True)
class WeightedLeastSquares:
    """Minimise the sum of squared residuals, each in units of the noise of its force.

    Attributes
    ----------
    noise : "estimated" or "declared"
        Estimated by iteration, but not less than what is declared; or as declared.
    whiten : bool
        Whether noise may be coloured.
    offsets : float or "estimated", optional
        Of the force channels: their standard deviation as a fraction of the root mean square of
        each force, or estimated from the data.
    """

    noise: NoiseOption = "estimated"
    whiten: bool = False
    offsets: Scale | None = None
    name: str = "weighted"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate; prior is not used."""
        return MaximumAPosteriori(
            prior="none",
            noise=self.noise,
            whiten=self.whiten,
            offsets=self.offsets,
            name=self.name,
        )(regression)
