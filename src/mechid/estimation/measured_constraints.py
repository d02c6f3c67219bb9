"""Measured masses of bodies, their sums, any linear statement about φ, as prior information.

A constraint says A φ = b with an error of known covariance. Constraints condition the Gaussian of
the CAD values: with S = A P Aᵀ + R,

    φ ← φ + P Aᵀ S⁺ (b - A φ),    P ← P - P Aᵀ S⁺ A P.

Both P and R may be singular: what is known exactly stays so, and what contradicts it is rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mechid.errors import DataError
from mechid.estimation.linear import prior_factor
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats

_ROUNDING = float(np.finfo(float).eps)
_CONTRADICTION = 1e-6  # of the size of the terms: exact statements that differ by more disagree


@dataclass(frozen=True, eq=False)
class MeasuredConstraint:
    """A φ = b with an error.

    Attributes
    ----------
    matrix : array (k, p)
    values : array (k,)
    covariance : array (k, k)
        Of the error; zero for what is exact.
    words : str
        Description for reports.
    """

    matrix: Floats
    values: Floats
    covariance: Floats
    words: str


def weighed(
    prior: Prior, bodies: str | Sequence[str], mass: float, sigma: float = 0.0
) -> MeasuredConstraint:
    """Return a measured mass (kg) of a body, or of several together.

    Raises
    ------
    DataError
        For a body that the model does not have or that has no inertia, a mass that is not
        positive, or a negative standard deviation.
    """
    names = (bodies,) if isinstance(bodies, str) else tuple(bodies)
    columns = dict(prior.bodies)
    for name in names:
        if name not in columns:
            raise DataError(
                f"there is no body {name} with a mass",
                remedy=f"choose one of: {', '.join(columns)}",
            )
    if len(set(names)) != len(names) or not names:
        raise DataError(
            "bodies of a measured mass must be given once each", remedy="name each body once"
        )
    if not 0 < mass < np.inf:
        raise DataError(f"the measured mass of {' + '.join(names)} must be > 0 kg, got {mass:g}")
    together = " + ".join(names)
    factors = {prior.parameters[columns[name]]: 1.0 for name in names}
    words = f"measured mass of {together}: {mass:g} ± {sigma:g} kg"
    return stated(prior, factors, mass, sigma, words=words)


def stated(
    prior: Prior,
    factors: Mapping[str, float],
    value: float,
    sigma: float = 0.0,
    *,
    words: str = "",
) -> MeasuredConstraint:
    """Return a linear statement: Σ factor · parameter = value ± sigma.

    Raises
    ------
    DataError
        For an unknown parameter, or numbers that are not finite.
    """
    at = {name: i for i, name in enumerate(prior.parameters)}
    if strange := [name for name in factors if name not in at]:
        raise DataError(f"there is no parameter {strange[0]} to constrain")
    if not any(factors.values()):
        raise DataError("a measured constraint needs a parameter with a nonzero factor")
    if not (np.isfinite(value) and np.all(np.isfinite(list(factors.values())))):
        raise DataError("value and factors of a measured constraint must be finite")
    if not 0 <= sigma < np.inf:
        raise DataError(f"sigma must be ≥ 0, got {sigma:g}", remedy="give 0 or more")
    a = np.zeros((1, len(at)))
    for name, factor in factors.items():
        a[0, at[name]] = factor
    terms = " + ".join(f"{x:g} {name}" for name, x in factors.items())
    text = words or f"{terms} = {value:g} ± {sigma:g}"
    return MeasuredConstraint(a, np.array([value]), np.array([[sigma**2]]), text)


def informed(prior: Prior, measured: Iterable[MeasuredConstraint]) -> Prior:
    """Return the prior conditioned on measured constraints, all at once.

    Raises
    ------
    DataError
        If a constraint contradicts exact prior values, or another exact constraint.
    """
    listed = tuple(measured)
    if not listed:
        return prior
    A = np.vstack([f.matrix for f in listed])
    if A.shape[1] != len(prior.parameters):
        raise DataError(
            f"measured constraints must have {len(prior.parameters)} columns, got {A.shape[1]}"
        )
    b = np.concatenate([f.values for f in listed])
    R = np.zeros((len(b), len(b)))
    owner = np.repeat(np.arange(len(listed)), [len(f.values) for f in listed])
    for k, f in enumerate(listed):
        R[np.ix_(owner == k, owner == k)] = f.covariance
    values, covariance, off = condition(prior.values, prior.covariance, A, b, R)
    # Rounding of the terms of each statement is no contradiction.
    sigma = np.sqrt(np.diag(prior.covariance))
    size = np.abs(A) @ (np.abs(prior.values) + sigma) + np.abs(b) + np.sqrt(np.diag(R))
    if np.any(wrong := np.abs(off) > _CONTRADICTION * size):
        constraint = listed[owner[int(np.argmax(wrong))]]
        raise DataError(
            f"a measured constraint contradicts exact prior values: {constraint.words}",
            remedy="declare standard deviations of the CAD values, or of the constraint",
        )
    words = (*prior.words, *(f.words for f in listed))
    return replace(prior, values=values, covariance=covariance, words=words)


def condition(
    mean: Floats, P: Floats, A: Floats, b: Floats, R: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return mean and covariance of a Gaussian given A φ = b + error, and what is left of b - A φ.

    What is left (k,) is zero except where an exact statement meets exact prior values. Covariance
    as F (1 - …) Fᵀ with P = F Fᵀ, so that it stays positive.
    """
    F = prior_factor(P)
    G = prior_factor(R)
    # A F z + G e = b - A mean, the shortest (z, e): conditional mean of unit Gaussians.
    H = np.hstack([A @ F, G])
    size = np.linalg.norm(H, axis=1)
    size = np.where(size > 0, size, 1.0)
    U, s, Vh = np.linalg.svd(H / size[:, None], full_matrices=False)
    kept = s > max(H.shape) * _ROUNDING * np.max(s, initial=0.0)
    U, s, Vh = U[:, kept], s[kept], Vh[kept]
    shortest = Vh.T @ ((U.T @ ((b - A @ mean) / size)) / s)
    r = F.shape[1]
    left = b - A @ mean - H @ shortest
    # z given the statements has covariance 1 - V V ᵀ of its part.
    rest = np.eye(H.shape[1]) - Vh.T @ Vh
    root = F @ rest[:r]
    return mean + F @ shortest[:r], np.asarray(root @ root.T), left
