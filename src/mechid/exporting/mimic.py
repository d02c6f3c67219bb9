"""Couplings of two joint coordinates as URDF has them: a joint that mimics another."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from mechid.exporting.chain import Forest, without_rounding
from mechid.kinematics.couplings import coupling_constant
from mechid.mechanism.records import Coupling, JointCoordinate, Mechanism


@dataclass(frozen=True)
class Mimic:
    """A joint moves as another one: q = factor · q_joint + offset."""

    joint: str
    factor: float
    offset: float


@dataclass(frozen=True)
class Mimics:
    """By name of the elementary joint that follows, and the couplings that cannot be written."""

    of: dict[str, Mimic]
    left_out: tuple[str, ...]


def mimics(mechanism: Mechanism, forest: Forest) -> Mimics:
    """Return which joints mimic which others; threads are such, too.

    Each joint follows one other at most. From the joint of each group of couplings that is
    independent, or comes first in the tree, the couplings are followed outwards.
    """
    names = {piece.coordinate: piece.name for piece in forest.pieces()}
    found: dict[str, Mimic] = {}
    for piece in forest.pieces():
        if piece.lead is not None:
            found[piece.name] = Mimic(names[piece.coordinate[0], 0], piece.lead, 0.0)
    shift = {piece.coordinate: piece.shift for piece in forest.pieces()}
    driven = {(c.joint, c.index) for c in mechanism.coordinates if isinstance(c, JointCoordinate)}
    held = [c for c in mechanism.couplings if all(end in names for end in _ends(c))]
    pairs = [c for c in held if len(c.terms) == 2]
    left_out = [c.name for c in held if len(c.terms) != 2]
    order = sorted(names, key=lambda coordinate: coordinate not in driven)
    reached: set[tuple[str, int]] = set()
    for root in order:
        queue = deque([root] if root not in reached else [])
        reached.add(root)
        while queue:
            here = queue.popleft()
            for coupling in [c for c in pairs if here in _ends(c)]:
                pairs.remove(coupling)
                other = next(end for end in _ends(coupling) if end != here)
                if other in reached:
                    left_out.append(coupling.name)
                    continue
                reached.add(other)
                queue.append(other)
                mimic = _mimic(mechanism, coupling, other, names[here])
                offset = mimic.offset + mimic.factor * shift[here] - shift[other]
                found[names[other]] = replace(
                    mimic, offset=float(without_rounding(np.array(offset)))
                )
    return Mimics(found, tuple(f"coupling {name}" for name in left_out))


def _ends(coupling: Coupling) -> tuple[tuple[str, int], ...]:
    return tuple((joint, i) for joint, i, _ in coupling.terms)


def _mimic(mechanism: Mechanism, c: Coupling, follower: tuple[str, int], leader: str) -> Mimic:
    factors = dict(zip(_ends(c), (factor for *_, factor in c.terms), strict=True))
    own = factors.pop(follower)
    (other,) = factors.values()
    return Mimic(leader, -other / own, coupling_constant(mechanism, c) / own)
