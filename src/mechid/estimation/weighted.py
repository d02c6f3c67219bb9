"""Weighted least squares: each force counts by its noise, nothing is known beforehand."""

from __future__ import annotations

from dataclasses import dataclass

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Estimate
from mechid.estimation.iteration import NoiseOption
from mechid.estimation.knowledge import Knowledge
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
    """

    noise: NoiseOption = "estimated"
    whiten: bool = False
    name: str = "weighted"

    def __call__(self, regression: Regression, knowledge: Knowledge | None = None) -> Estimate:
        """Return the estimate; knowledge is not used."""
        return MaximumAPosteriori(
            prior="none", noise=self.noise, whiten=self.whiten, name=self.name
        )(regression)
