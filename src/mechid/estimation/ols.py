"""Ordinary least squares: all rows alike, no prior."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mechid.estimation.channels import FREE_OFFSETS, Channels
from mechid.estimation.estimate import Estimate
from mechid.estimation.estimate_warnings import enough
from mechid.estimation.iteration import finish, iterate
from mechid.estimation.linear import least_squares
from mechid.estimation.options import one_of
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression


@dataclass(frozen=True)
class OrdinaryLeastSquares:
    """Minimise the sum of all squared residuals, N and N m alike, as the sources do.

    The covariance allows for channels with noise of different size: (AᵀA)⁻¹ Aᵀ Ω A (AᵀA)⁻¹. That
    noise is the one weighted least squares finds: residuals of a quiet force would hold noise that
    came from louder ones through the parameters.

    Attributes
    ----------
    offsets : "estimated", optional
        Whether each force channel has an offset, which is also estimated.
    """

    offsets: Literal["estimated"] | None = None
    name: str = "ols"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate; prior is not used."""
        if self.offsets is not None:
            one_of("offsets of least squares", self.offsets, "estimated")
        channels = Channels(regression, offsets=self.offsets is not None)
        A, t = channels.problem
        channel = channels.channel
        zeros = int(np.sum(channels.zeros))
        enough(len(A) + zeros, A.shape[1])
        fit = iterate(channels, lambda A, t, _: least_squares(A, t, zeros))
        solved = least_squares(A, t, zeros)
        # (AᵀA)⁻¹ Aᵀ = T (A T)ᵀ
        spread = solved.root @ ((A @ solved.root).T * fit.noise[channel])
        plain = replace(
            fit,
            solution=replace(solved, root=spread),
            residuals=t - A @ solved.x,
            A=A,
            t=t,
        )
        return finish(self.name, channels, plain, known=(FREE_OFFSETS,) if self.offsets else ())
