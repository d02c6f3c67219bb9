"""Transfers that hold because the loops constrain the motion, beyond what the joints say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sympy as sp
from flint import arb

from mechid.base.constant import Constant, constants, zero_of
from mechid.base.loop_constraints import Alike, alike, at_rest, homogeneous, products
from mechid.base.nullspace import independent
from mechid.base.proof import equations
from mechid.base.relations import Echelon, Entries, Relations, relations
from mechid.base.transfers import Transfer, entries_of, without_effect
from mechid.exact.geometry import Geometry
from mechid.exact.numbers import exact_number
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import GROUND, Vec3
from mechid.mechanism.size import characteristic_size


@dataclass(frozen=True, eq=False)
class LoopConstraints:
    """How the loops constrain the bodies.

    Attributes
    ----------
    by_joints, rest : mappings
        What is at rest in each body, by the joints alone and in truth.
    alike : tuple of Alike
        Pairs of bodies that move alike in part.
    relations : Relations
        What follows for the vectors of all bodies.
    """

    by_joints: dict[str, Constant]
    rest: dict[str, Constant]
    alike: tuple[Alike, ...]
    relations: Relations

    @property
    def held(self) -> tuple[str, ...]:
        """Bodies in which the loops hold more at rest than the joints."""
        return tuple(
            name
            for name, before in self.by_joints.items()
            if len(self.rest[name].at_rest) > len(before.at_rest)
        )


def loop_constraints(geometry: Geometry, motion: Motion, gravity: Vec3) -> LoopConstraints:
    """Find what the loops add, in random states; it has to be proved or confirmed afterwards."""
    mechanism = geometry.mechanism
    size = characteristic_size(mechanism)
    poses = homogeneous(geometry, motion)
    by_joints = constants(geometry, gravity)
    rest = constants(geometry, gravity, at_rest(poses, mechanism, by_joints, size))
    pairs = tuple(alike(poses, mechanism, rest, size))
    at_rest_in = {name: constant.at_rest for name, constant in rest.items()}
    return LoopConstraints(by_joints, rest, pairs, relations(geometry, at_rest_in, pairs))


def loop_transfers(
    geometry: Geometry, known: Sequence[Transfer], found: LoopConstraints, gravity: Vec3
) -> tuple[Transfer, ...]:
    """Return transfers that the loops add to the known ones, which the joints alone give."""
    added = (*_bodies(geometry, found), *_pairs(geometry, found.alike))
    if not found.held and not found.alike:
        return ()
    pairs = independent(geometry, added, known)
    several = _several(geometry, found.relations, gravity)
    return (*pairs, *independent(geometry, several, (*known, *pairs)))


def _bodies(geometry: Geometry, found: LoopConstraints) -> Iterator[Transfer]:
    for i, body in enumerate(geometry.mechanism.bodies, start=1):
        before, after = found.by_joints[body.name], found.rest[body.name]
        if len(after.at_rest) > len(before.at_rest) or len(after.level) > len(before.level):
            for words, ten in without_effect(geometry, body.name, after):
                text = f"{words} of {body.name}, held by the loops"
                yield Transfer(text, body.name, GROUND, entries_of(i, ten), by_loops=True)


def _pairs(geometry: Geometry, found: Sequence[Alike]) -> Iterator[Transfer]:
    numbers = {body.name: i for i, body in enumerate(geometry.mechanism.bodies, start=1)}
    for pair in found:
        a, b = pair.bodies
        for on_a, on_b in products(pair):
            entries = (*entries_of(numbers[a], on_a), *entries_of(numbers[b], on_b, -1))
            what = _order(on_a) or _order(on_b)
            words = f"{what} from {a} to {b}, which the loops make move alike"
            yield Transfer(words, a, b, entries, by_loops=True)


def _several(geometry: Geometry, found: Relations, gravity: Vec3) -> Iterator[Transfer]:
    """Yield distributions over any number of bodies that cancel each other.

    Over free vectors, the inertia of all bodies is one sum of products ρ σᵀ. Where nothing is left
    of it but products with what is constant, there is no energy; and no weight where, besides, its
    first moment keeps its height.
    """
    bodies = geometry.mechanism.bodies
    down = {4 * found.n_bodies + k: arb(g) for k, g in enumerate(gravity) if g}
    constant, _ = equations(geometry, found)
    seen = Echelon(zero_of(geometry))
    for i in range(len(bodies)):
        for name, order, second_moments in _UNITS:
            row: Entries = {}
            for a, b, x in second_moments:
                ways = [found.images[4 * i + k] for k in (a, b)]
                for key, y in found.product(*ways).items():
                    if not any(map(found.fixed, key)):
                        row[key] = row.get(key, arb(0)) + x * y
                for this, other in ((a, ways[1]), (b, ways[0])):
                    if this == 3:  # mass at the origin, and first moments
                        for key, y in constant.left_of(found.product(down, other)).items():
                            row["weight", key] = row.get(("weight", key), arb(0)) + x * y
            row[_Parameter(name, i, order)] = arb(1)
            if seen.add(row, (_is_effect,)):
                continue
            left = seen.left_of(row)
            if not any(map(_is_effect, left)):
                yield _cancelled([body.name for body in bodies], found.size, left)


@dataclass(frozen=True)
class _Parameter:
    """An inertial parameter, which is of an order in lengths."""

    name: str
    body: int
    order: int


# Second moments ∫ ρ ρᵀ dm, by the parameters: (row, column, factor).
_UNITS: tuple[tuple[str, int, tuple[tuple[int, int, float], ...]], ...] = (
    ("m", 0, ((3, 3, 1.0),)),
    *((f"m{axis}", 1, ((k, 3, 2.0),)) for k, axis in enumerate("xyz")),
    *(
        (f"I{axis}{axis}", 2, tuple((m, m, -0.5 if m == k else 0.5) for m in range(3)))
        for k, axis in enumerate("xyz")
    ),
    *((f"I{'xyz'[a]}{'xyz'[b]}", 2, ((a, b, -2.0),)) for a, b in ((0, 1), (0, 2), (1, 2))),
)


def _is_effect(key: object) -> bool:
    return not isinstance(key, _Parameter)


def _cancelled(names: Sequence[str], scale: float, left: Entries) -> Transfer:
    """Return what is left of parameters alone as a transfer."""
    entries = {p: exact_number(x * arb(scale) ** p.order) for p, x in left.items()}
    involved = [names[i] for i in sorted({p.body for p in entries})]
    words = f"distribution over {', '.join(involved)}, which the loops make move alike"
    return Transfer(
        words,
        involved[-1],
        involved[0],
        tuple((f"{p.name}_{p.body + 1}", x) for p, x in entries.items()),
        by_loops=True,
    )


def _order(ten: Sequence[sp.Expr]) -> str:
    """Name a distribution by its lowest moment."""
    if ten[0] != 0:
        return "monopole"
    if any(x != 0 for x in ten[1:4]):
        return "dipole"
    return "quadrupole" if any(x != 0 for x in ten[4:]) else ""
