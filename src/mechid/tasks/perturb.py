"""Parameters about the CAD values that a mechanism could have."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.spatial.inertia import central, six, tensor
from mechid.spatial.inertia import parameters as ten_parameters


def perturbed(mechanism: Mechanism, error: float, rng: np.random.Generator) -> Floats:
    """Return parameters φ (p,) about the CAD values, with relative errors, physically consistent.

    The mass and the coefficients of force elements get a factor exp(e n), the centre of mass is
    shifted by e |c| in a random direction, the second moments about the centre become
    L exp(e E) Lᵀ with a random symmetric E.
    """
    phi = parameter_values(dynamic_model(mechanism)).copy()
    for i, body in enumerate(mechanism.bodies):
        part = slice(10 * i, 10 * i + 10)
        if not body.massless:
            phi[part] = _body(phi[part], error, rng)
    rest = slice(10 * len(mechanism.bodies), None)
    phi[rest] *= np.exp(error * rng.standard_normal(phi[rest].shape))
    return phi


def _body(ten: Floats, error: float, rng: np.random.Generator) -> Floats:
    mass, center, about = central(ten)
    normal = rng.standard_normal((3, 3))
    E = error * (normal + normal.T) / 2
    shift = error * np.linalg.norm(center) * rng.standard_normal(3) / np.sqrt(3)
    factor = float(np.exp(error * rng.standard_normal()))
    I = tensor(about)  # noqa: E741
    S = 0.5 * np.trace(I) * np.eye(3) - I
    values, Q = np.linalg.eigh(S)
    L = Q * np.sqrt(np.maximum(values, 0.0))
    S = factor * L @ expm(E) @ L.T
    return ten_parameters(factor * mass, center + shift, six(np.trace(S) * np.eye(3) - S))
