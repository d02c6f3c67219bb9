"""CAD values with errors, such that every body stays physically consistent, and their covariance.

An error e (relative, 0.2 for 20 %) means, for each body, independently:

- mass: m exp(e ε);
- centre: c + e r ε / √3 in each axis, with r the distance of the centre from the origin of the body
  frame, to which a fiftieth of the radius of gyration is added (r² = c·c + tr(Σ_c) / (50² m)): a
  frame in the centre, as that of a wheel, does not make the centre certain;
- second moments about the centre: Σ_c → L exp(E) Lᵀ with Σ_c = L Lᵀ and E random, symmetric, of
  standard deviation e on the diagonal and e/√2 off it: the same in all axes, whatever root L is
  taken. Σ_c stays positive definite, so the triangle inequality holds; what is flat stays flat.

Coefficients of force elements are multiplied by exp(e ε) each. `body_root` is the first order of
this: errors of φ are F ε with unit ε.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import expm

from mechid.errors import DataError
from mechid.estimation.regression import Floats
from mechid.mechanism.element_kinds import Key
from mechid.mechanism.element_terms import element_kind
from mechid.mechanism.records import CadInertia, Coefficient, ForceElement, Mechanism
from mechid.spatial.inertia import central, from_pseudo_inertia, parameters, pseudo_inertia

# Part of the radius of gyration by which the centre is uncertain besides, per unit of error.
_CENTRED = 0.02
_UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


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
    m, c, second = moments(phi)
    L = _root(second)
    pole = np.append(c, 1.0)
    directions = [error * m * np.outer(pole, pole)]
    step = error * _reach(m, c, second) / np.sqrt(3)
    for k in range(3):
        moved = np.outer(np.eye(4)[k], pole)
        directions.append(m * step * (moved + moved.T))
    for i, j in _UPPER:
        E = np.zeros((3, 3))
        E[i, j] = E[j, i] = error if i == j else error / np.sqrt(2)
        changed = np.zeros((4, 4))
        changed[:3, :3] = L @ E @ L.T
        directions.append(changed)
    return np.array([from_pseudo_inertia(d) for d in directions]).T


def check_error(error: float) -> None:
    """Reject a relative error that is negative or not finite."""
    if not 0 <= error < np.inf:
        raise DataError(
            f"the relative error of the CAD values must be ≥ 0, got {error:g}",
            remedy="0.2 stands for 20 %",
        )


def _inertia(cad: CadInertia, error: float, rng: np.random.Generator) -> CadInertia:
    phi = parameters(cad.mass, np.array(cad.center), np.array(cad.inertia_center))
    m, c, second = moments(phi)
    mass = m * np.exp(error * rng.standard_normal())
    center = c + error * _reach(m, c, second) / np.sqrt(3) * rng.standard_normal(3)
    E = np.zeros((3, 3))
    for i, j in _UPPER:
        E[i, j] = E[j, i] = rng.standard_normal() * (error if i == j else error / np.sqrt(2))
    L = _root(second)
    moved = L @ expm(E) @ L.T
    whole = np.zeros((4, 4))
    whole[:3, :3] = moved + mass * np.outer(center, center)
    whole[:3, 3] = whole[3, :3] = mass * center
    whole[3, 3] = mass
    _, _, inertia = central(from_pseudo_inertia(whole))
    x, y, z = center.tolist()
    xx, xy, xz, yy, yz, zz = inertia.tolist()
    return replace(cad, mass=float(mass), center=(x, y, z), inertia_center=(xx, xy, xz, yy, yz, zz))


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


def moments(phi: Floats) -> tuple[float, Floats, Floats]:
    """Return mass, centre, and second moments about the centre (3, 3)."""
    S = pseudo_inertia(phi)
    m = float(S[3, 3])
    if not m > 0:
        raise DataError(f"the mass of a body must be > 0 kg, got {m:g}")
    c = S[:3, 3] / m
    return m, c, S[:3, :3] - m * np.outer(c, c)


def _reach(m: float, c: Floats, second: Floats) -> float:
    return float(np.sqrt(c @ c + _CENTRED**2 * max(np.trace(second), 0.0) / m))


def _root(second: Floats) -> Floats:
    """Return L with L Lᵀ = Σ_c; negative eigenvalues, which rounding makes, are zero."""
    values, Q = np.linalg.eigh(second)
    return np.asarray(Q * np.sqrt(np.maximum(values, 0.0)))
