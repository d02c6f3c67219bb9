"""What double precision can resolve of a matrix: how many directions stand above its rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.excitation.criteria.root import FLOOR, Floats

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
