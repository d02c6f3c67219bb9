"""Rows of couplings and distance constraints in balls."""

from __future__ import annotations

from typing import Any

from flint import arb

from mechid.exact.constraint_numbers import exact_constant, exact_factors, exact_length
from mechid.exact.geometry import Geometry
from mechid.exact.numbers import recognise
from mechid.kinematics.reference_point.constraints import Row, axis, separation
from mechid.kinematics.reference_point.drivers import apart, joint_coordinate_row
from mechid.mechanism.records import Coupling, Mechanism


def ball_rows(geometry: Geometry, exact: Mechanism, numbers: dict[str, int]) -> tuple[Row, ...]:
    """Return the rows of the constraints of a mechanism with balls, not scaled."""
    rows = []
    for c in exact.constraints:
        if isinstance(c, Coupling):
            rows.append(_coupling(geometry, exact, c, numbers))
            continue
        length: Any = geometry.balls(exact_length(c))
        name = f"distance {c.name}"
        products = apart(c, numbers)
        rows.append(Row(name, "", "distance", "distance", "m", products, coefficient=length))
    return tuple(rows)


def _coupling(
    geometry: Geometry, exact: Mechanism, coupling: Coupling, numbers: dict[str, int]
) -> Row:
    terms: list[tuple[Row, Any]] = []
    for (name, index, _), factor in zip(coupling.terms, exact_factors(coupling), strict=True):
        joint = exact.joint(name)
        row = joint_coordinate_row(name, joint, index, numbers)
        ball = geometry.balls(factor)
        if joint.kind.thread:  # its displacement counts the turns
            slide = separation(joint, numbers, axis(joint.frame_a, 2), numbers[joint.body_a])
            row = Row(name, name, "driver", "value", "m", (slide,), index=index)
            ball = ball * 2 * arb.pi() / geometry.balls(recognise(joint.pitch)[0])
        terms.append((row, ball))
    constant: Any = geometry.balls(exact_constant(geometry.mechanism, coupling)[0])
    return Row(
        f"coupling {coupling.name}",
        "",
        "coupling",
        "coupling",
        "-",
        tuple(p for row, _ in terms for p in row.products),
        coefficient=constant,
        terms=tuple(terms),
    )
