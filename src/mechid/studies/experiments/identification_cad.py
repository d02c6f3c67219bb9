"""CAD values of other laws than the usual one; bodies stay possible."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from mechid.errors import DataError
from mechid.mechanism.records import Body, CadInertia, Mechanism
from mechid.tasks.synthetic_errors import stream

_DIFFERENT = 1.1  # ratio of masses that are worth an exchange


def with_centres_off(cad: Mechanism, truth: Mechanism, share: float, seed: int) -> Mechanism:
    """Return CAD values whose centres are off by a share of the size of each body.

    Per axis the standard deviation is that share of √(trace I / m), I about the centre. Masses and
    moments about the centre are those of `cad`.
    """
    rng = stream(seed, "centres")
    bodies = []
    for body, true in zip(cad.bodies, truth.bodies, strict=True):
        error = share * rng.standard_normal(3)  # drawn for every body
        if body.inertia is not None and true.inertia is not None and true.inertia.mass > 0:
            x, y, z = (np.array(true.inertia.center) + error * _size(true.inertia)).tolist()
            body = replace(body, inertia=replace(body.inertia, center=(x, y, z)))
        bodies.append(body)
    return replace(cad, bodies=tuple(bodies))


def with_masses_exchanged(cad: Mechanism, truth: Mechanism, seed: int) -> Mechanism:
    """Return CAD values in which two bodies have each other's mass.

    First and second moments follow the mass, so that centres and radii of gyration stay. The two
    are drawn among those whose true masses differ by more than a tenth.
    """
    masses = {b.name: b.inertia.mass for b in truth.bodies if b.inertia and b.inertia.mass > 0}
    pairs = [
        (a, b)
        for a, b in combinations(masses, 2)
        if max(masses[a], masses[b]) > _DIFFERENT * min(masses[a], masses[b])
    ]
    if not pairs:
        raise DataError("no two bodies differ in mass", where=truth.name)
    one, other = pairs[stream(seed, "cad_exchanged").integers(len(pairs))]
    own = {b.name: b.inertia.mass for b in cad.bodies if b.inertia}
    new = {one: own[other], other: own[one]}
    bodies = tuple(_with_mass(b, new[b.name]) if b.name in new else b for b in cad.bodies)
    return replace(cad, bodies=bodies)


def _with_mass(body: Body, mass: float) -> Body:
    known = body.inertia
    assert known is not None
    xx, xy, xz, yy, yz, zz = (mass / known.mass * np.array(known.inertia_center)).tolist()
    return replace(body, inertia=replace(known, mass=mass, inertia_center=(xx, xy, xz, yy, yz, zz)))


def _size(known: CadInertia) -> float:
    xx, _, _, yy, _, zz = known.inertia_center
    return float(np.sqrt(max(xx + yy + zz, 0.0) / known.mass))
