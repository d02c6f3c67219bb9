"""The columns of the observation matrix: names, units, and what they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mechid.dynamics.tables import COULOMB, DAMPING, INERTIA, PRELOAD, STIFFNESS
from mechid.mechanism.records import (
    Coefficient,
    Friction,
    Load,
    Mechanism,
    SpringDamper,
    TorsionSpring,
    Transmission,
)
from mechid.spatial import inertia

# ("length", point, point), ("joint", name, index) or ("sum", (measure, factor), …)
Measure: TypeAlias = tuple[Any, ...]

_INERTIAL_UNITS = ("kg", "kg m", "kg m", "kg m") + ("kg m²",) * 6


@dataclass(frozen=True)
class Column:
    """One parameter: its name ("m_3", "k_strut"), unit, owner, CAD value and its deviation."""

    name: str
    unit: str
    owner: str
    value: float | None
    sigma: float | None = None


@dataclass(frozen=True)
class ElementTerm:
    """One coefficient of a force element: what it takes of which measure, known or not."""

    column: Column
    measure: Measure
    takes: int
    offset: float
    known: bool


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
    """Return the terms of all force elements but loads, in the order of the file."""
    terms: list[ElementTerm] = []
    measure: Measure
    for element in mechanism.elements:
        match element:
            case SpringDamper():
                measure = ("length", element.point_a, element.point_b)
                terms += _spring(
                    element.name,
                    measure,
                    element.stiffness,
                    element.damping,
                    element.free_length,
                    "N/m",
                    "N",
                )
            case TorsionSpring():
                turns = mechanism.joint(element.joint).kind.units[element.index] == "rad"
                terms += _spring(
                    element.name,
                    ("joint", element.joint, element.index),
                    element.stiffness,
                    element.damping,
                    element.free_angle,
                    "N m/rad" if turns else "N/m",
                    "N m" if turns else "N",
                )
            case Friction():
                measure = ("joint", element.joint, element.index)
                turns = mechanism.joint(element.joint).kind.units[element.index] == "rad"
                viscous, coulomb = ("N m s/rad", "N m") if turns else ("N s/m", "N")
                name = element.name
                terms += _term(f"viscous_{name}", viscous, name, measure, DAMPING, element.viscous)
                terms += _term(f"coulomb_{name}", coulomb, name, measure, COULOMB, element.coulomb)
            case Transmission():
                for motor, row in zip(element.motors, element.matrix, strict=True):
                    parts = tuple(
                        (("joint", *c), g) for c, g in zip(element.coordinates, row, strict=True)
                    )
                    measure = ("sum", *parts)
                    n = motor.name
                    terms += _term(f"inertia_{n}", "kg m²", n, measure, INERTIA, motor.inertia)
                    terms += _term(f"viscous_{n}", "N m s/rad", n, measure, DAMPING, motor.viscous)
                    terms += _term(f"coulomb_{n}", "N m", n, measure, COULOMB, motor.coulomb)
            case Load():
                pass
    return terms


def _term(
    name: str,
    unit: str,
    owner: str,
    measure: Measure,
    takes: int,
    coefficient: Coefficient,
    offset: float = 0.0,
) -> list[ElementTerm]:
    if not coefficient.identify and not coefficient.value:
        return []  # absent, or known to be zero
    column = Column(name, unit, owner, coefficient.value, coefficient.sigma)
    return [ElementTerm(column, measure, takes, offset, not coefficient.identify)]


def _spring(
    name: str,
    measure: Measure,
    stiffness: Coefficient,
    damping: Coefficient,
    free: Coefficient,
    unit: str,
    force_unit: str,
) -> list[ElementTerm]:
    """Stiffness, preload k·s0 and damping of a spring.

    The preload is a column of its own when either factor is to be identified, unless the free
    length is known: then the stiffness column takes s - s0.
    """
    fixed = not free.identify and free.value is not None
    offset = free.value if fixed and free.value is not None else 0.0
    terms = _term(f"k_{name}", unit, name, measure, STIFFNESS, stiffness, offset)
    if terms and not fixed:
        known = stiffness.value is not None and free.value is not None
        preload = stiffness.value * free.value if known else None  # type: ignore[operator]
        unknown = Coefficient(preload, identify=True)
        terms += _term(f"preload_{name}", force_unit, name, measure, PRELOAD, unknown)
    damping_unit = "N m s/rad" if "rad" in unit else "N s/m"
    return terms + _term(f"c_{name}", damping_unit, name, measure, DAMPING, damping)
