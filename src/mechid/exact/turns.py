"""Full turns of coupled angles at a closed pose: a rotation shows an angle within ±π only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from flint import arb

from mechid.exact.rows import Configuration, Near, products_of, screw_turn
from mechid.kinematics.couplings import coupling_constant
from mechid.kinematics.reference_point.constraints import Row
from mechid.mechanism.records import JointCoordinate, Mechanism

_CLOSED = 1e-7  # rad, or m: a coupling at a float pose, if its angles have the right turns
_TURNS = 12  # turns that are tried for angles that follow from nothing else


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
