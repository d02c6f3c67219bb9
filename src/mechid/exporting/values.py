"""Put values of all parameters into a mechanism, in place of its CAD values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mechid.base.cad import body_jacobian
from mechid.dynamics.compile import dynamic_model
from mechid.kinematics.tables import Floats
from mechid.mechanism.element_kinds import Key, Term
from mechid.mechanism.element_terms import element_kind, measures_of
from mechid.mechanism.records import (
    Body,
    CadInertia,
    Coefficient,
    ForceElement,
    Mechanism,
    Part,
)
from mechid.spatial.inertia import central


def with_values(mechanism: Mechanism, phi: Floats, root: Floats | None = None) -> Mechanism:
    """Return the mechanism with φ as CAD values, all coefficients to identify included.

    Parameters
    ----------
    mechanism : Mechanism
    phi : array (p,)
        In the order of the columns of the observation matrix; NaN where there is no value.
    root : array (p, r), optional
        T of their covariance T Tᵀ; without it nothing is declared.
    """
    T = np.zeros((len(phi), 0)) if root is None else root
    names = [column.name for column in dynamic_model(mechanism).columns]
    sigma = np.linalg.norm(T, axis=1)
    found = {name: (float(x), float(s)) for name, x, s in zip(names, phi, sigma, strict=True)}
    bodies = tuple(
        _body(body, phi[10 * i : 10 * i + 10], T[10 * i : 10 * i + 10])
        for i, body in enumerate(mechanism.bodies)
    )
    elements = tuple(_element(element, found) for element in mechanism.elements)
    return replace(mechanism, bodies=bodies, elements=elements)


def central_root(cad: CadInertia, root: Floats) -> Floats:
    """Return T (10, r) of mass, centre and central inertia from that of the ten parameters."""
    return np.asarray(np.linalg.solve(body_jacobian(cad), root))


def _body(body: Body, phi: Floats, root: Floats) -> Body:
    if body.massless or not np.all(np.isfinite(phi)):
        return body if body.massless else replace(body, inertia=None)
    mass, center, inertia = central(phi)
    x, y, z = center.tolist()
    xx, xy, xz, yy, yz, zz = inertia.tolist()
    cad = CadInertia(mass, (x, y, z), (xx, xy, xz, yy, yz, zz))
    m, cx, cy, cz, *six = np.linalg.norm(central_root(cad, root), axis=1).tolist()
    cad = replace(cad, sigma_mass=m, sigma_center=(cx, cy, cz), sigma_inertia=tuple(six))
    return replace(body, inertia=cad)


def _element(element: ForceElement, found: Mapping[str, tuple[float, float]]) -> ForceElement:
    kind = element_kind(element)
    parts = []
    for part in element.parts:
        terms = [
            (term, *found[term.name])
            for term in kind.terms(part, measures_of(element, part))
            if term.name in found
        ]
        values = {key.name: _value(part, key, terms) for key in kind.keys}
        for key in kind.keys:  # a parameter that is the product of two values
            value = values[key.name]
            product = next((x for t, x, _ in terms if not _owned(part, t)), None)
            if key.over and product is not None and (first := values[key.over].value):
                values[key.name] = replace(value, value=product / first, identify=True, sigma=None)
        parts.append(replace(part, values=tuple(values.items())))
    return replace(element, parts=tuple(parts))


def _value(part: Part, key: Key, terms: list[tuple[Term, float, float]]) -> Any:
    """Return the value of a key with the coefficients of the terms that are made of it."""

    def renewed(x: Any) -> Any:
        for term, value, sigma in terms:
            if term.coefficient is x and np.isfinite(value):
                return Coefficient(value, identify=True, sigma=sigma or None)
        return x

    old = part[key.name]
    return tuple(renewed(x) for x in old) if isinstance(old, tuple) else renewed(old)


def _owned(part: Part, term: Term) -> bool:
    """Return whether the coefficient of a term is a value of the part itself."""
    values = [v for _, x in part.values for v in (x if isinstance(x, tuple) else (x,))]
    return any(term.coefficient is v for v in values)
