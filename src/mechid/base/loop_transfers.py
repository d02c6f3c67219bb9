"""Transfers that hold because the loops constrain the motion, beyond what the joints say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sympy as sp

from mechid.base.constant import Constant, constants
from mechid.base.loop_constraints import Alike, alike, at_rest, homogeneous, products
from mechid.base.nullspace import independent
from mechid.base.transfers import Transfer, entries_of, without_effect
from mechid.exact.geometry import Geometry
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
    """

    by_joints: dict[str, Constant]
    rest: dict[str, Constant]
    alike: tuple[Alike, ...]

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
    return LoopConstraints(by_joints, rest, tuple(alike(poses, mechanism, rest, size)))


def loop_transfers(
    geometry: Geometry, known: Sequence[Transfer], found: LoopConstraints
) -> tuple[Transfer, ...]:
    """Return transfers that the loops add to the known ones, which the joints alone give."""
    added = (*_bodies(geometry, found), *_pairs(geometry, found.alike))
    return independent(geometry, added, known)


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


def _order(ten: Sequence[sp.Expr]) -> str:
    """Name a distribution by its lowest moment."""
    if ten[0] != 0:
        return "monopole"
    if any(x != 0 for x in ten[1:4]):
        return "dipole"
    return "quadrupole" if any(x != 0 for x in ten[4:]) else ""
