"""Further columns of a linear problem, chosen by how well blocks of time held out are predicted.

In every fold all columns and the forces are fitted by the parameters once, with their prior; what
is left is all that matters afterwards, and a column that is taken is removed from the others by one
projection. So trying many columns costs hardly more than one fit per fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.estimation.linear import prior_factor
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Ints, Regression
from mechid.validation.blocks import Fold
from mechid.validation.crossvalidate import standard_error

# A column must improve the mean square of held-out errors by this fraction at least, and by this
# many standard errors: of many useless ones the best improves it a little by chance.
_IMPROVES, _SURE = 0.02, 2.0
_IMITATED = 1e-6


@dataclass(frozen=True, eq=False)
class ChosenColumns:
    """Columns in the order in which they were taken.

    Attributes
    ----------
    columns : tuple of int
        Without those that were fixed.
    errors : array (k + 1, folds)
        Mean squares of what was not predicted, in units of the noise, before the first column and
        after each.
    """

    columns: tuple[int, ...]
    errors: Floats

    @property
    def before(self) -> float:
        """Held-out error without any of the columns, rms in units of the noise."""
        return float(np.sqrt(np.mean(self.errors[0])))

    @property
    def after(self) -> float:
        """Held-out error with all of them."""
        return float(np.sqrt(np.mean(self.errors[-1])))


def choose_columns(
    regression: Regression,
    columns: Floats,
    noise: Floats,
    folds: Sequence[Fold],
    prior: Prior | None = None,
    *,
    fixed: int = 0,
    positive: Sequence[int] = (),
    most: int = 40,
) -> ChosenColumns:
    """Choose columns one after the other, as long as held-out errors decrease.

    Parameters
    ----------
    regression : Regression
    columns : array (N, n_d, c)
        Forces per unit of an unknown factor.
    noise : array (n_d,)
        Standard deviation of each force, N or N m.
    folds : sequence of Fold
    prior : Prior, optional
        Of the parameters; the factors have none.
    fixed : int
        How many of the first columns are taken in any case.
    positive : sequence of int
        Columns whose factors cannot be negative.
    most : int
        Further columns to take at most.
    """
    parts = [_Part(regression, columns, noise, fold, prior, positive) for fold in folds]
    for part in parts:
        for k in range(fixed):
            part.take(k)
    errors = [np.array([part.error() for part in parts])]
    taken: list[int] = []
    while len(taken) < min(most, columns.shape[-1] - fixed):
        others = np.setdiff1d(np.arange(columns.shape[-1]), [*range(fixed), *taken])
        tried = np.array([part.tried()[others] for part in parts])
        better = errors[-1][:, None] - tried
        mean = np.mean(better, axis=0)
        # The best one may be doubtful where another is sure.
        least = np.maximum(_SURE * standard_error(better), _IMPROVES * np.mean(errors[-1]))
        if not np.any(mean > least):
            break
        best = int(others[np.argmax(np.where(mean > least, mean, -np.inf))])
        for part in parts:
            part.take(best)
        taken.append(best)
        errors.append(np.array([part.error() for part in parts]))
    return ChosenColumns(tuple(taken), np.array(errors))


class _Part:
    """What is left of forces and columns in a fold: e (m,) and Z (m, c), fitted and predicted."""

    def __init__(
        self,
        r: Regression,
        columns: Floats,
        noise: Floats,
        fold: Fold,
        prior: Prior | None,
        positive: Sequence[int],
    ) -> None:
        def rows(samples: Ints) -> tuple[Floats, Floats]:
            valid = r.valid[samples]
            A = (r.W[samples] / noise[:, None])[valid]
            Z = (columns[samples] / noise[:, None])[valid]
            t = (r.target[samples] / noise)[valid]
            if prior is not None:
                known = prior.select(r.parameters)
                t, A = t - A @ known.mean, A @ prior_factor(known.base_covariance)
            return A, np.column_stack([t, Z])

        A, X = rows(fold.train)
        B, Y = rows(fold.test)
        if prior is not None:
            n = A.shape[1]
            A, X = np.vstack([A, np.eye(n)]), np.vstack([X, np.zeros((n, X.shape[1]))])
        factors = np.linalg.lstsq(A, X, rcond=None)[0]
        sizes = np.linalg.norm(X[:, 1:], axis=0)
        self._train, self._test = X - A @ factors, Y - B @ factors
        self._told = np.linalg.norm(self._train[:, 1:], axis=0) > _IMITATED * np.maximum(
            sizes, np.finfo(float).tiny
        )
        self._least = np.full(columns.shape[-1], -np.inf)
        self._least[list(positive)] = 0.0

    def error(self) -> float:
        return float(np.mean(self._test[:, 0] ** 2)) if len(self._test) else 0.0

    def tried(self) -> Floats:
        """Return the error with each of the columns, (c,)."""
        e, Z = self._train[:, 0], self._train[:, 1:]
        factor = np.maximum(self._factors(Z.T @ e, np.sum(Z**2, axis=0)), self._least)
        test = self._test[:, :1] - self._test[:, 1:] * factor
        return np.asarray(np.mean(test**2, axis=0)) if len(test) else np.zeros(Z.shape[1])

    def take(self, column: int) -> None:
        """Fit one of the columns, too."""
        z, y = self._train[:, 1 + column].copy(), self._test[:, 1 + column].copy()
        factor = (
            (self._train.T @ z) / (z @ z) if self._told[column] else np.zeros(self._train.shape[1])
        )
        self._train = self._train - np.outer(z, factor)
        self._test = self._test - np.outer(y, factor)
        self._told[column] = False

    def _factors(self, above: Floats, below: Floats) -> Floats:
        told = self._told & (below > 0)
        return np.where(told, above / np.where(told, below, 1.0), 0.0)
