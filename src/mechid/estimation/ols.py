"""Ordinary least squares: all rows alike, nothing known beforehand."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mechid.estimation.cautions import enough
from mechid.estimation.channels import Channels
from mechid.estimation.estimate import Estimate
from mechid.estimation.iteration import finish, iterate
from mechid.estimation.knowledge import Knowledge
from mechid.estimation.linear import least_squares
from mechid.estimation.regression import Regression


@dataclass(frozen=True)
class OrdinaryLeastSquares:
    """Minimise the sum of all squared residuals, N and N m alike, as the sources do.

    The covariance allows for channels with noise of different size: (AᵀA)⁻¹ Aᵀ Ω A (AᵀA)⁻¹. That
    noise is the one weighted least squares finds: residuals of a quiet force would hold noise that
    came from louder ones through the parameters.
    """

    name: str = "ols"

    def __call__(self, regression: Regression, knowledge: Knowledge | None = None) -> Estimate:
        """Return the estimate; knowledge is not used."""
        channels = Channels(regression)
        A, t, channel = channels.rows
        enough(*A.shape)
        fit = iterate(channels, lambda A, t, _: least_squares(A, t))
        solved = least_squares(A, t)
        # (AᵀA)⁻¹ Aᵀ = T (A T)ᵀ
        spread = solved.root @ ((A @ solved.root).T * fit.noise[channel])
        plain = replace(
            fit,
            solution=replace(solved, root=spread),
            residuals=channels.residuals(solved.x),
            A=A,
            t=t,
        )
        return finish(self.name, channels, plain)
