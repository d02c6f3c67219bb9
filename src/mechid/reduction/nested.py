"""Many nested problems from one factorisation.

With the columns of A in the order in which they are kept, A = Q R, the problem of the first k
columns is that of the k by k corner of R. A small singular value decomposition of it gives the
condition number and the least-squares solution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from mechid.errors import DataError
from mechid.estimation.estimator import Estimator
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.linear import condition
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.reduction.rest import Rest, rest_values, restrict

# Number of estimated parameters → values (b,) of all of them, offsets (n_d,) of the forces.
Fit: TypeAlias = Callable[[int], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Triangle:
    """R (b, b) and Qᵀ t (b,) of A = Q R, A (rows, b)."""

    R: Floats
    c: Floats
    rows: int

    @staticmethod
    def of(regression: Regression, order: Sequence[str]) -> Triangle:
        """Factorise a problem with its columns in some order."""
        A, t, _ = regression.select(order).stacked()
        R = np.asarray(np.linalg.qr(np.column_stack([A, t]), mode="r"))
        b = A.shape[1]
        return Triangle(R[:b, :b], R[:b, b], len(t))

    def solve(self, k: int, fixed: Floats) -> Floats:
        """Return the least-squares solution of the first k parameters, the others as given (b,).

        What rounding hides stays zero, as in `least_squares` of all rows.
        """
        if self.rows < k:
            raise DataError(
                f"{self.rows} measured values are too few for {k} parameters",
                remedy="measure longer, or reduce the model further",
            )
        d = np.linalg.norm(self.R[:k, :k], axis=0)
        d = np.where(d > 0, d, 1.0)
        U, s, Vh = np.linalg.svd(self.R[:k, :k] / d)
        seen = s > max(self.rows, k) * float(np.finfo(float).eps) * (s[0] or 1.0)
        target = self.c[:k] - self.R[:k, k:] @ fixed[k:]
        x = (Vh.T @ np.where(seen, (U.T @ target) / np.where(seen, s, 1.0), 0.0)) / d
        return np.concatenate([x, fixed[k:]])

    def condition(self, k: int) -> float:
        """Return the condition number of the first k columns, of unit length."""
        return condition(self.R[:k, :k])

    def raw_condition(self, k: int) -> float:
        """Return the condition number of the first k columns as they are."""
        s = np.linalg.svd(self.R[:k, :k], compute_uv=False)
        return float(s[0] / s[-1]) if s[-1] > 0 else np.inf


def fit_of(
    estimator: Estimator,
    regression: Regression,
    order: Sequence[str],
    *,
    rest: Rest = "zero",
    prior: Prior | None = None,
) -> Fit:
    """Return a function of k: values (b,) of all parameters, in that order, the first k estimated,
    and the offsets (n_d,) of the forces that were estimated besides.

    Plain least squares shares one factorisation; other estimators are called for each k.
    """
    fixed = rest_values(order, rest, prior)
    none = np.zeros(len(regression.channels))
    if isinstance(estimator, OrdinaryLeastSquares) and estimator.offsets is None:
        triangle = Triangle.of(regression, order)
        return lambda k: (triangle.solve(k, fixed), none)

    def fit(k: int) -> tuple[Floats, Floats]:
        kept = tuple(order[:k])
        problem = restrict(regression, kept, rest=rest, prior=prior)
        known = None if prior is None else prior.select(kept)
        found = estimator(problem, known)
        offset = none if found.errors is None else found.errors.offset
        return np.concatenate([found.values, fixed[k:]]), offset

    return fit
