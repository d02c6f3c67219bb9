"""Singular values of J = H T, the spread of what is wanted, graded rows kept apart.

J = diag(ρ) Ĵ with rows of unit length and Ĵ = P̂ ĵ Q̂ᵀ. Parameters in different units make rows of
very different lengths; an SVD of J itself would lose the short ones. In the coordinates Q̂,

    J' = diag(ρ) P̂ ĵ        its largest singular value is the largest standard deviation,
    Y' = ĵ⁻¹ P̂ᵀ diag(1/ρ)   (J's inverse) its largest one is that of the Schur complement of A.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechid.excitation.criteria.root import Floats, floored

# Singular values that differ by less are taken as equal: the gradient is the mean over them, which
# does not depend on how the SVD happens to turn their vectors.
_EQUAL = 1e-10


@dataclass(frozen=True, eq=False)
class SingularValues:
    """J = diag(length) P ĵ Qᵀ: k quantities, k singular values.

    Attributes
    ----------
    length : array (k,)
    P : array (k, k)
    values : array (k,)
        ĵ, decreasing, floored.
    Q : array (r, k)
    columns : array (k,)
        Lengths of the columns of A that belong to the quantities, where there are such.
    """

    length: Floats
    P: Floats
    values: Floats
    Q: Floats
    columns: Floats

    @cached_property
    def J(self) -> Floats:
        """J Q, (k, k)."""
        return self.length[:, None] * self.P * self.values

    @cached_property
    def Y(self) -> Floats:
        """Its inverse, (k, k)."""
        return (self.P / self.length[:, None]).T / self.values[:, None]


def spread(J: Floats, columns: Floats) -> SingularValues:
    """Return the singular values of J (k, r), r ≥ k; rows of zeros are not allowed."""
    length = np.linalg.norm(J, axis=1)
    P, values, Qh = np.linalg.svd(J / length[:, None], full_matrices=False)
    return SingularValues(length, P, floored(values), Qh.T, columns)


def largest(X: Floats) -> tuple[float, Floats, Floats]:
    """Return the largest singular value of X, and the mean of u uᵀ and of v vᵀ over equal ones."""
    U, s, Vh = np.linalg.svd(X, full_matrices=False)
    same = s >= s[0] * (1 - _EQUAL)
    n = int(np.count_nonzero(same))
    return float(s[0]), U[:, same] @ U[:, same].T / n, Vh[same].T @ Vh[same] / n


def smallest_and_largest(X: Floats) -> tuple[tuple[float, float], list[Floats], list[Floats]]:
    """Return s_n and s_1 of a square X (floored), each with its mean u uᵀ and v vᵀ."""
    U, s, Vh = np.linalg.svd(X, full_matrices=False)
    s = floored(s)
    left, right = [], []
    for same in (s <= s[-1] * (1 + _EQUAL), s >= s[0] * (1 - _EQUAL)):
        n = int(np.count_nonzero(same))
        left.append(U[:, same] @ U[:, same].T / n)
        right.append(Vh[same].T @ Vh[same] / n)
    return (float(s[-1]), float(s[0])), left, right
