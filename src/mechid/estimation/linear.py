"""Linear least squares with a Gaussian prior or without, by orthogonal factorisations only.

Rows in units of the noise: minimise |A x - t|² + (x - x0)ᵀ P⁻¹ (x - x0). With P = F Fᵀ and
x = x0 + F z that is |A F z - (t - A x0)|² + |z|², which needs no inverse of P, so that parameters
that are known exactly need no special case. Without a prior, columns get unit length first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import qr

from mechid.estimation.regression import Floats

ROUNDING = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Solution:
    """Solution of a linear problem.

    Attributes
    ----------
    x : array (b,)
    root : array (b, r)
        T with covariance T Tᵀ (rows in units of the noise).
    leverage : array (m,)
        Leverage of each row: how much it determines its own prediction, 0 to 1.
    A : array (m, b)
        The matrix.
    unseen : int
        Combinations of parameters that no row shows beyond rounding, and nothing else determines.
    """

    x: Floats
    root: Floats
    leverage: Floats
    A: Floats
    unseen: int = 0

    @cached_property
    def covariance(self) -> Floats:
        """T Tᵀ, (b, b)."""
        return np.asarray(self.root @ self.root.T)

    @cached_property
    def condition(self) -> float:
        """Condition number of A with columns of unit length."""
        return condition(self.A)


def least_squares(A: Floats, t: Floats, zeros: int = 0) -> Solution:
    """Return the least-squares solution of A x = t; of several the shortest in unit columns.

    Singular values below rounding are taken as zero: what the rows do not show at all stays zero
    and gets the variance that rounding leaves it. `zeros` is the number of rows of zeros besides.
    """
    d = lengths(A)
    U, s, Vh = full_svd(A / d)
    floor = rank_floor(A, s, zeros)
    seen = s > floor
    z = np.where(seen, (U.T @ t) / np.where(seen, s, 1.0), 0.0)
    root = (Vh.T / np.maximum(s, floor)) / d[:, None]
    leverage = np.sum((U * seen) ** 2, axis=1)
    return Solution((Vh.T @ z) / d, root, leverage, A, int(np.count_nonzero(~seen)))


@dataclass(frozen=True, eq=False)
class Reduced:
    """A problem without what no parameter explains: R (k, b) and y (k,) of A = Q R, y = Qᵀ r.

    r = t - A x0; `outside` is |r|² - |y|².
    """

    R: Floats
    y: Floats
    outside: float


def reduced(A: Floats, t: Floats, x0: Floats) -> Reduced:
    """Return the part of a problem that depends on the prior, relative to its mean x0."""
    b = A.shape[1]
    (whole,) = qr(np.column_stack([A, t - A @ x0]), mode="r", check_finite=False)
    return Reduced(whole[:b, :b], whole[:b, b], float(np.sum(whole[b:, b] ** 2)))


def with_prior(
    A: Floats, t: Floats, x0: Floats, F: Floats, data: Reduced | None = None
) -> Solution:
    """Return the most probable x for a prior of mean x0 (b,) and covariance F Fᵀ, F (b, r).

    `data` is `reduced(A, t, x0)`, if it is known already.
    """
    data = reduced(A, t, x0) if data is None else data
    U, s, Vh = full_svd(data.R @ F)
    length = np.hypot(1.0, s)
    z = Vh.T @ (s / length**2 * (U.T @ data.y))
    # Directions that no row sees (s = 0) keep the variance of the prior.
    root = F @ (Vh.T / length)
    leverage = np.sum((A @ root) ** 2, axis=1)
    return Solution(x0 + F @ z, root, leverage, A)


def prior_factor(P: Floats) -> Floats:
    """Return F (b, r) with P = F Fᵀ for a covariance P (b, b) of rank r.

    Variances are made one first, so that the rank does not depend on units. What has none has rows
    of zeros.
    """
    sigma = np.sqrt(np.diag(P))
    open_ = np.flatnonzero(sigma > 0)
    size = sigma[open_]
    values, Q = np.linalg.eigh(P[np.ix_(open_, open_)] / np.outer(size, size))
    kept = values > len(P) * ROUNDING * np.max(values, initial=0.0)
    F = np.zeros((len(P), int(np.count_nonzero(kept))))
    F[open_] = size[:, None] * Q[:, kept] * np.sqrt(values[kept])
    return F


def compressed(F: Floats) -> Floats:
    """Return a factor with the same F Fᵀ, and not more columns than rows."""
    return np.asarray(np.linalg.qr(F.T, mode="r")).T


def rank_floor(A: Floats, s: Floats, zeros: int = 0) -> float:
    """Return what singular values s of a matrix like A must exceed to be more than rounding."""
    return float(max(len(A) + zeros, A.shape[1]) * ROUNDING * (np.max(s, initial=0.0) or 1.0))


def condition(A: Floats) -> float:
    """Return the condition number of A with columns of unit length."""
    s = np.linalg.svd(A / lengths(A), compute_uv=False)
    if len(s) < A.shape[1] or not s.size or s[-1] <= 0:
        return np.inf
    return float(s[0] / s[-1])


def lengths(A: Floats) -> Floats:
    """Return the lengths of the columns of A; one for columns of zeros."""
    d = np.linalg.norm(A, axis=0)
    return np.where(d > 0, d, 1.0)


def full_svd(A: Floats) -> tuple[Floats, Floats, Floats]:
    """Return U (m, n), s (n,), Vᵀ (n, n), also if there are fewer rows than columns."""
    m, n = A.shape
    U, s, Vh = np.linalg.svd(np.pad(A, ((0, max(0, n - m)), (0, 0))), full_matrices=False)
    return U[:m], s, Vh
