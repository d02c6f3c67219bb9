"""Rows of couplings and distance constraints in balls, and the turns of coupled angles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from flint import arb

from mechid.exact.constraint_numbers import exact_constant, exact_factors, exact_length
from mechid.exact.geometry import Geometry
from mechid.exact.numbers import recognise
from mechid.exact.rows import Configuration, Near, products_of, screw_turn
from mechid.kinematics.couplings import coupling_constant
from mechid.kinematics.reference_point.constraints import Row, axis, separation
from mechid.kinematics.reference_point.drivers import apart, joint_coordinate_row
from mechid.mechanism.records import Coupling, JointCoordinate, Mechanism

_CLOSED = 1e-7  # rad, or m: a coupling at a float pose, if its angles have the right turns
_TURNS = 12  # turns that are tried for angles that follow from nothing else


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


def known_coordinates(mechanism: Mechanism, y: Sequence[float]) -> dict[tuple[str, int], float]:
    """Return joint coordinates that follow from the independent ones through couplings alone."""
    known = {
        (c.joint, c.index): float(value)
        for c, value in zip(mechanism.coordinates, y, strict=True)
        if isinstance(c, JointCoordinate)
    }
    waiting = list(mechanism.couplings)
    while waiting:
        solved = [c for c in waiting if sum((n, k) not in known for n, k, _ in c.terms) <= 1]
        if not solved:
            break
        for c in solved:
            waiting.remove(c)
            open_terms = [(n, k, f) for n, k, f in c.terms if (n, k) not in known]
            if open_terms:
                (name, index, factor) = open_terms[0]
                rest = sum(f * known[n, k] for n, k, f in c.terms if (n, k) in known)
                known[name, index] = (coupling_constant(mechanism, c) - rest) / factor
    return known


def turns_of(c: Configuration, row: Row, known: Mapping[tuple[str, int], float]) -> Near:
    """Return near which angles the value of a row is to be taken, at a closed float pose.

    Angles of a coupling that follow from nothing else get the turns with which it closes; if
    several do, any of them, as the equation then says the same.
    """
    if row.form == "screw":
        return screw_turn(c, row)
    if row.form != "coupling":
        return 0.0
    near: list[float] = []
    free: list[tuple[int, float]] = []
    total = -float(arb(row.coefficient).mid())
    for (term, factor), values in zip(row.terms, products_of(c, row), strict=True):
        f = float(arb(factor).mid())
        if term.form != "angle":
            total += f * float(values[0].mid())
            continue
        angle = float(arb.atan2(values[0], values[1]).mid())
        place = (term.joint, term.index)
        if place in known:
            angle += 2 * np.pi * round((known[place] - angle) / (2 * np.pi))
        else:
            free.append((len(near), f))
        total += f * angle
        near.append(angle)
    for turns in _trials(len(free)):
        left = total + 2 * np.pi * sum(f * n for (_, f), n in zip(free[1:], turns, strict=True))
        first = 0 if not free else round(-left / (2 * np.pi * free[0][1]))
        if abs(left + (2 * np.pi * free[0][1] * first if free else 0.0)) < _CLOSED:
            for (i, _), n in zip(free, (first, *turns), strict=False):
                near[i] += 2 * np.pi * n
            break
    return near


def _trials(n_free: int) -> list[tuple[int, ...]]:
    """Return turns of all free angles but the first, the smallest first."""
    trials = product(range(-_TURNS, _TURNS + 1), repeat=min(max(n_free - 1, 0), 2))
    return sorted(trials, key=lambda turns: sum(map(abs, turns)))
