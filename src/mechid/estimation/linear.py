"""Linear least squares with a Gaussian prior or without, by orthogonal factorisations only.

Rows in units of the noise: minimise |A x - t|² + (x - x0)ᵀ P⁻¹ (x - x0). With P = F Fᵀ and
x = x0 + F z that is |A F z - (t - A x0)|² + |z|², which needs no inverse of P, so that parameters
that are known exactly are as good as others. Without a prior, columns get unit length first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.estimation.regression import Floats

_ROUNDING = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Solution:
    """Solution of a linear problem.

    Attributes
    ----------
    x : array (b,)
    root : array (b, r)
        T with covariance T Tᵀ (rows in units of the noise).
    leverage : array (m,)
        How much each row determines its own prediction, 0 to 1.
    condition : float
        Of A with columns of unit length.
    """

    x: Floats
    root: Floats
    leverage: Floats
    condition: float

    @property
    def covariance(self) -> Floats:
        """T Tᵀ, (b, b)."""
        return np.asarray(self.root @ self.root.T)


def least_squares(A: Floats, t: Floats) -> Solution:
    """Return the least-squares solution of A x = t; of several the shortest in unit columns.

    Singular values below rounding are taken as zero: what the rows do not show at all stays zero
    and gets the variance that rounding leaves it.
    """
    d = _lengths(A)
    U, s, Vh = np.linalg.svd(A / d, full_matrices=False)
    largest = float(np.max(s, initial=0.0)) or 1.0
    floor = max(A.shape) * _ROUNDING * largest
    seen = s > floor
    z = np.where(seen, (U.T @ t) / np.where(seen, s, 1.0), 0.0)
    root = (Vh.T / np.maximum(s, floor)) / d[:, None]
    leverage = np.sum((U * seen) ** 2, axis=1)
    return Solution((Vh.T @ z) / d, root, leverage, _condition(s))


def with_prior(A: Floats, t: Floats, x0: Floats, F: Floats) -> Solution:
    """Return the most probable x for a prior of mean x0 (b,) and covariance F Fᵀ, F (b, r)."""
    U, s, Vh = np.linalg.svd(A @ F, full_matrices=False)
    z = Vh.T @ (s / (1 + s**2) * (U.T @ (t - A @ x0)))
    # Directions that no row sees keep the variance of the prior.
    shrink = 1 / np.sqrt(1 + s**2) - 1
    root = F + (F @ Vh.T) * shrink @ Vh
    leverage = np.sum((U * (s / np.sqrt(1 + s**2))) ** 2, axis=1)
    return Solution(x0 + F @ z, root, leverage, condition(A))


def prior_factor(P: Floats) -> Floats:
    """Return F (b, r) with P = F Fᵀ for a covariance P (b, b) of rank r.

    Variances are made one first, so that the rank does not depend on units. What has none has rows
    of zeros.
    """
    sigma = np.sqrt(np.diag(P))
    open_ = np.flatnonzero(sigma > 0)
    size = sigma[open_]
    values, Q = np.linalg.eigh(P[np.ix_(open_, open_)] / np.outer(size, size))
    kept = values > len(P) * _ROUNDING * np.max(values, initial=0.0)
    F = np.zeros((len(P), int(np.count_nonzero(kept))))
    F[open_] = size[:, None] * Q[:, kept] * np.sqrt(values[kept])
    return F


def condition(A: Floats) -> float:
    """Return the condition number of A with columns of unit length."""
    return _condition(np.asarray(np.linalg.svd(A / _lengths(A), compute_uv=False), dtype=float))


def _condition(s: Floats) -> float:
    if not s.size or s[-1] <= 0:
        return np.inf
    return float(s[0] / s[-1])


def _lengths(A: Floats) -> Floats:
    d = np.linalg.norm(A, axis=0)
    return np.where(d > 0, d, 1.0)
