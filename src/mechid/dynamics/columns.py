"""The columns of the observation matrix: names, units, and what they belong to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.mechanism.element_laws import LAWS, Measure, Shape, law_unit
from mechid.mechanism.element_terms import terms_of
from mechid.mechanism.records import Mechanism
from mechid.spatial import inertia

_INERTIAL_UNITS = ("kg", "kg m", "kg m", "kg m") + ("kg m²",) * 6


@dataclass(frozen=True)
class Column:
    """One parameter: its name ("m_3", "k_strut"), unit, owner, CAD value and its standard
    deviation."""

    name: str
    unit: str
    owner: str
    value: float | None
    sigma: float | None = None


@dataclass(frozen=True)
class ElementTerm:
    """One coefficient of a force element: its law, on which measure, known or not.

    `positive` says that it cannot be negative.
    """

    column: Column
    measure: Measure
    law: int
    shape: Shape
    known: bool
    positive: bool

    @property
    def order(self) -> int:
        """Which derivative of its measure the law takes."""
        return LAWS[self.law].order


def inertial_columns(mechanism: Mechanism) -> list[Column]:
    """Return the ten columns of each body; numbers count the bodies in the order of the file."""
    columns = []
    for i, body in enumerate(mechanism.bodies, start=1):
        phi: list[float | None] = [None] * 10
        if body.massless:
            phi = [0.0] * 10
        elif body.inertia is not None:
            cad = body.inertia
            center, six = np.array(cad.center), np.array(cad.inertia_center)
            phi = list(inertia.parameters(cad.mass, center, six).tolist())
        for name, unit, value in zip(inertia.NAMES, _INERTIAL_UNITS, phi, strict=True):
            columns.append(Column(f"{name}_{i}", unit, body.name, value))
    return columns


def element_terms(mechanism: Mechanism) -> list[ElementTerm]:
    """Return the terms of all force elements, in the order of the file."""
    terms = []
    for element in mechanism.elements:
        for part, term in terms_of(element):
            angular = term.angular
            if angular is None:
                angular = _turns(mechanism, term.measure)
            value = term.coefficient
            unit = law_unit(term.law, term.shape, angular)
            column = Column(term.name, unit, part.name, value.value, value.sigma)
            terms.append(
                ElementTerm(
                    column, term.measure, term.law, term.shape, not value.identify, term.positive
                )
            )
    return terms


def _turns(mechanism: Mechanism, measure: Measure) -> bool:
    if measure[0] != "joint":
        return False
    return mechanism.joint(measure[1]).kind.units[measure[2]] == "rad"
