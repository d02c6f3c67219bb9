"""Several logs against each other: each predicted from the others, and estimates of each alone.

Errors of a model are not noise: they look different in another motion. Estimates from different
logs then differ by more than their standard deviations say, which no test on one log shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mechid.errors import DataError, MechidError
from mechid.estimation.estimate import Estimate
from mechid.estimation.estimator import Estimator
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Ints, Regression
from mechid.shown import Shown
from mechid.validation.blocks import log_folds

# Directions of less variance than this, relative to the largest, are rounding.
_RANK = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class LogSpread(Shown):
    """How much estimates from single logs differ, in standard deviations.

    Attributes
    ----------
    parameters : tuple of str
        Names of the b parameters.
    values, sigma : arrays (n_logs, b)
        Estimates from each log alone, and their standard deviations.
    z : array (pairs, b)
        Differences of two logs in units of their standard deviation, log 1 and 2, 1 and 3, …, 2
        and 3, …; NaN where the data of one of them do not determine the parameter.
    whitened : float
        Root mean square of the differences, whitened by their covariance; 1 is expected.
    """

    parameters: tuple[str, ...]
    values: Floats
    sigma: Floats
    z: Floats
    whitened: float

    @property
    def determined(self) -> tuple[str, ...]:
        """Parameters that at least two logs determine."""
        here = np.flatnonzero(np.isfinite(self.z).any(axis=0))
        return tuple(self.parameters[k] for k in here)

    @property
    def rms(self) -> float:
        """Root mean square of z, parameter by parameter; 1 is expected."""
        return float(np.sqrt(np.nanmean(self.z**2))) if np.isfinite(self.z).any() else np.nan

    @property
    def largest(self) -> tuple[str, float] | None:
        """The parameter that differs most, and its |z|."""
        if not np.isfinite(self.z).any():
            return None
        size = np.nanmax(np.where(np.isfinite(self.z), np.abs(self.z), 0.0), axis=0)
        k = int(np.argmax(size))
        return self.parameters[k], float(size[k])

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        return {
            "logs": len(self.values),
            "parameters": f"{len(self.determined)} of {len(self.parameters)} determined by data",
            "difference": f"{self.rms:.3g} standard deviations rms, {self.whitened:.3g} whitened",
            "largest": None if self.largest is None else "{}: {:.3g}".format(*self.largest),
        }


def between_logs(
    estimator: Estimator, regression: Regression, prior: Prior | None = None
) -> tuple[tuple[Estimate, ...], LogSpread]:
    """Estimate from each log alone; return the estimates, and how much they differ.

    Raises
    ------
    DataError
        If there is only one log; naming the log that does not suffice for the estimator.
    """
    logs = [fold.test for fold in log_folds(regression.logs)]
    found = _estimates(estimator, regression, prior, logs)
    return found, log_spread(found)


def without_each_log(
    estimator: Estimator, regression: Regression, prior: Prior | None = None
) -> tuple[Estimate, ...]:
    """Estimate without log 1, without log 2, … (leave-one-log-out).

    Raises
    ------
    DataError
        If there is only one log; naming the log without which the others do not suffice.
    """
    return _estimates(
        estimator, regression, prior, [fold.train for fold in log_folds(regression.logs)]
    )


def log_spread(estimates: Sequence[Estimate]) -> LogSpread:
    """Compare estimates of the same parameters from independent data.

    Parameters that are determined mainly by the prior do not count: it is the same for all.
    """
    names = estimates[0].parameters
    rows, chi2, dof = [], 0.0, 0
    for one, other in combinations(estimates, 2):
        difference = one.values - other.values
        covariance = one.covariance + other.covariance
        resting = {*one.resting, *other.resting}
        sigma = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        free = np.array([name not in resting for name in names]) & (sigma > 0)
        z = np.full(len(names), np.nan)
        z[free] = difference[free] / sigma[free]
        rows.append(z)
        scaled = covariance[np.ix_(free, free)] / np.outer(sigma[free], sigma[free])
        size, square = _whitened(z[free], scaled)
        chi2, dof = chi2 + square, dof + size
    return LogSpread(
        parameters=names,
        values=np.array([e.values for e in estimates]),
        sigma=np.array([e.sigma for e in estimates]),
        z=np.array(rows),
        whitened=float(np.sqrt(chi2 / dof)) if dof else np.nan,
    )


def _whitened(z: Floats, correlation: Floats) -> tuple[int, float]:
    """Return how many directions a correlation matrix has, and zᵀ C⁻¹ z."""
    if not z.size:
        return 0, 0.0
    variance, directions = np.linalg.eigh(correlation)
    there = variance > _RANK * variance[-1]
    along = directions[:, there].T @ z
    return int(np.count_nonzero(there)), float(np.sum(along**2 / variance[there]))


def _estimates(
    estimator: Estimator, regression: Regression, prior: Prior | None, parts: Sequence[Ints]
) -> tuple[Estimate, ...]:
    found = []
    for k, samples in enumerate(parts):
        try:
            found.append(estimator(regression.part(samples), prior))
        except MechidError as error:
            raise DataError(error.what, where=f"log {k + 1}", remedy=error.remedy) from error
    return tuple(found)
