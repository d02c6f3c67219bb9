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
from mechid.estimation.newton import Expansion, minimum_in_box
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


def log_evidence(data: Reduced, gaussian: GaussianPrior) -> tuple[float, Floats, Floats]:
    """Return log of the density of y, but for a constant, its gradient and its second derivatives
    by log scales."""
    G = data.R @ gaussian.factor
    C = _root(G)
    white, root = np.split(
        solve_triangular(C, np.column_stack([data.y, G]), trans="T", check_finite=False),
        [1],
        axis=1,
    )
    value = -np.sum(np.log(np.abs(np.diag(C)))) - 0.5 * np.sum(white**2)
    # By log scales of columns of G, with w = Gᵀ K⁻¹ y and M = Gᵀ K⁻¹ G: w_j² - M_jj, and again
    # 2 δ_jk (w_j² - M_jj) - 4 w_j M_jk w_k + 2 M_jk².
    w, M = (root.T @ white)[:, 0], root.T @ root
    own = (gaussian.group[:, None] == np.arange(len(gaussian.scale))).astype(float)
    slope = w**2 - np.diag(M)
    gradient = own.T @ slope
    mixed = own.T @ (2.0 * M**2 - 4.0 * np.outer(w, w) * M) @ own
    return float(value), gradient, 2.0 * np.diag(gradient) + mixed


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
    if not len(gaussian.scale):
        return gaussian
    belief = np.array([b.spread for b in gaussian.beliefs])
    low, high = (np.log([getattr(b, side) for b in gaussian.beliefs]) for side in ("low", "high"))

    def trusted(u: Floats) -> float:
        return 0.5 * float(np.sum((u / belief) ** 2))

    def loss(u: Floats) -> Expansion:
        value, gradient, curved = log_evidence(data, replace(gaussian, scale=np.exp(u)))
        return Expansion(
            trusted(u) - value, u / belief**2 - gradient, np.diag(1.0 / belief**2) - curved
        )

    def coarse(u: Floats) -> float:
        return trusted(u) - log_density(data, replace(gaussian, scale=np.exp(u)))

    starts = list(np.linspace(low, high, _TRIED))
    first = np.log(gaussian.scale) if near else min(starts, key=coarse)
    return replace(gaussian, scale=np.exp(minimum_in_box(loss, first, low, high)))


def agreement(data: Reduced, gaussian: GaussianPrior, scale: float) -> Agreement:
    """Return how well data and prior agree: χ² = yᵀ (I + R P Rᵀ)⁻¹ y."""
    U, s, _ = np.linalg.svd(data.R @ gaussian.factor, full_matrices=False)
    along = U.T @ data.y
    rest = data.y - U @ along
    value = float(np.sum(along**2 / (1.0 + s**2)) + rest @ rest)
    dof = len(data.y)
    return Agreement(value, dof, float(chdtrc(dof, value)), scale)
