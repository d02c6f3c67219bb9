"""Errors of CAD values by kind: mass, centre of mass and moments of the bodies, and coefficients.

A declared error of a body is one of its mass, its centre and its moments about the centre, all at
once; machines can keep one kind and break another. A rod whose centre is off by far more than its
mass is looks possible in each single parameter, but not in their combination.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechid.estimation.linear import compressed, prior_factor
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats
from mechid.spatial.inertia import by_central

# Kind of the ten parameters of a body, once they are mass, centre and moments about it.
_OF_BODY = (0, 1, 1, 1, 2, 2, 2, 2, 2, 2)
KINDS = ("mass", "centre of mass", "moments of inertia", "coefficients of force elements")


def kind_factors(prior: Prior) -> Mapping[str, Floats]:
    """Return F (b, r) of each kind of error alone, F Fᵀ being its covariance, as declared.

    To first order about the CAD values. Kinds without errors are left out.
    """
    p = len(prior.parameters)
    D, to_central = np.eye(p), np.eye(p)
    kind = np.full(p, KINDS.index("coefficients of force elements"))
    for _, first in prior.bodies:
        own = slice(first, first + 10)
        if prior.values[first] > 0:
            D[own, own] = by_central(prior.values[own])
            to_central[own, own] = np.linalg.inv(D[own, own])
            kind[own] = _OF_BODY
    F = to_central @ prior_factor(prior.covariance)
    found = {name: prior.matrix @ D[:, kind == k] @ F[kind == k] for k, name in enumerate(KINDS)}
    return {name: compressed(G) for name, G in found.items() if np.any(G)}
