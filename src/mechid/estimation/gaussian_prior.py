"""The prior of CAD values as a Gaussian, with one scale on its standard deviations.

How probable the data are for a prior, and the scale of the prior that makes them most probable.

Rows in units of the noise: t = A x + white, x of mean x0 and covariance P = F Fᵀ. Then t - A x0 has
the covariance I + A P Aᵀ. With A = Q R only y = Qᵀ (t - A x0) depends on the prior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg import block_diag, cholesky, qr, solve_triangular
from scipy.special import chdtrc

from mechid.errors import DataError
from mechid.estimation.channels import Channels
from mechid.estimation.estimate import Agreement
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


# Scales that are tried first, between their bounds.
_TRIED = 13
# Scales up to this one, and down to its inverse, are looked for to say how far CAD values are off.
_SUPPORTED = 1e3
# Sums of squares up to this one may be added to one: nine digits are left.
_SMALL = 1e7


def log_density(data: Reduced, gaussian: GaussianPrior) -> float:
    """Return log of the density of y, but for a constant."""
    C = _root(data.R @ gaussian.factor)
    white = solve_triangular(C, data.y, trans="T", check_finite=False)
    return float(-np.sum(np.log(np.abs(np.diag(C)))) - 0.5 * white @ white)


def _root(G: Floats) -> Floats:
    """Return C, upper triangular, with Cᵀ C = I + G Gᵀ."""
    unit = np.eye(len(G))
    if np.sum(G**2) < _SMALL:
        return np.asarray(cholesky(unit + G @ G.T, check_finite=False))
    # Without the product, which would lose half of the digits.
    (C,) = qr(np.vstack([G.T, unit]), mode="r", check_finite=False)
    return np.asarray(C[: len(G)])


def best_scale(
    data: Reduced, gaussian: GaussianPrior, *, low: float = LEAST, high: float = MOST
) -> float:
    """Return the most probable scale between two bounds (empirical Bayes).

    Its logarithm is Gaussian beforehand: errors of the model that look like information would
    otherwise make the prior worthless.
    """
    from scipy.optimize import minimize_scalar

    def loss(u: float) -> float:
        scale = float(np.exp(u))
        return 0.5 * (u / TRUST) ** 2 - log_density(data, gaussian.scaled(scale))

    tried = np.linspace(np.log(low), np.log(high), _TRIED)
    i = int(np.argmin([loss(u) for u in tried]))
    near = tried[max(i - 1, 0)], tried[min(i + 1, _TRIED - 1)]
    found = minimize_scalar(loss, bounds=near, method="bounded", options={"xatol": 1e-6})
    # The search stays inside of its bounds, where a bound is best by so much.
    return float(np.exp(min((found.x, *near), key=loss)))


def agreement(data: Reduced, declared: GaussianPrior) -> Agreement:
    """Return how well data and a declared prior agree: χ² = yᵀ (I + R P Rᵀ)⁻¹ y."""
    scale = best_scale(data, declared, low=1 / _SUPPORTED, high=_SUPPORTED)
    U, s, _ = np.linalg.svd(data.R @ declared.factor, full_matrices=False)
    along = U.T @ data.y
    rest = data.y - U @ along
    value = float(np.sum(along**2 / (1.0 + s**2)) + rest @ rest)
    dof = len(data.y)
    return Agreement(value, dof, float(chdtrc(dof, value)), scale)
