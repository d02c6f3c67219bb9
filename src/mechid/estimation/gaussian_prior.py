"""The prior of CAD values as a Gaussian, with one scale on its standard deviations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg import block_diag

from mechid.errors import DataError
from mechid.estimation.channels import Channels
from mechid.estimation.linear import Reduced, Solution, compressed, prior_factor, with_prior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats

# A number that is declared, or left to the data.
Scale: TypeAlias = float | Literal["estimated"]

# Declared standard deviations are trusted to within a factor of about two. They are never made
# smaller, and four times the usual 20 % is as much as an error can be: a part is known to have some
# mass.
TRUST, LEAST, MOST = float(np.log(2.0)), 1.0, 4.0
# Offsets that only the data determine may be as large as the force.
_FREE = 1.0


@dataclass(frozen=True, eq=False)
class GaussianPrior:
    """A Gaussian prior of x, as in `Channels`.

    Attributes
    ----------
    mean : array (n,)
    F : array (n, r)
        Factor of the covariance as declared, F Fᵀ.
    parameters : int
        Number of the first columns of F, which are those of the CAD values.
    scale : float
        Of these columns.
    """

    mean: Floats
    F: Floats
    parameters: int
    scale: float = 1.0

    @property
    def factor(self) -> Floats:
        """F with scaled columns, (n, r)."""
        own = np.arange(self.F.shape[1]) < self.parameters
        return np.asarray(self.F * np.where(own, self.scale, 1.0))

    def scaled(self, scale: float) -> GaussianPrior:
        """Return the prior with another scale."""
        return replace(self, scale=scale)

    def solve(self, A: Floats, t: Floats, data: Reduced | None = None) -> Solution:
        """Return the most probable x for rows in units of the noise; `data` as in `with_prior`."""
        return with_prior(A, t, self.mean, self.factor, data)


def cad_factor(prior: Prior, kind: Literal["diagonal", "full"]) -> Floats:
    """Return F (b, r), r ≤ b, of the covariance F Fᵀ of the base parameters.

    It is made of the factor of the covariance of all parameters, not of the covariance of the base
    parameters: combinations that are known exactly keep no variance from rounding.
    """
    F = prior.matrix @ prior_factor(prior.covariance)
    if kind == "diagonal":
        return np.diag(np.linalg.norm(F, axis=1))
    return compressed(F)


def cad_prior(
    channels: Channels, prior: Prior, kind: Literal["diagonal", "full"], offsets: Scale | None
) -> GaussianPrior:
    """Return the prior of x: CAD values, and no offsets.

    Parameters
    ----------
    channels : Channels
    prior : Prior
        Of the parameters of the regression, in its order.
    kind : "diagonal" or "full"
    offsets : float or "estimated", optional
        Standard deviation of offsets, as a part of the measured force.
    """
    F = cad_factor(prior, kind)
    if not np.any(F):
        raise DataError(
            "no standard deviations of the CAD values are declared: nothing would be left "
            "to estimate",
            remedy="declare how uncertain they are, or use an estimator without prior",
        )
    if offsets is None:
        return GaussianPrior(prior.mean, F, F.shape[1])
    share = _FREE if isinstance(offsets, str) else offsets
    return GaussianPrior(
        np.append(prior.mean, np.zeros(len(channels.names))),
        block_diag(F, np.diag(share * channels.sizes)),
        F.shape[1],
    )
