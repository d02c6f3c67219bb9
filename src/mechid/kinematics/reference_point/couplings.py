"""Rows of couplings and distance constraints, in positions and Euler parameters."""

from __future__ import annotations

import numpy as np

from mechid.kinematics.couplings import coupling_constant, coupling_scale
from mechid.kinematics.reference_point.constraints import Row, axis, body_numbers, separation
from mechid.kinematics.reference_point.drivers import apart, joint_coordinate_row
from mechid.mechanism.records import Coupling, Mechanism
from mechid.mechanism.size import characteristic_size


def coupling_rows(mechanism: Mechanism) -> tuple[Row, ...]:
    """Return one row per constraint, in the order of the mechanism."""
    numbers = body_numbers(mechanism)
    size = characteristic_size(mechanism)
    return tuple(
        _coupling_row(mechanism, c, numbers, size)
        if isinstance(c, Coupling)
        else Row(
            f"distance {c.name}",
            "",
            "distance",
            "distance",
            "m",
            apart(c, numbers),
            coefficient=c.length,
        )
        for c in mechanism.constraints
    )


def _coupling_row(
    mechanism: Mechanism, coupling: Coupling, numbers: dict[str, int], size: float
) -> Row:
    """Return the sum of coordinates, divided by its scale: dimensionless, of the order of one."""
    scale = coupling_scale(mechanism, coupling, size)
    terms = []
    for name, index, factor in coupling.terms:
        joint = mechanism.joint(name)
        row = joint_coordinate_row(f"{name} {index}", joint, index, numbers)
        if joint.kind.thread:  # its displacement counts the turns
            slide = separation(joint, numbers, axis(joint.frame_a, 2), numbers[joint.body_a])
            row = Row(row.name, name, "driver", "value", "m", (slide,), index=index)
            factor /= joint.pitch / (2 * np.pi)
        terms.append((row, scale * factor))
    return Row(
        f"coupling {coupling.name}",
        "",
        "coupling",
        "coupling",
        "-",
        tuple(p for row, _ in terms for p in row.products),
        coefficient=scale * coupling_constant(mechanism, coupling),
        terms=tuple(terms),
    )
