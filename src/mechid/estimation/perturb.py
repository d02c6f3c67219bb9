"""CAD values with errors, such that every body stays physically consistent, and their covariance.

What a relative error of a body means stands in `mechid.spatial.inertia_errors`. Coefficients of
force elements are multiplied by exp(e ε) each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.estimation.regression import Floats
from mechid.mechanism.element_kinds import Key
from mechid.mechanism.element_terms import element_kind
from mechid.mechanism.records import CadInertia, Coefficient, ForceElement, Mechanism
from mechid.spatial.inertia import central, parameters
from mechid.spatial.inertia_errors import parameter_root, relative_errors, with_errors


def perturbed(mechanism: Mechanism, error: float, rng: np.random.Generator) -> Mechanism:
    """Return the mechanism with erroneous CAD values: bodies, and coefficients to identify.

    Declared standard deviations stay as they are. Raises DataError for a negative error.
    """
    check_error(error)
    bodies = tuple(
        body if body.inertia is None else replace(body, inertia=_inertia(body.inertia, error, rng))
        for body in mechanism.bodies
    )
    elements = tuple(_element(element, error, rng) for element in mechanism.elements)
    return replace(mechanism, bodies=bodies, elements=elements)


def body_root(phi: Floats, error: float) -> Floats:
    """Return F (10, 10) with F Fᵀ the covariance of φ of a body (10,) with a relative error."""
    check_error(error)
    return parameter_root(phi, relative_errors(phi, error))


def check_error(error: float) -> None:
    """Reject a relative error that is negative or not finite."""
    if not 0 <= error < np.inf:
        raise DataError(
            f"the relative error of the CAD values must be ≥ 0, got {error:g}",
            remedy="0.2 stands for 20 %",
        )


def _inertia(cad: CadInertia, error: float, rng: np.random.Generator) -> CadInertia:
    phi = parameters(cad.mass, np.array(cad.center), np.array(cad.inertia_center))
    mass, center, inertia = central(with_errors(phi, error, rng))
    x, y, z = center.tolist()
    xx, xy, xz, yy, yz, zz = inertia.tolist()
    return replace(cad, mass=mass, center=(x, y, z), inertia_center=(xx, xy, xz, yy, yz, zz))


def _element(element: ForceElement, error: float, rng: np.random.Generator) -> ForceElement:
    """Multiply the coefficients to identify by independent factors.

    Where a parameter is the product of two values (the preload k·s0), its error is independent of
    that of the first.
    """
    factors: dict[str, float] = {}

    def off(value: Any, key: Key) -> Any:
        if isinstance(value, tuple):
            return tuple(off(x, key) for x in value)
        if not isinstance(value, Coefficient) or not value.identify or value.value is None:
            return value
        factors[key.name] = float(np.exp(error * rng.standard_normal()))
        return replace(value, value=value.value * factors[key.name] / factors.get(key.over, 1.0))

    parts = []
    for part in element.parts:
        factors.clear()
        values = tuple((key.name, off(part[key.name], key)) for key in element_kind(element).keys)
        parts.append(replace(part, values=values))
    return replace(element, parts=tuple(parts))
