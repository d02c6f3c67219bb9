"""A mechanism made ready for the second formulation: equations, measures of elements, columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechid.dynamics.columns import Column, inertial_columns
from mechid.dynamics.reference_point.elements import Elements, compile_elements
from mechid.errors import DataError
from mechid.kinematics.passive import PassivePart, passive_parts
from mechid.kinematics.reference_point.constraints import (
    ORIGIN,
    Product,
    Row,
    body_numbers,
    constraint_rows,
    norm_rows,
)
from mechid.kinematics.reference_point.evaluate import Equations, compile_rows
from mechid.kinematics.reference_point.system import System, compile_system, coupling_rows
from mechid.mechanism.records import Mechanism
from mechid.spatial.rotations import Array


@dataclass(frozen=True, eq=False)
class ReferenceModel:
    """Equations, elements and columns of a mechanism in reference-point coordinates.

    Attributes
    ----------
    system : System
        Its closure rows are those of the joints, then those of couplings and distances, then the
        gauge rows, then the unit quaternions.
    constraints : Equations
        The same without the unit quaternions: rows whose multipliers are forces and moments.
    elements : Elements
        What force elements measure, and the loads.
    columns : tuple of Column
        The p parameters: ten per body, then those of elements that are to be identified.
    spins : tuple of PassivePart
        Parts that can spin between spherical joints.
    hold_spins : bool
        Whether a gauge row holds each of them.
    """

    system: System
    constraints: Equations
    elements: Elements
    columns: tuple[Column, ...]
    spins: tuple[PassivePart, ...]
    hold_spins: bool

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism."""
        return self.system.mechanism

    @property
    def n_bodies(self) -> int:
        """Number of moving bodies."""
        return self.system.n_bodies

    @property
    def n_independent(self) -> int:
        """Number of independent coordinates."""
        return len(self.system.drivers.rows)

    @property
    def n_free(self) -> int:
        """Number of admissible motions: the declared coordinates, and spins that are not held."""
        return self.n_independent + (0 if self.hold_spins else len(self.spins))

    @property
    def gravity(self) -> Array:
        """Weight per unit mass, (3,), m/s², ground axes."""
        return np.array(self.mechanism.gravity)


def reference_model(mechanism: Mechanism, *, hold_spins: bool = True) -> ReferenceModel:
    """Write the equations of motion of a mechanism in reference-point coordinates.

    Parameters
    ----------
    mechanism : Mechanism
    hold_spins : bool
        True: a part that can spin between spherical joints is held by a gauge row, as if one of
        the balls were a universal joint; the spin then follows from the declared coordinates.
        False: it turns freely, and is an admissible motion that no coordinate describes.
    """
    spins = passive_parts(mechanism)
    gauges = _gauge_rows(mechanism, spins) if hold_spins else ()
    rows = constraint_rows(mechanism) + coupling_rows(mechanism) + gauges
    n = len(mechanism.bodies)
    elements = compile_elements(mechanism)
    unknown = tuple(term.column for term in elements.terms if not term.known)
    system = compile_system(mechanism)
    return ReferenceModel(
        system=replace(system, closure=compile_rows(rows + norm_rows(mechanism), n)),
        constraints=compile_rows(rows, n),
        elements=elements,
        columns=(*inertial_columns(mechanism), *unknown),
        spins=spins,
        hold_spins=hold_spins,
    )


def parameter_values(model: ReferenceModel, phi: Array | None = None) -> Array:
    """Return φ (p,), by default the CAD values; reject numbers that are missing.

    Raises
    ------
    DataError
        Naming the first parameter without a value.
    """
    cad = [np.nan if c.value is None else c.value for c in model.columns]
    values = np.array(cad) if phi is None else np.asarray(phi, dtype=float)
    if values.shape != (len(model.columns),):
        raise DataError(f"phi must have shape ({len(model.columns)},), got {values.shape}")
    missing = np.flatnonzero(~np.isfinite(values))
    if missing.size:
        column = model.columns[int(missing[0])]
        raise DataError(
            f"parameter {column.name} of {column.owner} has no value",
            where=model.mechanism.name,
            remedy="give it in the model file, declare the body massless, or pass phi",
        )
    return values


def _gauge_rows(mechanism: Mechanism, spins: tuple[PassivePart, ...]) -> tuple[Row, ...]:
    """Return a row per passive spin: two directions, one inside and one outside, stay normal."""
    numbers = body_numbers(mechanism)
    rows = []
    for part in spins:
        a, b = numbers[part.outside], numbers[part.inside]
        held = Product(a, part.direction_outside, a, ORIGIN, b, part.direction_inside, False)
        rows.append(Row(f"spin of {'+'.join(part.bodies)}", "", "dot", "value", "-", (held,)))
    return tuple(rows)
