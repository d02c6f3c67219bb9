"""Transfers that hold because the loops confine the motion, beyond what the joints say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import sympy as sp

from mechid.base.confinement import Alike, alike, at_rest, homogeneous, products
from mechid.base.constant import Constant, constants
from mechid.base.transfers import Transfer, entries_of, without_effect
from mechid.exact.geometry import Geometry
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import GROUND, Vec3
from mechid.mechanism.size import characteristic_size

_NEW = 1e-7  # part of a unit vector outside the span that makes it a new one


def loop_transfers(
    geometry: Geometry, known: Sequence[Transfer], motion: Motion, gravity: Vec3
) -> tuple[Transfer, ...]:
    """Return transfers that the loops add to the known ones.

    Parameters
    ----------
    geometry : Geometry
    known : sequence of Transfer
        What the joints alone give.
    motion : Motion
        Random states; what is alike in all of them is taken to be alike always, and has to be
        confirmed.
    gravity : Vec3
    """
    mechanism = geometry.mechanism
    size = characteristic_size(mechanism)
    poses = homogeneous(geometry, motion)
    joints_only = constants(geometry, gravity)
    rest = constants(geometry, gravity, at_rest(poses, mechanism, joints_only, size))
    span = _Span(geometry)
    for transfer in known:
        span.add(transfer)
    candidates = [
        *_bodies(geometry, joints_only, rest),
        *_pairs(geometry, alike(poses, mechanism, rest, size)),
    ]
    return tuple(transfer for transfer in candidates if span.add(transfer))


def confinements(
    geometry: Geometry, motion: Motion, gravity: Vec3
) -> dict[str, tuple[Constant, Constant]]:
    """Return what is at rest in the bodies that loops confine: by the joints, and in truth."""
    mechanism = geometry.mechanism
    size = characteristic_size(mechanism)
    joints_only = constants(geometry, gravity)
    held = at_rest(homogeneous(geometry, motion), mechanism, joints_only, size)
    rest = constants(geometry, gravity, held)
    return {
        body.name: (joints_only[body.name], rest[body.name])
        for body in mechanism.bodies
        if len(rest[body.name].at_rest) > len(joints_only[body.name].at_rest)
    }


class _Span:
    """Orthonormal basis of transfers in floats, to tell new ones."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        self._place: dict[str, int] = {}
        self._basis: list[dict[int, float]] = []
        self._dense: Floats = np.zeros((0, 0))

    def add(self, transfer: Transfer) -> bool:
        """Add a transfer; say whether it was new."""
        for name, _ in transfer.entries:
            self._place.setdefault(name, len(self._place))
        width = len(self._place)
        if self._dense.shape[1] < width:
            grown = np.zeros((len(self._dense), 2 * width + 64))
            grown[:, : self._dense.shape[1]] = self._dense
            self._dense = grown
        v = np.zeros(self._dense.shape[1])
        for name, entry in transfer.entries:
            v[self._place[name]] += float(self._geometry.balls(entry).mid())
        length = float(np.linalg.norm(v))
        if length == 0:
            return False
        v /= length
        for _ in range(2):  # twice is enough to be orthogonal to rounding
            v -= self._dense.T @ (self._dense @ v)
        left = float(np.linalg.norm(v))
        if left < _NEW:
            return False
        self._dense = np.vstack([self._dense, v / left])
        return True


def _bodies(
    geometry: Geometry, joints_only: dict[str, Constant], rest: dict[str, Constant]
) -> Iterator[Transfer]:
    for i, body in enumerate(geometry.mechanism.bodies, start=1):
        before, after = joints_only[body.name], rest[body.name]
        more = len(after.at_rest) > len(before.at_rest) or len(after.level) > len(before.level)
        if more:
            for words, ten in without_effect(geometry, body.name, after):
                text = f"{words} of {body.name}, held by the loops"
                yield Transfer(text, body.name, GROUND, entries_of(i, ten), by_loops=True)


def _pairs(geometry: Geometry, found: Iterator[Alike]) -> Iterator[Transfer]:
    numbers = {body.name: i for i, body in enumerate(geometry.mechanism.bodies, start=1)}
    for pair in found:
        a, b = pair.bodies
        for on_a, on_b in products(pair):
            minus = tuple(-x for x in on_b)
            entries = (*entries_of(numbers[a], on_a), *entries_of(numbers[b], minus))
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
