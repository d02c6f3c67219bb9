"""Units in which parameters are about one: pseudo-inertia as L S Lᵀ, with S = 1 in CAD."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.errors import DataError
from mechid.estimation.perturb import body_root
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats
from mechid.spatial.inertia import from_pseudo_inertia, pseudo_inertia
from mechid.spatial.inertia_errors import moments

# Second moments below this fraction of the largest: a flat body, with a thickness of a thousandth.
_FLAT = 1e-6
_BORDER = 1e-9  # below this part they count as none, and become _THICK: thickness of a hundredth
_THICK = 1e-4
USUAL_CAD_ERROR = 0.2  # of CAD values of which nothing else is known


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


def with_thickness(prior: Prior) -> Prior:
    """Return the prior with bodies that have an inside: points, rods, sheets get a thickness.

    A body without extension in some direction, or with second moments that no body has, is at the
    border of what is possible or beyond, where a search has nowhere to go. Its second moments about
    the centre are raised to 1e-4 of those about the origin, and may deviate there as CAD values
    usually do, and by what the uncertainty of the centre makes. Mass and centre stay. (Less leaves
    no room: with CAD errors of 20 %, a point mass then had no possible inertia within 39
    deviations of the estimate.)
    """
    values, covariance = prior.values.copy(), prior.covariance.copy()
    radius = _radius(prior)
    for _, first in prior.bodies:
        ten = slice(first, first + 10)
        m, c, second = moments(values[ten]) if values[first] > 0 else (0.0, np.zeros(3), np.eye(3))
        sizes, Q = np.linalg.eigh(second)
        reference = max(np.trace(second), 0.0) + m * (c @ c) or m * radius**2
        flat = sizes < _BORDER * reference
        if m == 0 or not flat.any():
            continue
        L = Q * np.sqrt(np.where(flat, _THICK * reference, sizes))
        # A centre that is off by its standard deviation makes second moments of this size.
        moved = float(np.trace(covariance[first + 1 : first + 4, first + 1 : first + 4])) / m
        room = max(_THICK * reference, moved / USUAL_CAD_ERROR)
        D = Q * np.sqrt(np.where(flat, room, sizes))
        pole = np.append(c, 1.0)
        whole = m * np.outer(pole, pole)
        whole[:3, :3] += L @ L.T
        values[ten] = from_pseudo_inertia(whole)
        for i, j in zip(*np.triu_indices(3), strict=True):
            if flat[i] or flat[j]:
                E = np.zeros((4, 4))
                E[:3, :3] = (
                    USUAL_CAD_ERROR / 2 * (np.outer(D[:, i], D[:, j]) + np.outer(D[:, j], D[:, i]))
                )
                direction = from_pseudo_inertia(E)
                covariance[ten, ten] += np.outer(direction, direction)
    return replace(prior, values=values, covariance=covariance)


def _radius(prior: Prior) -> float:
    """Return the largest radius of gyration about frame origins, or 1 m if there is none."""
    radii = [0.0]
    for _, first in prior.bodies:
        S = pseudo_inertia(prior.values[first : first + 10])
        if S[3, 3] > 0:
            radii.append(float(np.sqrt(max(np.trace(S[:3, :3]), 0.0) / S[3, 3])))
    return max(radii) or 1.0


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
