"""How probable the data are for a prior, and the scale of the prior that makes them most probable.

Rows in units of the noise: t = A x + white, x of mean x0 and covariance P = F Fᵀ. Then t - A x0 has
the covariance I + A P Aᵀ. With A = Q R only y = Qᵀ (t - A x0) depends on the prior.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular
from scipy.special import chdtrc

from mechid.estimation.estimate import Agreement
from mechid.estimation.gaussian_prior import LEAST, MOST, TRUST, GaussianPrior
from mechid.estimation.linear import Reduced
from mechid.estimation.regression import Floats

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
