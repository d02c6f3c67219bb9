"""From base values to all parameters: the CAD values determine the rest.

CAD: φ ~ (φ0, P). Base values x = B φ, known with covariance C. The rest follows CAD: given x, φ has
mean φ0 + K (x - x0), K = P Bᵀ (B P Bᵀ)⁺, and covariance P - K B P. So all parameters together have

    mean φ* = φ0 + K (x - x0),    covariance K C Kᵀ + s² (P - K B P) = T Tᵀ,

with a factor s on the standard deviations of what the forces do not determine. Estimators with the
full prior have exactly this posterior; for others it combines base values and CAD.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.estimation.linear import prior_factor
from mechid.estimation.perturb import body_root
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats

_ROUNDING = float(np.finfo(float).eps)
_REACHED = 1e-9  # of the terms of a base parameter and of its standard deviation
_USUAL = 0.2  # relative error given to values declared exact that contradict the data
_SLIGHT = 0.01  # part of it


@dataclass(frozen=True, eq=False)
class Completion:
    """All parameters, as base values and CAD say.

    Attributes
    ----------
    phi : array (p,)
        φ*, nearest to CAD among those that have the base values.
    gain : array (p, b)
        K: what base values do to them.
    rest : array (p, r)
        Root of their covariance given the base values: B rest = 0.
    warnings : tuple of str
    """

    phi: Floats
    gain: Floats
    rest: Floats
    warnings: tuple[str, ...] = ()

    def root(self, covariance: Floats, scale: float = 1.0) -> Floats:
        """Return T (p, …) for base values with this covariance (b, b)."""
        return np.hstack([self.gain @ prior_factor(covariance), scale * self.rest])


def complete(prior: Prior, values: Floats) -> Completion:
    """Return the parameters that have these base values (b,).

    Where exact CAD values or measured constraints contradict them, there is a warning: bodies and
    coefficients without standard deviations get 20 %, and if that does not suffice, all get 0.2 %
    more.

    Raises
    ------
    DataError
        If no parameters at all have these base values.
    """
    x = np.asarray(values, dtype=float)
    if x.shape != (len(prior.base),):
        raise DataError(f"base values must have shape ({len(prior.base)},), got {x.shape}")
    if not np.all(np.isfinite(x)):
        name = prior.base[int(np.argmin(np.isfinite(x)))]
        raise DataError(f"the base value of {name} must be finite")
    found = _complete(prior, prior.covariance, x)
    if found is not None:
        return found
    usual = _usual(prior)
    undeclared = usual * (_block_sums(prior) == 0)
    for extra in (undeclared, undeclared + _SLIGHT**2 * usual):
        found = _complete(prior, prior.covariance + extra, x)
        if found is not None:
            words = "exact CAD values or measured constraints contradict the base values: relaxed"
            return Completion(found.phi, found.gain, found.rest, (words,))
    raise DataError(
        "no parameters of the model have these base values",
        remedy="declare standard deviations of the CAD values, or their relative error",
    )


def _complete(prior: Prior, P: Floats, x: Floats) -> Completion | None:
    B, F = prior.matrix, prior_factor(P)
    M = B @ F
    size = np.linalg.norm(M, axis=1)
    size = np.where(size > 0, size, 1.0)
    U, s, Vh = np.linalg.svd(M / size[:, None], full_matrices=True)
    rank = int(np.count_nonzero(s > max(M.shape) * _ROUNDING * np.max(s, initial=0.0)))
    gain = F @ (Vh[:rank].T / s[:rank]) @ (U[:, :rank].T / size)
    phi = prior.values + gain @ (x - prior.mean)
    # Once more with what rounding left.
    phi = phi + gain @ (x - B @ phi)
    terms = np.abs(B) @ np.abs(phi) + np.abs(x) + np.linalg.norm(M, axis=1)
    if np.any(np.abs(x - B @ phi) > _REACHED * terms):
        return None
    return Completion(phi, gain, F @ Vh[rank:].T)


def _usual(prior: Prior) -> Floats:
    """Return the covariance (p, p) of all parameters with an error of 20 %."""
    P = np.diag((_USUAL * prior.values) ** 2)
    for _, first in prior.bodies:
        ten = slice(first, first + 10)
        F = body_root(prior.values[ten], _USUAL)
        P[ten, ten] = F @ F.T
    return np.asarray(P)


def _block_sums(prior: Prior) -> Floats:
    """Return (p, 1): zero in the rows of bodies and coefficients without declared standard
    deviations."""
    declared = np.diag(prior.covariance).copy()
    for _, first in prior.bodies:
        declared[first : first + 10] = np.sum(declared[first : first + 10])
    return declared[:, None]
