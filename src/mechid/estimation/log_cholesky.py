"""Physically consistent estimates in unconstrained coordinates (Rucker and Wensing 2022).

All coordinates θ of `log_cholesky_coordinates` give physically consistent bodies. Minimised is the
distance from an unconstrained estimate in standard deviations, as in `physical`, less a small
multiple of log det S, which keeps the result inside where the nearest is at the boundary:

    ½ |A (φ(θ) - φ*)|² - μ Σ log det S,    AᵀA the inverse of the covariance of φ.

Newton's method, with μ made smaller step by step.

Coordinates in which every body is physically consistent (Rucker and Wensing 2022).

The pseudo-inertia of a body in units of CAD is S = U Uᵀ with U upper triangular and exponentials on
its diagonal; positive coefficients are exponentials; other parameters are as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mechid.errors import DataError, MechidError
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.bodies import body_scales, column_sizes, scaled, with_thickness
from mechid.estimation.completion import complete
from mechid.estimation.cone import Cone, Consistent
from mechid.estimation.estimate import Estimate
from mechid.estimation.estimator import Estimator
from mechid.estimation.physical import moved, required, shift_words
from mechid.estimation.prior import Prior
from mechid.estimation.recover import recover
from mechid.estimation.regression import Bools, Floats, Ints, Regression
from mechid.spatial.inertia import from_pseudo_inertia

_I, _J = np.triu_indices(4)
_DIAGONAL = np.flatnonzero(_I == _J)


class LogCholeskyCoordinates:
    """Coordinates θ of all parameters: ten of each body, logarithms, and plain numbers.

    Parameters
    ----------
    prior : Prior
    phi : array (p,)
        Values of what does not change.
    open_ : array (p,) of bool
        What changes.
    """

    def __init__(self, prior: Prior, phi: Floats, open_: Bools) -> None:
        self._phi = phi
        self._scales = body_scales(prior)
        self._bodies = [first for _, first in prior.bodies]
        inside = {k for first in self._bodies for k in range(first, first + 10)}
        self._positive = _ints(k for k in prior.positive if open_[k])
        taken = inside | set(prior.positive)
        self._plain = _ints(k for k in np.flatnonzero(open_).tolist() if k not in taken)
        # φ of a body from S, entry by entry: φ = M vec(S).
        self._maps = [_from_scaled(L) for L in self._scales]
        self._sizes = column_sizes(prior)
        n = 10 * len(self._bodies)
        self.n = n + len(self._positive) + len(self._plain)
        self._ends = (n, n + len(self._positive))
        self.logarithms = np.zeros(self.n)
        for i in range(len(self._bodies)):
            self.logarithms[10 * i + _DIAGONAL] = 2.0  # log det S = 2 Σ log diagonal
        self.logarithms[self._ends[0] : self._ends[1]] = 1.0

    def coordinates(self, phi: Floats) -> Floats | None:
        """Return θ of parameters, or None for inconsistent ones."""
        theta = np.empty(self.n)
        if np.any(phi[self._positive] <= 0):
            return None
        for i, (first, L) in enumerate(zip(self._bodies, self._scales, strict=True)):
            S = scaled(phi[first : first + 10], L)
            # Upper triangular: Cholesky from the last row on.
            try:
                U = np.linalg.cholesky(S[::-1, ::-1])[::-1, ::-1]
            except np.linalg.LinAlgError:
                return None
            ten = U[_I, _J]
            ten[_DIAGONAL] = np.log(ten[_DIAGONAL])
            theta[10 * i : 10 * i + 10] = ten
        a, b = self._ends
        theta[a:b] = np.log(phi[self._positive] / self._sizes[self._positive])
        theta[b:] = (phi - self._phi)[self._plain] / self._sizes[self._plain]
        return theta

    def parameters(self, theta: Floats) -> Floats:
        """Return φ (p,)."""
        phi = self._phi.astype(theta.dtype)
        for i, (first, M) in enumerate(zip(self._bodies, self._maps, strict=True)):
            U = _upper(theta[10 * i : 10 * i + 10])
            phi[first : first + 10] = M @ (U @ U.T).ravel()
        a, b = self._ends
        phi[self._positive] = self._sizes[self._positive] * np.exp(theta[a:b])
        phi[self._plain] = self._phi[self._plain] + self._sizes[self._plain] * theta[b:]
        return phi

    def jacobian(self, theta: Floats) -> Floats:
        """Return ∂φ/∂θ, (p, n)."""
        J = np.zeros((len(self._phi), self.n))
        for i, (first, M) in enumerate(zip(self._bodies, self._maps, strict=True)):
            U = _upper(theta[10 * i : 10 * i + 10])
            dS = _changes(U) @ U.T
            dS = dS + dS.transpose(0, 2, 1)
            J[first : first + 10, 10 * i : 10 * i + 10] = M @ dS.reshape(10, 16).T
        a, b = self._ends
        J[self._positive, np.arange(a, b)] = self._sizes[self._positive] * np.exp(theta[a:b])
        J[self._plain, np.arange(b, self.n)] = self._sizes[self._plain]
        return J

    def metric(self, theta: Floats) -> Floats:
        """Return tr(S⁻¹ ∂S S⁻¹ ∂S) of the bodies, and 1 for logarithms, (n, n).

        It is the second derivative of -log det S by S itself, in these coordinates.
        """
        H = np.zeros((self.n, self.n))
        for i in range(len(self._bodies)):
            U = _upper(theta[10 * i : 10 * i + 10])
            E = np.array([np.linalg.solve(U, dU) for dU in _changes(U)])
            E = (E + E.transpose(0, 2, 1)).reshape(10, 16)
            H[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] = E @ E.T
        places = np.arange(*self._ends)
        H[places, places] = 1.0
        return H


def _upper(theta: Floats) -> Floats:
    U = np.zeros((4, 4), dtype=theta.dtype)
    U[_I, _J] = theta
    U[range(4), range(4)] = np.exp(theta[_DIAGONAL])
    return U


def _changes(U: Floats) -> Floats:
    """Return ∂U/∂θ, (10, 4, 4)."""
    found = np.zeros((10, 4, 4))
    found[range(10), _I, _J] = np.where(_I == _J, U[_I, _J], 1.0)
    return found


def _from_scaled(L: Floats) -> Floats:
    units = np.eye(16).reshape(16, 4, 4)
    return np.array([from_pseudo_inertia(L @ ((E + E.T) / 2) @ L.T) for E in units]).T


def _ints(numbers: Iterable[int]) -> Ints:
    return np.array(list(numbers), dtype=np.int64)


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
