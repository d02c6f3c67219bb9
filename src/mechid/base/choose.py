"""Rules that choose the dependent parameters, as an order of preference or as a list.

Every rule returns names of dependent parameters; those without effect are not among them, nor those
of massless bodies. A rule is an order of preference: in this order parameters become dependent as
long as their rows of N are independent. Any order leads to a valid choice. Rules that compare whole
choices are in `exchange.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from flint import ctx

from mechid.base.constant import constants
from mechid.base.homogeneous import shared_vectors
from mechid.base.matroid import (
    Block,
    Growing,
    Matroid,
    circuit,
    greedy,
    matroid,
    without_effect,
)
from mechid.base.nullspace import NullSpace
from mechid.base.spaces import size
from mechid.errors import MechidError
from mechid.exact.numbers import PRECISION
from mechid.mechanism.records import GROUND
from mechid.spatial.inertia import NAMES

Kind: TypeAlias = Literal["mass", "tensor", "first"]
MASS_TENSOR_FIRST: tuple[Kind, ...] = ("mass", "tensor", "first")
MASS_FIRST_TENSOR: tuple[Kind, ...] = ("mass", "first", "tensor")

_KIND: dict[str, Kind] = {
    name: "mass" if name == "m" else "first" if name.startswith("m") else "tensor" for name in NAMES
}
# About z, Iyy is grouped with Ixx (the usual choice for serial robots); about x and y likewise.
_GROUPED = ("Izz", "Ixx", "Iyy")
_ALONG = 1e-9  # an axis this near to a body axis is along it
_LISTED = 6  # parameters of a relation in a message


def first(null_space: NullSpace) -> tuple[str, ...]:
    """Return the first parameters that can be dependent, in the order of the bodies."""
    return in_order(null_space, null_space.names)


def last(null_space: NullSpace) -> tuple[str, ...]:
    """Return the last parameters that can be dependent."""
    return in_order(null_space, tuple(reversed(null_space.names)))


def in_order(null_space: NullSpace, order: Iterable[str]) -> tuple[str, ...]:
    """Return the dependent parameters that an order of preference leads to."""
    m = matroid(null_space)
    return with_effect(m, greedy(m, order))


def at_random(null_space: NullSpace, seed: int = 0) -> tuple[str, ...]:
    """Return a valid choice by a random order of preference.

    Every valid choice can come, but not all are equally likely.
    """
    names = np.array(null_space.names)
    return in_order(null_space, np.random.default_rng(seed).permutation(names).tolist())


def converge_on(
    null_space: NullSpace,
    targets: Sequence[str],
    order: tuple[Kind, ...] = MASS_TENSOR_FIRST,
    target_order: tuple[Kind, ...] | None = None,
) -> tuple[str, ...]:
    """Return dependent parameters such that inertia gathers in the target bodies.

    Bodies give away what they can, the farthest first. Distances count joints across which a mass
    can pass (those with a shared point). A body that no such way leads to, or that does not turn,
    takes what others give; it comes after those on the way, and the targets come last.

    Parameters
    ----------
    null_space : NullSpace
    targets : sequence of str
        Names of bodies.
    order : tuple of "mass", "tensor", "first"
        What a body gives away first.
    target_order : tuple, optional
        Likewise in the targets; ("tensor", "first", "mass") leaves them their mass.
    """
    mechanism = null_space.geometry.mechanism
    known = [body.name for body in mechanism.bodies]
    for name in targets:
        if name not in known:
            raise MechidError(
                f"there is no body {name} to converge on",
                where=mechanism.name,
                remedy=f"choose one of: {', '.join(known)}",
            )
    if not targets:
        raise MechidError("name at least one body to converge on", where=mechanism.name)
    ranks = _ranks(null_space, targets)
    numbers = {name: i for i, name in enumerate(known, start=1)}
    preferred: list[str] = []
    for name in sorted(known, key=lambda n: (ranks[n], numbers[n])):
        kinds = target_order if target_order is not None and name in targets else order
        preferred += [f"{x}_{numbers[name]}" for x in _inside(null_space, name, kinds)]
    elements = [name for name in null_space.names if name not in set(preferred)]
    return in_order(null_space, [*elements, *preferred])


def as_listed(null_space: NullSpace, names: Sequence[str]) -> tuple[str, ...]:
    """Return a list of the user if it is a valid choice.

    Parameters without effect may be listed or left out.

    Raises
    ------
    MechidError
        Saying which rank the list has, which entries depend on which, and what to use instead.
    """
    where = null_space.geometry.mechanism.name
    m = matroid(null_space)
    _check_names(null_space, names, where)
    effective = set(with_effect(m, greedy(m, names)))
    without = without_effect(m)
    listed = [name for name in names if name not in without and name not in null_space.zeros]
    wanted = m.rank - len(without)
    kept, lost = _sorted_out(m, listed)
    if not lost and len(kept) == wanted:
        at = {name: i for i, name in enumerate(null_space.names)}
        return tuple(sorted(kept, key=at.__getitem__))
    missing = [name for name in null_space.names if name in effective - set(kept)]
    what = f"the list of {len(listed)} has rank {len(kept)}, {wanted} are required"
    if lost:
        what += f" ({_reasons(lost)})"
    instead = f"use {', '.join(missing)} instead" if lost else f"add {', '.join(missing)}"
    raise MechidError(what, where=where, remedy=instead if missing else "omit these")


def by_name(null_space: NullSpace, name: str) -> tuple[str, ...]:
    """Return a choice that the model file names under `base_sets`, if it is valid."""
    mechanism = null_space.geometry.mechanism
    known = {s.name: s for s in mechanism.base_sets}
    if name not in known:
        raise MechidError(
            f"there is no base set {name}",
            where=mechanism.name,
            remedy=f"choose one of: {', '.join(known)}"
            if known
            else "define base_sets in the file",
        )
    try:
        return as_listed(null_space, known[name].dependent)
    except MechidError as error:
        raise error.located(f"base set {name}") from None


def with_effect(m: Matroid, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return a choice without the parameters that no force depends on."""
    without = without_effect(m)
    return tuple(name for name in chosen if name not in without)


def _ranks(null_space: NullSpace, targets: Sequence[str]) -> dict[str, float]:
    """Return the turn of each body: the farthest first, then what takes, then the targets."""
    geometry = null_space.geometry
    with ctx.workprec(PRECISION):
        rest = constants(geometry, geometry.mechanism.gravity)
    steps: dict[str, set[str]] = {}
    for joint in geometry.mechanism.joints:
        if GROUND in (joint.body_a, joint.body_b):
            continue
        if any(s.is_point for s in shared_vectors(joint, geometry)):
            steps.setdefault(joint.body_a, set()).add(joint.body_b)
            steps.setdefault(joint.body_b, set()).add(joint.body_a)
    distance = dict.fromkeys(targets, 0)
    waiting = list(distance)
    while waiting:
        name = waiting.pop(0)
        for other in sorted(steps.get(name, ())):
            if other not in distance:
                distance[other] = distance[name] + 1
                waiting.append(other)
    ranks: dict[str, float] = {}
    for body in geometry.mechanism.bodies:
        away = distance.get(body.name)
        takes = away is None or len(rest[body.name].directions) == 3
        ranks[body.name] = 1.0 if away == 0 else 0.0 if takes or away is None else -float(away)
    return ranks


def _inside(null_space: NullSpace, body: str, kinds: tuple[Kind, ...]) -> list[str]:
    """Return the names of the ten in order of preference."""
    grouped = _grouped(null_space, body)
    tensor = [*grouped, *(n for n in NAMES if _KIND[n] == "tensor" and n not in grouped)]
    parts = {
        "mass": ["m"],
        "tensor": tensor,
        "first": [n for n in NAMES if _KIND[n] == "first"],
    }
    return [name for kind in kinds for name in parts[kind]]


def _grouped(null_space: NullSpace, body: str) -> list[str]:
    """Return the moments of inertia that go with the axes that a body shares."""
    geometry = null_space.geometry
    found: dict[str, None] = {}
    for joint in geometry.mechanism.joints:
        if not joint.kind.axle:
            continue
        for side, name in enumerate((joint.body_a, joint.body_b)):
            if name == body:
                axis = geometry.frames[joint.name, side].axes[2]
                sizes = [size(geometry.balls(x)) for x in axis]
                k = int(np.argmax(sizes))
                if sizes[k] > 1 - _ALONG:
                    found[_GROUPED[k]] = None
    return list(found)


def _check_names(null_space: NullSpace, names: Sequence[str], where: str) -> None:
    for i, name in enumerate(names):
        if name not in null_space.names:
            near = [n for n in null_space.names if n.replace("_", "") == name.replace("_", "")]
            listed = ", ".join(null_space.names[:_LISTED])
            raise MechidError(
                f"there is no parameter {name}",
                where=where,
                remedy=f"did you mean {near[0]}?" if near else f"choose one of: {listed}, …",
            )
        if name in names[:i]:
            raise MechidError(f"{name} is listed twice", where=where, remedy="remove one entry")


def _sorted_out(
    m: Matroid, listed: Sequence[str]
) -> tuple[list[str], list[tuple[str, dict[str, float]]]]:
    """Return the entries that can be dependent together, and those that follow from others."""
    of: dict[str, tuple[Block, int]] = {
        name: (block, i) for block in m.blocks for i, name in enumerate(block.names)
    }
    growing = {id(block): Growing(block.rank) for block in m.blocks}
    without = without_effect(m)
    kept: list[str] = []
    lost: list[tuple[str, dict[str, float]]] = []
    for name in (*sorted(without), *listed):
        block, i = of.get(name, (None, 0))
        if block is not None and growing[id(block)].add(block.rows[i]):
            kept.append(name)
        else:
            before = [n for n in kept if block is not None and of[n][0] is block]
            found = circuit(block, before, name) if block is not None and before else {}
            lost.append((name, {n: x for n, x in found.items() if n not in without}))
    return [name for name in kept if name not in without], lost


def _reasons(lost: Sequence[tuple[str, dict[str, float]]]) -> str:
    """Say of every entry that cannot be dependent why not."""
    alone = [name for name, relation in lost if not relation]
    said = [f"no other parameter can replace {', '.join(alone)}"] if alone else []
    for name, relation in lost:
        if relation:
            others = list(relation)
            listed = ", ".join(others[:_LISTED]) + (", …" if len(others) > _LISTED else "")
            said.append(f"{name} depends on {listed}")
    return "; ".join(said)
