"""A square root of the covariance of the parameters, from the observation matrix.

With A (m, b) the stacked matrix, rows in units of the noise, and P the covariance of a prior,

    C = (Aᵀ A + P⁻¹)⁻¹ = T Tᵀ,    U = A T,    A C = U Tᵀ.

Everything else follows from T and U; Aᵀ A is never formed. Without a prior, A D⁻¹ = U S Vᵀ with
columns of unit length and T = D⁻¹ V S⁻¹. With one, P = F Fᵀ, and the triangle R of A F with the
unit matrix below it gives T = F R⁻¹, which needs no inverse of P: parameters that are known
exactly, and exact relations between them, need no special case.

For ψ(K) of K = H C Hᵀ with derivative Ψ, and J = H T, the gradient by A is

    -2 A C Hᵀ Ψ H C = -2 U (Jᵀ Ψ J) Tᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

Floats: TypeAlias = npt.NDArray[np.float64]

# Singular values of unit columns below this fraction of the largest are rounding: they count as
# this much, so that what a motion does not show at all has a large but finite variance.
FLOOR = float(np.finfo(float).eps)
# Length of the columns of a matrix of zeros; squares of its inverse are still numbers.
_NOTHING = 1e-60


@dataclass(frozen=True, eq=False)
class Root:
    """C = T Tᵀ and U = A T.

    Attributes
    ----------
    U : array (m, r)
    T : array (b, r), r ≥ b
    columns : array (b,)
        Lengths of the columns of A where nothing but A counts; zeros with a prior.
    """

    U: Floats
    T: Floats
    columns: Floats


def root(A: Floats, F: Floats | None) -> Root:
    """Return the root of the covariance for a stacked matrix A (m, b) and a prior P = F Fᵀ."""
    return _without_prior(A) if F is None else _with_prior(A, F)


def _without_prior(A: Floats) -> Root:
    b = A.shape[1]
    d = np.linalg.norm(A, axis=0)
    # A column of zeros has no length of its own: that of the longest one.
    longest = float(np.max(d, initial=0.0)) or _NOTHING
    d = np.where(d > 0, d, longest)
    U, s, Vh = _padded_svd(A / d, b)
    s = floored(s)
    return Root(U, (Vh.T / s) / d[:, None], d)


def _with_prior(A: Floats, F: Floats) -> Root:
    b, r = F.shape
    X = A @ F
    R = np.linalg.qr(np.vstack([X, np.eye(r)]), mode="r")
    # Both at once: the solution of Rᵀ Zᵀ = [A F; F]ᵀ.
    Z = solve_triangular(R, np.vstack([X, F]).T, trans="T").T if r else np.zeros((len(X) + b, 0))
    return Root(_wide(Z[: len(X)], b), _wide(Z[len(X) :], b), np.zeros(b))


def floored(s: Floats) -> Floats:
    """Return decreasing singular values, none of them below rounding.

    Zeros only are taken as (1, floor, …): a zero matrix is not well conditioned.
    """
    if not s.size or s[0] > 0:
        return np.maximum(s, FLOOR * np.max(s, initial=0.0))
    return np.concatenate([np.ones(1), np.full(s.size - 1, FLOOR)])


def _padded_svd(X: Floats, n: int) -> tuple[Floats, Floats, Floats]:
    """Return U (m, n), s (n,), Vᵀ (n, n); directions that too few rows leave open have U = 0."""
    U, s, Vh = np.linalg.svd(X, full_matrices=False)
    if len(s) < n:
        Vh = np.linalg.svd(X, full_matrices=True)[2]
        U, s = _wide(U, n), np.concatenate([s, np.zeros(n - len(s))])
    return U, s, Vh


def _wide(X: Floats, n: int) -> Floats:
    """Return X with columns of zeros up to n."""
    return X if X.shape[1] >= n else np.pad(X, ((0, 0), (0, n - X.shape[1])))


# Singular values of unit columns are known to some units of rounding; this many are safe.
_SAFE = 100


@dataclass(frozen=True)
class Resolution:
    """How far the smallest singular values of a matrix with unit columns can be trusted.

    Attributes
    ----------
    seen : int
        Singular values above a hundred units of rounding.
    parameters : int
        All of them.
    error : float
        Relative rounding error of the smallest one, and of criteria that depend on it (condition
        numbers, A and E without a prior); 1 means that it is nothing but rounding.
    """

    seen: int
    parameters: int
    error: float


def resolution(W: Floats, sigma: Floats | None = None) -> Resolution:
    """Return what of W_b (N, n_i, b) stands above rounding; rows are weighted by 1/σ_j.

    Mechanisms with little mobility come close to the limit or pass it: a criterion without a prior
    then ranks rounding errors.
    """
    b = W.shape[2]
    A = (W if sigma is None else W / np.asarray(sigma)[:, None]).reshape(-1, b)
    length = np.linalg.norm(A, axis=0)
    s = np.linalg.svd(A / np.where(length > 0, length, 1.0), compute_uv=False)
    s = np.concatenate([s, np.zeros(b - len(s))])
    unit = FLOOR * float(np.max(s, initial=0.0))
    seen = int(np.count_nonzero(s > _SAFE * unit))
    return Resolution(seen, b, 1.0 if s[-1] <= unit else unit / float(s[-1]))
