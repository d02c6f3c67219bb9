"""Criteria of many motions at once, from the triangular factors of their matrices.

NumPy and CuPy have the same functions, so that the same lines run on the processor and on a GPU.
Singular values are not computed: a factor L of K = J Jᵀ = L Lᵀ and its inverse Y give the same
criteria, because each of them needs largest singular values only (see `measures`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mechid.excitation.criteria.criterion import Criterion
from mechid.excitation.criteria.root import Floats

# Diagonals of factors of unit columns below this part of the largest are left to `Criterion`, which
# looks at singular values: errors of the inverse are then below 1e-6.
_WEAK = 1e-10


@dataclass(frozen=True)
class Arrays:
    """A library of arrays and its triangular factors.

    Attributes
    ----------
    xp : module
        NumPy or CuPy.
    factor : callable
        R (n, b, b), upper triangular, of matrices (n, m, b): Rᵀ R = Aᵀ A.
    """

    xp: Any
    factor: Callable[[Any], Any]


def on_processor() -> Arrays:
    """Return NumPy."""

    def factor(A: Floats) -> Floats:
        n, m, b = A.shape
        return np.asarray(
            np.linalg.qr(np.concatenate([A, np.zeros((n, max(b - m, 0), b))], 1), "r")
        )

    return Arrays(np, factor)


def criterion_values(criterion: Criterion, R: Any, arrays: Arrays) -> Floats:
    """Return the criterion of n motions, (n,).

    Parameters
    ----------
    criterion : Criterion
        Its `sigma` and `repeats` do not count: rows are weighted already.
    R : array (n, b, b)
        Triangular factors of the stacked base observation matrices, columns times `scales`.
    arrays : Arrays
        Where R is.
    """
    xp = arrays.xp
    J, weak = _spread(criterion, R, arrays)
    measured = _measured(criterion, J, arrays)
    values: Floats = np.array(measured if xp is np else xp.asnumpy(measured), dtype=float)
    if criterion.options.log and criterion.name != "d":
        values = np.log(values)
    weak = np.asarray(weak if xp is np else xp.asnumpy(weak)) | ~np.isfinite(values)
    for i in np.flatnonzero(weak):
        values[i] = _one(criterion, R[i] if xp is np else xp.asnumpy(R[i]))
    return values


def _one(criterion: Criterion, R: Floats) -> float:
    """Return the criterion of one motion by its singular values."""
    o = criterion.options
    W = R if o.scales is None else R / np.asarray(o.scales)
    alone = Criterion(criterion.name, replace(o, sigma=None, repeats=1.0))
    return alone(W[:, None, :])


def _spread(criterion: Criterion, R: Any, arrays: Arrays) -> tuple[Any, Any]:
    """Return J = H T (n, k, r) with J Jᵀ the covariance of what is wanted, and where it is weak."""
    xp, o, F = arrays.xp, criterion.options, criterion.prior_factor
    n, b = R.shape[:2]
    if o.targets is not None:
        H = np.asarray(o.targets if o.scales is None else o.targets * o.scales)
    else:
        H = np.eye(b)[slice(None) if o.subset is None else list(o.subset)]
    if F is None:
        length = xp.linalg.norm(R, axis=1)
        length = xp.where(length > 0, length, 1.0)
        unit = R / length[:, None, :]
        diagonal = xp.abs(xp.diagonal(unit, axis1=1, axis2=2))
        weak = ~(diagonal.min(axis=1) > _WEAK * diagonal.max(axis=1))
        unit = xp.where(weak[:, None, None], xp.eye(b), unit)
        return xp.asarray(H) / length[:, None, :] @ xp.linalg.inv(unit), weak
    r = F.shape[1]
    stacked = xp.concatenate([R @ xp.asarray(F), xp.broadcast_to(xp.eye(r), (n, r, r))], axis=1)
    HF = H @ F
    kept = np.linalg.norm(HF, axis=1) > 0
    J = xp.asarray(HF[kept]) @ xp.linalg.inv(arrays.factor(stacked))
    return J, xp.zeros(n, dtype=bool)


def _measured(criterion: Criterion, J: Any, arrays: Arrays) -> Any:
    xp = arrays.xp
    if criterion.name in ("a", "prediction"):
        return (J**2).sum(axis=(1, 2))
    if criterion.name == "e":
        return _largest(J, xp) ** 2
    L = xp.swapaxes(arrays.factor(xp.swapaxes(J, 1, 2)), 1, 2)  # (n, k, k), lower triangular
    if criterion.name == "d":
        return 2 * xp.log(xp.abs(xp.diagonal(L, axis1=1, axis2=2))).sum(axis=1)
    length = xp.linalg.norm(L, axis=2)
    Y = xp.linalg.inv(L / length[:, :, None]) / length[:, None, :]
    if criterion.name == "condition-equilibrated":
        columns = xp.linalg.norm(Y, axis=1)
        return _largest(Y / columns[:, None, :], xp) * _largest(columns[:, :, None] * L, xp)
    j = _largest(L, xp)
    kappa = j * _largest(Y, xp)
    if criterion.name == "condition":
        return kappa
    of_condition, of_smallest = criterion.options.mix
    return of_condition * kappa + of_smallest * j


def _largest(X: Any, xp: Any) -> Any:
    """Return the largest singular value of each X."""
    size = xp.abs(X).max(axis=(1, 2))  # so that squares do not leave the range of numbers
    unit = X / xp.where(size > 0, size, 1.0)[:, None, None]
    return size * xp.sqrt(xp.linalg.eigvalsh(unit @ xp.swapaxes(unit, 1, 2))[:, -1])
