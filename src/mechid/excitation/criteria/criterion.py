"""One interface for all criteria: a value and its exact gradient by the base observation matrix.

Criteria as functions of the spread J = H T: a value and Ω = Qᵀ (Jᵀ Ψ J) Q, one each.

K = J Jᵀ is the covariance of what is wanted, Ψ the derivative of the criterion by it. All of them
are to be made small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from mechid.errors import DataError
from mechid.estimation.linear import prior_factor
from mechid.excitation.criteria.root import FLOOR, Floats, Root, root
from mechid.excitation.criteria.singular_values import (
    SingularValues,
    largest,
    smallest_and_largest,
    spread,
)
from mechid.shown import Shown

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


class Look(NamedTuple):
    """A value and its gradients by W_b (N, n_i, b) and by the known forces (N, n_i)."""

    value: float
    by_W: Floats
    by_known: Floats


class Objective(Protocol):
    """A function of W_b (N, n_i, b) and of the known forces (N, n_i), to be made small."""

    def look(self, W: Floats, known: Floats) -> Look:
        """Return the value and its gradients."""


CRITERIA = (*MEASURES, "mixture")


@dataclass(frozen=True, eq=False, repr=False)
class CriterionOptions(Shown):
    """What a criterion takes into account; nothing of it by default.

    Attributes
    ----------
    sigma : array (n_i,) or None
        Standard deviation of the noise of each force (N or N m): rows are weighted by 1/σ_j. An
        infinite one stands for a force that is not measured. None: ones.
    scales : array (b,) or None
        Units in which parameters are counted, such as their CAD values: a variance of 1 is that of
        one unit. None: SI. Condition numbers are those of the columns times them.
    prior : array (b, b) or None
        Covariance of the base parameters before the experiment (`cad_values(…).covariance`). What
        has no variance is known exactly. It needs `sigma`.
    subset : sequence of int or None
        Indices of the requested parameters; the others are estimated along with them (Schur
        complement). None: all.
    targets : array (k, b) or None
        H of `prediction_factor`, for the criterion "prediction".
    repeats : float
        Measured samples per sample of the matrix: how often a period is repeated, or how much
        faster the measurement is sampled. It matters only with a prior.
    log : bool
        The logarithm of the criterion ("d" is one already).
    mix : (float, float)
        Weights of κ and of 1/σ_min in "mixture".
    """

    sigma: Floats | None = None
    scales: Floats | None = None
    prior: Floats | None = None
    subset: Sequence[int] | None = None
    targets: Floats | None = None
    repeats: float = 1.0
    log: bool = False
    mix: tuple[float, float] = (1.0, 1.0)


_NO_OPTIONS = CriterionOptions()


@dataclass(frozen=True, eq=False, repr=False)
class Criterion(Shown):
    """A function of the base observation matrix W_b (N, n_i, b), to be made small.

    | name | value |
    |---|---|
    | a | sum of the variances of the parameters |
    | d | logarithm of the determinant of their covariance |
    | e | largest variance of any combination of unit length, 1/σ_min² |
    | condition | condition number σ_max/σ_min of the matrix |
    | condition-equilibrated | the same after columns have been made of unit length |
    | mixture | weighted sum of the condition number and 1/σ_min |
    | prediction | mean relative variance of predicted forces, see `prediction_factor` |

    With a prior, the matrix is that of the estimator which uses it: W_b with the rows of P^(-1/2)
    below. A condition number then rewards motions that add nothing to the prior; prefer the other
    criteria.

    Where W_b does not have full rank and there is no prior, singular values of the equilibrated
    matrix count as at least 2.2e-16 of the largest (a matrix of zeros counts as one of rank 1 and
    tiny columns); results are large and finite. The gradient is
    then that of the singular values as if they were not limited. Where the largest or the smallest
    singular values are equal, it is the mean over them, one of the subgradients.

    Attributes
    ----------
    name : str
    options : Options
        Noise, prior, parameters that are wanted.
    """

    name: str
    options: CriterionOptions = _NO_OPTIONS

    def __post_init__(self) -> None:
        """Reject a criterion that does not exist, or lacks what it needs."""
        o = self.options
        if self.name not in CRITERIA:
            raise DataError(
                f"there is no criterion {self.name}", remedy=f"choose one of: {', '.join(CRITERIA)}"
            )
        if (self.name == "prediction") != (o.targets is not None):
            raise DataError(
                "the criterion prediction needs targets"
                if o.targets is None
                else f"the criterion {self.name} takes no targets",
                remedy="give targets for the criterion prediction only",
            )
        if self.name == "prediction" and o.subset is not None:
            raise DataError(
                "the criterion prediction is about forces and takes no subset of parameters",
                remedy="omit the subset",
            )
        for what, values in (("sigma", o.sigma), ("scales", o.scales)):
            if values is not None and not np.all(np.asarray(values) > 0):
                raise DataError(f"{what} of a criterion must be > 0")
        if not o.repeats > 0:
            raise DataError("repeats of a criterion must be > 0")

    def __call__(self, W: Floats) -> float:
        """Return the value for W_b (N, n_i, b)."""
        return self.value_and_gradient(W)[0]

    def value_and_gradient(self, W: Floats, sigma: Floats | None = None) -> tuple[float, Floats]:
        """Return the value and its gradient by W_b, (N, n_i, b); `sigma` as in the options."""
        weights = self._weights(W, self.options.sigma if sigma is None else sigma)
        A = (W * weights).reshape(-1, W.shape[2])
        found = root(A, self.prior_factor)
        J, columns = self._wanted(found)
        if not len(J):
            raise DataError(
                "all requested parameters are known exactly",
                remedy="give them a prior standard deviation, or choose other parameters",
            )
        value, middle = self._measured(J, columns)
        if self.options.log and self.name != "d":
            value, middle = float(np.log(value)), middle / value
        by_A = -2 * found.U @ (middle @ found.T.T)
        return value, by_A.reshape(W.shape) * weights

    def look(self, W: Floats, known: Floats) -> Look:
        """Return value and gradients; known forces do not count."""
        return Look(*self.value_and_gradient(W), np.zeros_like(known))

    def _measured(self, J: Floats, columns: Floats) -> tuple[float, Floats]:
        """Return the value and Jᵀ Ψ J."""
        if self._measure is trace:  # needs no singular values
            return trace_of(J)
        s = spread(J, columns)
        value, omega = self._measure(s)
        return value, s.Q @ omega @ s.Q.T

    @cached_property
    def _measure(self) -> Measure:
        return mixture(*self.options.mix) if self.name == "mixture" else MEASURES[self.name]

    @cached_property
    def prior_factor(self) -> Floats | None:
        """F of the prior P = F Fᵀ, in the units of the parameters; None without one."""
        if self.options.prior is None:
            return None
        F = prior_factor(np.asarray(self.options.prior, dtype=float))
        return F if self.options.scales is None else F / self.options.scales[:, None]

    def _weights(self, W: Floats, noise: Floats | None) -> Floats:
        """Return what multiplies the entries of W_b, (n_i, b)."""
        o = self.options
        n_i, b = W.shape[1:]
        sigma = np.ones(n_i) if noise is None else np.asarray(noise, dtype=float)
        scales = np.ones(b) if o.scales is None else np.asarray(o.scales, dtype=float)
        prior = b if o.prior is None else len(o.prior)
        targets = b if o.targets is None else o.targets.shape[1]
        if sigma.shape != (n_i,) or scales.shape != (b,) or prior != b or targets != b:
            raise DataError(
                f"W must fit {sigma.size} forces and {scales.size}, {prior}, {targets} "
                f"parameters (scales, prior, targets), got {n_i} forces and {b} parameters"
            )
        return np.asarray(np.sqrt(o.repeats) * np.outer(1 / sigma, scales))

    def _wanted(self, found: Root) -> tuple[Floats, Floats]:
        """Return J = H T without what is known exactly, and the lengths of its columns of A."""
        o = self.options
        if o.targets is not None:
            H = o.targets if o.scales is None else o.targets * o.scales
            J, columns = H @ found.T, np.zeros(len(H))
        else:
            places = slice(None) if o.subset is None else list(o.subset)
            J, columns = found.T[places], found.columns[places]
        kept = np.linalg.norm(J, axis=1) > 0
        return J[kept], columns[kept]
