"""Independent coordinates for a robot whose file does not name them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mechid.errors import ModelError
from mechid.kinematics.assembly import Closed, close, generic_pose, reference_coordinates
from mechid.kinematics.compile import Compiled, compile_tables
from mechid.kinematics.passive import passive_parts
from mechid.kinematics.tree import spanning_tree
from mechid.mechanism.records import Mechanism
from mechid.modelfile.build import build_document
from mechid.modelfile.document import validate
from mechid.spatial.rotations import Array

_RANK = 1e-9  # of the largest column: what is left of a dependent one
_SEEDS = 3  # generic poses at which the rank is taken


@dataclass(frozen=True)
class Candidate:
    """A joint whose coordinates may be independent.

    `rank` says how readily: 2 for joints with motors and the base, 0 for those with an orientation.
    """

    joint: str
    rank: int


def with_coordinates(
    document: dict[str, Any], candidates: list[Candidate]
) -> tuple[dict[str, Any], list[str]]:
    """Return the document with independent coordinates, and notes about them.

    In a tree all joints are independent, but those that follow others by couplings. Loops make
    some dependent: those with the largest effect on the closure, of the lowest rank first.
    """
    if "cut" not in document:
        followers = _followers(document, [c.joint for c in candidates])
        if followers is not None:
            return _with(document, [c.joint for c in candidates if c.joint not in followers]), []
    mechanism = build_document(validate(document))
    chosen = _independent(mechanism, {c.joint: c.rank for c in candidates})
    note = f"independent coordinates, chosen for the loops: {', '.join(chosen)}"
    return _with(document, chosen), [note]


def _followers(document: dict[str, Any], candidates: list[str]) -> set[str] | None:
    """Return the joints of a tree that couplings let follow others; None if that is not clear.

    Couplings tie joints into groups. If each adds a joint to a group, one joint of the group is
    independent: the first candidate.
    """
    group: dict[str, str] = {name: name for name in candidates}
    for coupling in document.get("constraints", {}).values():
        if "ratio" not in coupling:
            return None
        a, b = (group[name] for name in coupling["between"])
        if a == b:
            return None
        first, other = sorted((a, b), key=candidates.index)
        group = {name: first if head == other else head for name, head in group.items()}
    return {name for name, head in group.items() if name != head}


def _independent(mechanism: Mechanism, rank: dict[str, int]) -> list[str]:
    """Return the coordinates that the closure leaves independent, in the order of the joints."""
    tree = spanning_tree(mechanism)
    compiled = compile_tables(mechanism, tree, passive_parts(mechanism))
    home = close(compiled, reference_coordinates(mechanism, tree, compiled), mechanism.name)
    J = _closure(compiled, home)
    ranks, dependent, mixed = dict(rank), set[int](), list[str]()
    for _ in rank:  # an orientation that the loops determine in part is made dependent as a whole
        dependent = _dependent(J, _order(compiled, ranks))
        mixed = [
            name
            for name in rank
            if 0 < len(_orientation(mechanism, compiled, name) & dependent) < 3
        ]
        if not mixed or all(ranks[name] < 0 for name in mixed):
            break
        ranks |= dict.fromkeys(mixed, -1)
    if mixed:
        raise ModelError(
            f"the loops determine the orientation of joint {mixed[0]} in part",
            remedy="replace it by joints with axes",
        )
    return [word for name in rank for word in _free(mechanism, compiled, name, dependent)]


def _order(compiled: Compiled, ranks: dict[str, int]) -> Array:
    """Return the rank of each tree speed."""
    order = np.full(compiled.n_v, 1)
    for (joint, _), place in compiled.coordinate.items():
        order[place.v : place.v + (3 if place.ball else 1)] = ranks[joint]
    return order


def _orientation(mechanism: Mechanism, compiled: Compiled, name: str) -> set[int]:
    """Return the tree speeds of the orientation of a joint."""
    kind = mechanism.joint(name).kind
    if not kind.has_orientation:
        return set()
    first = compiled.coordinate[name, kind.n_scalars].v
    return set(range(first, first + 3))


def _free(mechanism: Mechanism, compiled: Compiled, name: str, dependent: set[int]) -> list[str]:
    """Return the independent coordinates of a joint; the joint itself if all of them are."""
    kind = mechanism.joint(name).kind
    free = [
        f"{name}.{word}"
        for k, word in enumerate(kind.choices[: kind.n_scalars])
        if compiled.coordinate[name, k].v not in dependent
    ]
    if kind.has_orientation and not _orientation(mechanism, compiled, name) & dependent:
        free += [f"{name}.{word}" for word in kind.choices[kind.n_scalars :]]
    return [name] if len(free) == len(kind.choices) else free


def _closure(compiled: Compiled, home: Closed) -> Array:
    """Return the Jacobian of the closure: in the home pose, unless that is a singular one."""
    rng = np.random.default_rng(0)
    poses = [home, *(generic_pose(compiled, home, rng) for _ in range(_SEEDS))]
    found = [pose.jacobian for pose in poses]
    ranks = [int(np.linalg.matrix_rank(J, rtol=_RANK)) for J in found]
    return np.asarray(found[ranks.index(max(ranks))])


def _dependent(J: Array, order: Array) -> set[int]:
    """Return columns that determine the closure: the largest first, of the lowest order first."""
    left = J.copy()
    bound = _RANK * float(np.linalg.norm(J, axis=0).max(initial=0.0))
    found: set[int] = set()
    for group in sorted(set(order.tolist())):
        columns = [c for c in range(J.shape[1]) if order[c] == group]
        while columns:
            sizes = np.linalg.norm(left[:, columns], axis=0)
            best = columns[int(np.argmax(sizes))]
            if sizes.max() <= bound:
                break
            direction = left[:, best] / sizes.max()
            for _ in range(2):
                left -= np.outer(direction, direction @ left)
            found.add(best)
            columns.remove(best)
    return found


def _with(document: dict[str, Any], words: list[str]) -> dict[str, Any]:
    return document | {"coordinates": {w.replace(".", "_"): {"joint": w} for w in words}}
