"""Physically consistent estimates in unconstrained coordinates (Rucker and Wensing 2022).

All coordinates θ of `log_cholesky_coordinates` give physically consistent bodies. Minimised is the
distance from an unconstrained estimate in standard deviations, as in `physical`, less a small
multiple of log det S, which keeps the result inside where the nearest is at the boundary:

    ½ |A (φ(θ) - φ*)|² - μ Σ log det S,    AᵀA the inverse of the covariance of φ.

Newton's method, with μ made smaller step by step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mechid.errors import DataError, MechidError
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.bodies import column_sizes, with_thickness
from mechid.estimation.completion import complete
from mechid.estimation.cone import Cone, Consistent
from mechid.estimation.estimate import Estimate
from mechid.estimation.estimator import Estimator
from mechid.estimation.log_cholesky_coordinates import LogCholeskyCoordinates
from mechid.estimation.physical import moved, required, shift_words
from mechid.estimation.prior import Prior
from mechid.estimation.recover import recover
from mechid.estimation.regression import Floats, Regression

BARRIER = 1e-6  # μ, against half a squared standard deviation
_START = 1e-3  # margin: how far inside the search begins, in units of the CAD values
_EXACT = 1e-6  # of its size: what is known exactly may deviate so much
_SHORTEST = 1e-6
_STEPS = 200


@dataclass(frozen=True)
class LogCholesky:
    """Another estimator, in coordinates in which every body is physically consistent.

    The covariance is that of the other estimator: mapped there and back to first order it is the
    same. `full` of the result holds all parameters, strictly inside.

    Attributes
    ----------
    inner : Estimator
        Whose estimate is constrained.
    scale : float
        As for `PhysicallyConsistent`.
    barrier : float
        μ.
    """

    inner: Estimator = field(default_factory=MaximumAPosteriori)
    scale: float = np.inf
    barrier: float = BARRIER
    name: str = "log-cholesky"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate."""
        if not (self.scale > 0 and 0 < self.barrier < np.inf):
            raise DataError(
                f"scale and barrier must be > 0, got {self.scale:g} and {self.barrier:g}"
            )
        known = required(prior, self.name)
        free = self.inner(regression, known)
        known = with_thickness(known.select(free.parameters))
        start = complete(known, free.values)
        phi, scale = start.phi, self.scale
        if np.isinf(scale):
            # What the forces do not determine stays near the solution of the semidefinite program.
            near = recover(known, free.values, free.covariance)
            phi, scale = near.phi + start.gain @ (free.values - near.values), 1.0
        found = refine(known, phi, start.root(free.covariance, scale), self.barrier)
        words = (*start.warnings, *shift_words(free, known, found))
        return moved(free, regression, known, found.phi, self.name, words)


def refine(prior: Prior, phi: Floats, T: Floats, barrier: float = BARRIER) -> Consistent:
    """Return the physically consistent parameters nearest to φ* (p,) with covariance T Tᵀ, strictly
    inside.

    The search begins at the solution of the semidefinite program.

    Raises
    ------
    DataError
        If there are none.
    MechidError
        If the search does not converge.
    """
    begin = Cone(prior, _START).nearest(phi, T) or Cone(prior).nearest(phi, T)
    chart = LogCholeskyCoordinates(prior, phi, np.any(T != 0, axis=1))
    theta = None if begin is None else chart.coordinates(begin.phi)
    if theta is None:
        raise DataError(
            "no physically consistent parameters are near the estimate",
            remedy="declare standard deviations of the CAD values, or their relative error",
        )
    A = _whitener(prior, T)
    weight = max(barrier, 1.0)
    while True:
        # From the middle to the boundary, as interior-point methods do.
        theta = _newton(_Objective(chart, A, phi, weight), theta, 0.01 * weight)
        if weight <= barrier:
            break
        weight = max(barrier, weight / 10)
    reached = chart.parameters(theta)
    distance = float(np.linalg.norm(A @ (reached - phi)))
    return Consistent(reached, distance, Cone(prior).border(reached))


@dataclass(frozen=True, eq=False)
class _Objective:
    """½ |A (φ(θ) - φ*)|² - μ Σ log det S."""

    chart: LogCholeskyCoordinates
    A: Floats
    phi: Floats
    barrier: float

    def value(self, theta: Floats) -> float:
        r = self.A @ (self.chart.parameters(theta) - self.phi)
        return 0.5 * float(r @ r) - self.barrier * float(self.chart.logarithms @ theta)

    def derivatives(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return the slope, and the second derivative that it has where S, not θ, is linear."""
        r = self.A @ (self.chart.parameters(theta) - self.phi)
        AJ = self.A @ self.chart.jacobian(theta)
        slope = AJ.T @ r - self.barrier * self.chart.logarithms
        return slope, AJ.T @ AJ + self.barrier * self.chart.metric(theta)


def _newton(objective: _Objective, theta: Floats, enough: float) -> Floats:
    """Return the minimum by Newton's method, which ends when the expected decrease is below
    tolerance.

    In S the objective is convex, and near the minimum the two second derivatives are the same.
    Steps are straight in φ: on a curve, forces that are known well would change.
    """
    chart, value = objective.chart, objective.value(theta)
    for _ in range(_STEPS):
        slope, H = objective.derivatives(theta)
        step = -cho_solve(cho_factor(H), slope)
        if -slope @ step <= enough:
            return theta
        phi = chart.parameters(theta)
        along = chart.jacobian(theta) @ step
        length = 1.0
        while length > _SHORTEST:
            tried = chart.coordinates(phi + length * along)
            if tried is not None and objective.value(tried) < value:
                break
            length /= 2
        else:
            return theta  # the remaining decrease is below rounding
        theta, value = tried, objective.value(tried)
    raise MechidError(
        "the search in log-Cholesky coordinates does not converge",
        remedy="use the estimator physical instead",
    )


def _whitener(prior: Prior, T: Floats) -> Floats:
    """Return A with AᵀA the inverse of T Tᵀ; exact prior values are treated as nearly exact."""
    sizes = column_sizes(prior)
    whole = np.hstack([T / sizes[:, None], _EXACT * np.eye(len(sizes))])
    U, s, _ = np.linalg.svd(whole, full_matrices=False)
    return np.asarray((U / s).T / sizes)
