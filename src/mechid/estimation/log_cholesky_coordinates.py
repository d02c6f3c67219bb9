"""Coordinates in which every body is physically consistent (Rucker and Wensing 2022).

The pseudo-inertia of a body in units of CAD is S = U Uᵀ with U upper triangular and exponentials on
its diagonal; positive coefficients are exponentials; other parameters are as they are.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mechid.estimation.bodies import body_scales, column_sizes, scaled
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Bools, Floats, Ints
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
