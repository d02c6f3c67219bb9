"""Criteria as functions of the spread J = H T: a value and Ω = Qᵀ (Jᵀ Ψ J) Q, one each.

K = J Jᵀ is the covariance of what is wanted, Ψ the derivative of the criterion by it. All of them
are to be made small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from mechid.excitation.criteria.root import FLOOR, Floats
from mechid.excitation.criteria.singular_values import SingularValues, largest, smallest_and_largest

Measure: TypeAlias = Callable[[SingularValues], tuple[float, Floats]]

# Length of a column of which nothing is left, in units of the column: some floored singular values.
_ROUNDING = 100 * FLOOR


def trace_of(J: Floats) -> tuple[float, Floats]:
    """Return tr K and Jᵀ J for J in any coordinates."""
    return float(np.sum(J**2)), J.T @ J


def trace(spread: SingularValues) -> tuple[float, Floats]:
    """A-optimality: tr K, the sum of the variances. Ψ = 1."""
    return trace_of(spread.J)


def log_det(spread: SingularValues) -> tuple[float, Floats]:
    """D-optimality: log det K. Ψ = K⁻¹."""
    value = 2 * float(np.sum(np.log(spread.values)) + np.sum(np.log(spread.length)))
    return value, np.eye(len(spread.values))


def largest_variance(spread: SingularValues) -> tuple[float, Floats]:
    """E-optimality: the largest eigenvalue of K, 1/σ_min². Ψ = p1 p1ᵀ."""
    j, _, right = largest(spread.J)
    return j**2, j**2 * right


def condition(spread: SingularValues) -> tuple[float, Floats]:
    """Condition number κ = σ_max/σ_min, as the product of two norms.

    Each of them is the largest singular value of a matrix, and as such exact to rounding even where
    κ is beyond what one SVD can see.
    """
    j, _, right = largest(spread.J)
    y, left, _ = largest(spread.Y)
    return j * y, 0.5 * j * y * (right - left)


def equilibrated_condition(spread: SingularValues) -> tuple[float, Floats]:
    """Condition number after columns have been made of unit length."""
    length = np.linalg.norm(spread.Y, axis=0)
    # A column of which the others leave only rounding stays that short.
    lost = length <= _ROUNDING * spread.columns
    Z = spread.Y / np.where(lost, spread.columns, length)
    (low, high), left, right = smallest_and_largest(Z)
    kappa = high / low
    # The lengths of the columns change too, which takes away what only rescales them.
    rescaled = np.where(lost, 0.0, np.diag(right[1]) - np.diag(right[0]))
    return kappa, 0.5 * kappa * ((Z * rescaled) @ Z.T - (left[1] - left[0]))


def mixture(of_condition: float, of_smallest: float) -> Measure:
    """Return the criterion of_condition · κ + of_smallest / σ_min."""

    def mixed(spread: SingularValues) -> tuple[float, Floats]:
        kappa, by_kappa = condition(spread)
        j, _, right = largest(spread.J)
        value = of_condition * kappa + of_smallest * j
        return value, of_condition * by_kappa + 0.5 * of_smallest * j * right

    return mixed


MEASURES: Mapping[str, Measure] = {
    "a": trace,
    "d": log_det,
    "e": largest_variance,
    "condition": condition,
    "condition-equilibrated": equilibrated_condition,
    "prediction": trace,
}
