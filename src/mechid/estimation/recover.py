"""A physically consistent set of all parameters that has given base values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.estimation.bodies import with_thickness
from mechid.estimation.completion import complete
from mechid.estimation.cone import MARGIN, Cone
from mechid.estimation.linear import prior_factor
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats

_COMFORT = 0.01  # wanted of every body and coefficient, in units of the CAD values
NEAREST = "the nearest ones are"  # so many standard deviations away
FREE = 1e3  # factor on the CAD standard deviations of what the forces do not determine


@dataclass(frozen=True, eq=False)
class Recovered:
    """A physically consistent set of all parameters.

    Attributes
    ----------
    phi : array (p,)
    values : array (b,)
        Base values that it has: B φ.
    distance : float
        Of these from the given ones, in deviations: 0 if they are the same.
    border : tuple of str
        Bodies and coefficients at the boundary of physical consistency.
    warnings : tuple of str
    """

    phi: Floats
    values: Floats
    distance: float
    border: tuple[str, ...]
    warnings: tuple[str, ...]


def recover(
    prior: Prior,
    values: Floats,
    covariance: Floats | None = None,
    *,
    margin: float = MARGIN,
) -> Recovered:
    """Return the consistent parameters nearest to CAD among those that have these base values.

    Parameters
    ----------
    prior : Prior
        CAD values; their covariance measures what is near.
    values : array (b,)
    covariance : array (b, b), optional
        Of the base values. If no consistent parameters have them, those with the nearest ones in
        this metric are returned; by default in that of the CAD values.
    margin : float
        Distance of the result from the boundary of physical consistency, in units of the CAD
        values.

    Raises
    ------
    DataError
        If there are no consistent parameters.
    """
    thin, prior = prior, with_thickness(prior)
    start = complete(prior, values)
    # A body at the boundary is of little use where a better one gives the same forces.
    for inside in (max(margin, _COMFORT), margin):
        found = Cone(prior, inside).nearest(start.phi, start.rest)
        if found is not None:
            border = Cone(prior, margin).border(found.phi)
            reached = prior.matrix @ found.phi
            return Recovered(found.phi, reached, 0.0, border, start.warnings)
    C = prior.base_covariance if covariance is None else np.asarray(covariance, dtype=float)
    # Where points, rods and sheets got a thickness, base values may differ by what that makes.
    thickness = prior.values - thin.values
    room = prior.covariance - thin.covariance + np.outer(thickness, thickness)
    more = prior.matrix @ room @ prior.matrix.T
    C = C + more
    found = Cone(prior, margin).nearest(start.phi, start.root(C, scale=FREE))
    if found is None:
        raise DataError(
            "no physically consistent parameters are near these base values",
            remedy="declare standard deviations of the CAD values, or their relative error",
        )
    reached = prior.matrix @ found.phi
    distance = mahalanobis(reached - values, C)
    words = moved_words(distance, found.border)
    return Recovered(found.phi, reached, distance, found.border, (*start.warnings, words))


def moved_words(distance: float, border: tuple[str, ...]) -> str:
    """Return the warning that the base values were changed."""
    return (
        f"no physically consistent parameters have the base values that fit best: {NEAREST} "
        f"{distance:.2g} standard deviations away"
        + (f" (at the boundary: {', '.join(border)})" if border else "")
    )


def mahalanobis(d: Floats, C: Floats) -> float:
    """Return (dᵀ C⁺ d)^½, the length of d in standard deviations."""
    return float(np.linalg.norm(_in_deviations(d, C)))


def regressed(cross: Floats, C: Floats, d: Floats) -> Floats:
    """Return Sᵀ C⁺ d: how quantities with covariance S (b, k) follow a deviation d (b,)."""
    return np.asarray(_in_deviations(cross, C).T @ _in_deviations(d, C))


def _in_deviations(d: Floats, C: Floats) -> Floats:
    """Return F⁺ d with C = F Fᵀ, of d (b,) or (b, k)."""
    sigma = np.sqrt(np.diag(C))
    size = np.where(sigma > 0, sigma, 1.0)
    F = prior_factor(C) / size[:, None]
    return np.asarray(np.linalg.lstsq(F, (d.T / size).T)[0])
