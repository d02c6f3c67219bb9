"""Base parameters from CAD values, with their uncertainty.

CAD declares standard deviations of mass, centre of mass and central inertia, which are independent
of each other; the ten parameters of a body are functions of them, so their standard deviations are
not. Covariances follow to second order body by body (`mechid.spatial.inertia_errors`), and
cov(φ_base) = B cov(φ) Bᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.base.baseset import BaseSet
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import CadInertia, Mechanism
from mechid.spatial.inertia import parameters
from mechid.spatial.inertia_errors import InertiaErrors, parameter_root, relative_errors


@dataclass(frozen=True, eq=False)
class CadValues:
    """Values of base parameters.

    Attributes
    ----------
    names : tuple of str
        Parameters that head them.
    values : array (n_base,)
    covariance : array (n_base, n_base)
    """

    names: tuple[str, ...]
    values: Floats
    covariance: Floats

    @property
    def sigma(self) -> Floats:
        """Standard deviations, (n_base,)."""
        return np.sqrt(np.diag(self.covariance))


def cad_values(base_set: BaseSet) -> CadValues:
    """Return the base parameters that the CAD values of the model give.

    Raises
    ------
    ModelError
        Naming the parameters that have no CAD value.
    """
    mechanism = base_set.null_space.geometry.mechanism
    phi = parameter_values(dynamic_model(mechanism))
    B = base_set.matrix
    return CadValues(base_set.base, B @ phi, B @ parameter_covariance(mechanism) @ B.T)


def parameter_covariance(
    mechanism: Mechanism, usual: float = 0.0, *, declared: bool = True
) -> Floats:
    """Return the covariance of all parameters (p, p), as it is declared.

    Of a body, what is not declared (mass, centre, inertia) has the relative error `usual`; all of
    it if declarations of bodies do not count.
    """
    columns = dynamic_model(mechanism).columns
    covariance = np.zeros((len(columns), len(columns)))
    for i, body in enumerate(mechanism.bodies):
        if body.inertia is not None and not body.massless:
            ten = slice(10 * i, 10 * i + 10)
            covariance[ten, ten] = body_covariance(body.inertia, usual, declared=declared)
    for k in range(10 * len(mechanism.bodies), len(columns)):
        covariance[k, k] = (columns[k].sigma or 0.0) ** 2
    return covariance


def body_covariance(cad: CadInertia, usual: float = 0.0, *, declared: bool = True) -> Floats:
    """Return the covariance of (m, mx, …, Izz) of one body, (10, 10)."""
    if not cad.mass > 0:  # no value to err by
        return np.zeros((10, 10))
    phi = parameters(cad.mass, np.array(cad.center), np.array(cad.inertia_center))
    errors = relative_errors(phi, usual)
    if declared:
        open_ = cad.undeclared
        errors = InertiaErrors(
            errors.mass if "mass" in open_ else cad.sigma_mass / cad.mass,
            errors.center if "center" in open_ else np.diag(cad.sigma_center),
            errors.shape if "inertia" in open_ else 0.0,
            np.array(cad.sigma_inertia),
        )
    T = parameter_root(phi, errors)
    return np.asarray(T @ T.T)


def body_jacobian(cad: CadInertia) -> Floats:
    """Return the derivative of the ten parameters by mass, centre and central inertia, (10, 10)."""
    m = cad.mass
    x, y, z = cad.center
    J = np.zeros((10, 10))
    J[0, 0] = 1.0
    J[1:4, 0] = cad.center
    J[1:4, 1:4] = m * np.eye(3)
    J[4:, 0] = (y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y)
    # Rows Ixx … Izz, columns x, y, z.
    J[4:, 1:4] = m * np.array(
        [
            [0, 2 * y, 2 * z],
            [-y, -x, 0],
            [-z, 0, -x],
            [2 * x, 0, 2 * z],
            [0, -z, -y],
            [2 * x, 2 * y, 0],
        ]
    )
    J[4:, 4:] = np.eye(6)
    return J
