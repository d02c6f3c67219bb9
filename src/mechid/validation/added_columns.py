"""What a further column would add to a fitted linear problem, with samples that are correlated.

A column z with an unknown factor c is tried beside the parameters: what the parameters (with their
prior) can imitate of z is taken out, and c follows from what is left of z and the residuals. Sums
over blocks of time give the standard deviation of c: they stay independent where neighbouring
samples are not, and the noise may differ from block to block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr

from mechid.estimation.linear import full_svd, lengths, prior_factor, rank_floor
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Bools, Floats, Ints, Regression

# Blocks of time of all logs together: more give a sharper test, but they must be longer than the
# memory of the residuals, by this factor.
_BLOCKS, _FEWEST = 16, 4
_LONGER = 5.0
# A column of which the parameters imitate all but this fraction cannot be told from them.
_IMITATED = 1e-3


@dataclass(frozen=True, eq=False)
class FittedProblem:
    """A linear problem after its fit, rows in units of the noise.

    Attributes
    ----------
    regression : Regression
    noise : array (n_d,)
        Standard deviations that rows are divided by, N or N m.
    Q : array (m + r, k)
        Orthonormal columns that span the problem; the last r rows are those of the prior.
    e : array (m + r,)
        Residuals.
    block : array (m,)
        Block of time of each valid row.
    """

    regression: Regression
    noise: Floats
    Q: Floats
    e: Floats
    block: Ints

    def rows(self, columns: Floats) -> Floats:
        """Return columns (N, n_d, c) of forces as rows in units of the noise, (m + r, c)."""
        scaled = (columns / self.noise[:, None])[self.regression.valid]
        return np.pad(scaled, ((0, len(self.e) - len(scaled)), (0, 0)))

    @property
    def squares(self) -> float:
        """Sum of squares of what is left, in units of the noise, with that of the prior."""
        return float(self.e @ self.e)

    def residuals(self) -> Floats:
        """Return what is left of the forces, (N, n_d), N or N m; NaN where nothing is valid."""
        m = len(self.block)
        return self.regression.unstacked(self.e[:m]) * self.noise


@dataclass(frozen=True, eq=False)
class Added:
    """What single columns add, each tried on its own.

    Attributes
    ----------
    factor : array (c,)
        0 for a column that the parameters imitate.
    sigma : array (c,)
    p : array (c,)
        Probability of a factor as large as this where there is none.
    gain : array (c,)
        Decrease of the sum of squares, in units of the noise.
    whole : array (c,)
        Sum of squares of the columns times their factors, in units of the noise, with what the
        parameters imitate of them: far more than the gain for a column that they hardly leave.
    """

    factor: Floats
    sigma: Floats
    p: Floats
    gain: Floats
    whole: Floats


def fitted_problem(
    regression: Regression, noise: Floats, prior: Prior | None = None, *, scale: float = 1.0
) -> FittedProblem:
    """Fit a problem by least squares, with a prior whose standard deviations are scaled.

    Parameters
    ----------
    regression : Regression
    noise : array (n_d,)
        Standard deviation of each force, N or N m.
    prior : Prior, optional
    scale : float
    """
    A, target, channel = regression.stacked()
    A, target = A / noise[channel, None], target / noise[channel]
    if prior is None:
        full = A / lengths(A)
        t = target
    else:
        known = prior.select(regression.parameters)
        F = scale * prior_factor(known.base_covariance)
        full = np.vstack([A @ F, np.eye(F.shape[1])])
        t = np.concatenate([target - A @ known.mean, np.zeros(F.shape[1])])
    U, s, _ = full_svd(full)
    Q = U[:, s > rank_floor(full, s)]
    found = FittedProblem(regression, noise, Q, t - Q @ (Q.T @ t), np.zeros(len(target), np.int64))
    return in_blocks(found, found)


def in_blocks(problem: FittedProblem, fitted: FittedProblem) -> FittedProblem:
    """Return a problem in blocks of time as the residuals of a further fit require them."""
    shape = problem.regression.valid.shape
    block = np.broadcast_to(time_blocks(problem.regression, fitted.residuals())[:, None], shape)
    return replace(problem, block=block[problem.regression.valid])


def time_blocks(regression: Regression, residuals: Floats) -> Ints:
    """Return the block of time of each sample, (N,); a block lies in one log.

    Blocks are longer than the memory of residuals (N, n_d), NaN where nothing is valid.
    """
    logs = regression.logs
    names, counts = np.unique(logs, return_counts=True)
    most = len(logs) / (_LONGER * memory(residuals, logs))
    each = max(int(np.clip(most, _FEWEST, _BLOCKS)) // len(names), 1)
    found = np.empty(len(logs), dtype=np.int64)
    for k, (name, n) in enumerate(zip(names, counts, strict=True)):
        found[logs == name] = k * each + np.arange(n) * each // n
    return found


def memory(residuals: Floats, logs: Ints) -> float:
    """Return over how many samples residuals (N, n_d) are correlated, by that of neighbours.

    (1 + r)/(1 - r) is by how much the variance of a mean grows for noise with the correlation r.
    """
    there = np.isfinite(residuals)
    pairs = there[1:] & there[:-1] & (logs[1:] == logs[:-1])[:, None]
    x = np.where(there, residuals, 0.0)
    both = np.sum(np.where(pairs, x[1:] * x[:-1], 0.0), axis=0)
    size = np.sum(np.where(pairs, x[1:] ** 2 + x[:-1] ** 2, 0.0), axis=0) / 2
    r = np.clip(both / np.where(size > 0, size, 1.0), 0.0, 0.99)
    return float(np.max((1 + r) / (1 - r), initial=1.0))


def try_columns(problem: FittedProblem, columns: Floats) -> Added:
    """Return what each of some columns (N, n_d, c) would add, alone."""
    Z = problem.rows(columns)
    size = np.sum(Z**2, axis=0)
    Z = Z - problem.Q @ (problem.Q.T @ Z)
    energy = np.sum(Z**2, axis=0)
    told = energy > _IMITATED**2 * size
    factor = np.where(told, (Z.T @ problem.e) / np.where(told, energy, 1.0), 0.0)
    m = len(problem.block)
    K = int(problem.block.max(initial=0)) + 1
    scores, weights = np.zeros((2, K, Z.shape[1]))
    np.add.at(scores, problem.block, Z[:m] * (problem.e[:m, None] - Z[:m] * factor))
    np.add.at(weights, problem.block, Z[:m] ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        # A block that dominates the fit has small residuals: as if it were left out (jackknife).
        scores = scores / (1.0 - weights / energy)
        # Rows of the prior have the variance that is declared.
        variance = np.sum(scores**2, axis=0) + np.sum(Z[m:] ** 2, axis=0)
        sigma = np.where(told, np.sqrt(variance) / energy, np.inf)
        ratio = np.where(told & (factor != 0), np.abs(factor) / sigma, 0.0)
        # Blocks count as they contribute: what a single one shows is no evidence.
        count = np.where(told, np.sum(weights, axis=0) ** 2 / np.sum(weights**2, axis=0), 2.0)
    p = 2.0 * stdtr(np.maximum(count - 1.0, 1.0), -np.nan_to_num(ratio))
    return Added(factor, sigma, p, factor**2 * energy, factor**2 * size)


def imitated(regression: Regression, columns: Floats) -> Bools:
    """Return which columns (N, n_d, c) of forces are combinations of those of the parameters."""
    A, Z = regression.stacked()[0], columns[regression.valid]
    A = A / lengths(A)
    rest = np.linalg.norm(Z - A @ np.linalg.lstsq(A, Z, rcond=None)[0], axis=0)
    return np.asarray(rest <= _IMITATED * np.linalg.norm(Z, axis=0))


def with_column(problem: FittedProblem, columns: Floats) -> FittedProblem:
    """Return the problem with further columns (N, n_d, c) as parameters without a prior."""
    Q, e = problem.Q, problem.e
    for z in problem.rows(columns).T:
        rest = z - Q @ (Q.T @ z)
        rest = rest - Q @ (Q.T @ rest)
        length = np.linalg.norm(rest)
        if length > _IMITATED * np.linalg.norm(z):
            q = rest / length
            Q, e = np.column_stack([Q, q]), e - q * (q @ e)
    return replace(problem, Q=Q, e=e)


def without_forces(problem: FittedProblem, forces: Floats) -> FittedProblem:
    """Return the problem after forces (N, n_d) that are known were taken from the measured ones."""
    z = problem.rows(forces[..., None])[:, 0]
    return replace(problem, e=problem.e - z + problem.Q @ (problem.Q.T @ z))


def stacked_columns(columns: Sequence[Floats], shape: tuple[int, int]) -> Floats:
    """Return columns (N, n_d) each as one array (N, n_d, c)."""
    return np.stack(columns, axis=-1) if columns else np.zeros((*shape, 0))
