"""Units in which parameters are about one: pseudo-inertia as L S Lᵀ, with S = 1 in CAD."""

from __future__ import annotations

import numpy as np

from mechid.errors import DataError
from mechid.estimation.perturb import body_root
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats
from mechid.spatial.inertia import pseudo_inertia

# Second moments below this fraction of the largest: a flat body, with a thickness of a thousandth.
_FLAT = 1e-6


def body_scale(phi: Floats) -> Floats:
    """Return L (4, 4) of a body φ (10,): Σ = L Lᵀ, but for directions in which it is flat.

    Raises
    ------
    DataError
        If the mass or the extension of the body is not positive.
    """
    S = pseudo_inertia(phi)
    m, second = S[3, 3], np.trace(S[:3, :3])
    if not (m > 0 and second > 0):
        raise DataError("mass and second moments are not positive")
    d = np.append(np.full(3, np.sqrt(second)), np.sqrt(m))
    values, Q = np.linalg.eigh(S / np.outer(d, d))
    return np.asarray(d[:, None] * Q * np.sqrt(np.maximum(values, _FLAT)))


def body_scales(prior: Prior) -> tuple[Floats, ...]:
    """Return L of each body of a model."""
    found = []
    for name, first in prior.bodies:
        try:
            found.append(body_scale(prior.values[first : first + 10]))
        except DataError as error:
            raise error.located(f"CAD values of {name}") from None
    return tuple(found)


def scaled(phi: Floats, L: Floats) -> Floats:
    """Return S of Σ(φ) = L S Lᵀ, (4, 4)."""
    half = np.linalg.solve(L, pseudo_inertia(phi))
    return np.asarray(np.linalg.solve(L, half.T))


def column_sizes(prior: Prior) -> Floats:
    """Return how large each parameter is, (p,), by its CAD value, or else by its standard
    deviation."""
    sizes = np.abs(prior.values)
    sigma = np.sqrt(np.diag(prior.covariance))
    sizes = np.where(sizes > 0, sizes, np.where(sigma > 0, sigma, 1.0))
    for _, first in prior.bodies:
        ten = slice(first, first + 10)
        sizes[ten] = np.linalg.norm(body_root(prior.values[ten], 1.0), axis=1)
    return np.asarray(sizes)
