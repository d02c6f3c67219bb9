"""How probable the data are for a prior, and the scale of the prior that makes them most probable.

Rows in units of the noise: t = A x + white, x of mean x0 and covariance P = F S² Fᵀ with scales S,
one per group of columns. Then t - A x0 has the covariance I + A P Aᵀ. With A = Q R only
y = Qᵀ (t - A x0) depends on the prior, and with R F S = U s Vᵀ its entries along U are independent
with variances 1 + s².

With few entries in a group (the gains of three channels), the most probable scale is often zero,
which would claim certainty without evidence. So the logarithm of a scale has a Gaussian hyperprior:
declared standard deviations are trusted to within a factor of about two, usual errors of channels
to within ten. Without it, errors of the model that look like information would make the prior
worthless.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular
from scipy.special import chdtrc

from mechid.estimation.estimate import Agreement
from mechid.estimation.gaussian_prior import GaussianPrior
from mechid.estimation.linear import Reduced, reduced
from mechid.estimation.regression import Floats

# Scales that are tried first, between their bounds.
_TRIED = 13
# Sums of squares up to this one may be added to one: nine digits are left.
_SMALL = 1e7


def log_density(data: Reduced, gaussian: GaussianPrior) -> float:
    """Return log of the density of y, but for a constant."""
    C = _root(data.R @ gaussian.factor)
    white = solve_triangular(C, data.y, trans="T", check_finite=False)
    return float(-np.sum(np.log(np.abs(np.diag(C)))) - 0.5 * white @ white)


def log_evidence(data: Reduced, gaussian: GaussianPrior) -> tuple[float, Floats]:
    """Return log of the density of y, but for a constant, and its gradient by log scales."""
    G = data.R @ gaussian.factor
    C = _root(G)
    white, root = np.split(
        solve_triangular(C, np.column_stack([data.y, G]), trans="T", check_finite=False),
        [1],
        axis=1,
    )
    value = -np.sum(np.log(np.abs(np.diag(C)))) - 0.5 * np.sum(white**2)
    # By the log scale of a column of G: (Gᵀ K⁻¹ y)² - (Gᵀ K⁻¹ G)_jj.
    by_column = (root.T @ white)[:, 0] ** 2 - np.sum(root**2, axis=0)
    own = gaussian.group >= 0
    gradient = np.bincount(gaussian.group[own], by_column[own], minlength=len(gaussian.scale))
    return float(value), gradient.astype(float)


def _root(G: Floats) -> Floats:
    """Return C, upper triangular, with Cᵀ C = I + G Gᵀ."""
    unit = np.eye(len(G))
    if np.sum(G**2) < _SMALL:
        return np.asarray(cholesky(unit + G @ G.T, check_finite=False))
    # Without the product, which would lose half of the digits.
    (C,) = qr(np.vstack([G.T, unit]), mode="r", check_finite=False)
    return np.asarray(C[: len(G)])


def data_evidence(
    A: Floats, t: Floats, gaussian: GaussianPrior, count: float | None = None
) -> float:
    """Return log of the density of rows t (m,), in units of the noise, for a prior.

    Rows may count less than one sample each: `count` is their effective number, m by default.
    """
    data = reduced(A, t, gaussian.mean)
    size = len(t) if count is None else count
    return log_evidence(data, gaussian)[0] - 0.5 * (data.outside + size * float(np.log(2 * np.pi)))


def best_scales(data: Reduced, gaussian: GaussianPrior, *, near: bool = False) -> GaussianPrior:
    """Return the prior with its most probable scales (empirical Bayes).

    The search starts from the scales that the prior has, if they are known to be `near`; otherwise
    from the best of a wide range.
    """
    from scipy.optimize import minimize

    if not len(gaussian.scale):
        return gaussian

    def loss(u: Floats) -> tuple[float, Floats]:
        value, gradient = log_evidence(data, replace(gaussian, scale=np.exp(u)))
        return 0.5 * float(np.sum((u / belief) ** 2)) - value, u / belief**2 - gradient

    belief = np.array([b.spread for b in gaussian.beliefs])
    low, high = (np.log([getattr(b, side) for b in gaussian.beliefs]) for side in ("low", "high"))
    now = np.log(gaussian.scale)
    starts = list(np.linspace(low, high, _TRIED))
    first = now if near else min(starts, key=lambda u: loss(u)[0])
    bounds = list(zip(low, high, strict=True))
    found = minimize(
        loss, first, jac=True, method="L-BFGS-B", bounds=bounds,
        options={"ftol": 0.0, "gtol": 1e-6, "maxiter": 200},
    )  # fmt: skip
    return replace(gaussian, scale=np.exp(found.x))


def agreement(data: Reduced, gaussian: GaussianPrior, scale: float) -> Agreement:
    """Return how well data and prior agree: χ² = yᵀ (I + R P Rᵀ)⁻¹ y."""
    U, s, _ = np.linalg.svd(data.R @ gaussian.factor, full_matrices=False)
    along = U.T @ data.y
    rest = data.y - U @ along
    value = float(np.sum(along**2 / (1.0 + s**2)) + rest @ rest)
    dof = len(data.y)
    return Agreement(value, dof, float(chdtrc(dof, value)), scale)
