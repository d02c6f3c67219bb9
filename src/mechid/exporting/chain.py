"""The mechanism as a tree of elementary joints, as URDF and MJCF describe it.

Both formats know a tree of bodies and joints of one kind of motion each; what closes loops is said
besides. A joint that the tree walks from its body b to its body a has the inverse motion: the
steps in reverse order, about reversed axes, with the same coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from mechid.kinematics.compile import STILL, Rigid
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.tables import Floats
from mechid.kinematics.tree import SpanningTree, TreeJoint, spanning_tree
from mechid.mechanism.element_laws import Measure
from mechid.mechanism.element_terms import terms_of
from mechid.mechanism.joint_kinds import Step
from mechid.mechanism.records import Joint, Limit, Mechanism
from mechid.spatial.rotations import matrix_from_quaternion, skew

_UNLIMITED = Limit()
_ROUNDING = 8 * float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Piece:
    """An elementary joint: after `before`, a motion along or about an axis.

    Attributes
    ----------
    name : str
        The joint's, with that of the coordinate where there are several.
    motion : "turn", "slide" or "ball"
    axis : array (3,)
        In the frame before the motion.
    home : float or array (4,)
        Coordinate in the home pose (m, rad), or the quaternion.
    coordinate : (str, int)
        Joint and number of the coordinate.
    limit : Limit
    lead : float or None
        Of a thread: this slide is the coordinate of the turn of this joint times lead, m/rad.
    before : Rigid
    shift : float
        What the coordinate of the model is where this one is zero.
    """

    name: str
    motion: str
    axis: Floats
    home: float | Floats
    coordinate: tuple[str, int]
    limit: Limit = _UNLIMITED
    lead: float | None = None
    before: Rigid = STILL
    shift: float = 0.0

    @property
    def at_home(self) -> Rigid:
        """`before` and the motion, in the home pose."""
        return self.before @ self.moved(self.home)

    def moved(self, value: float | Floats) -> Rigid:
        """Return the motion that belongs to a coordinate."""
        if isinstance(value, np.ndarray):
            return Rigid(matrix_from_quaternion(value), np.zeros(3))
        if self.motion == "slide":
            return Rigid(np.eye(3), value * self.axis)
        K = skew(self.axis)
        return Rigid(np.eye(3) + np.sin(value) * K + (1 - np.cos(value)) * K @ K, np.zeros(3))


@dataclass(frozen=True, eq=False)
class Branch:
    """A body of the tree with the pieces of the joint that carries it.

    Attributes
    ----------
    joint : Joint
    parent, child : str
    start : Rigid
        Frame of the joint in the parent.
    end : Rigid
        The child in its frame of the joint.
    pieces : tuple of Piece
    """

    joint: Joint
    parent: str
    child: str
    start: Rigid
    end: Rigid
    pieces: tuple[Piece, ...]

    def after(self, k: int) -> Rigid:
        """Return the pose of the child at home in the frame after piece k - 1, before piece k."""
        return reduce(lambda x, p: x @ p.at_home, self.pieces[k:], STILL) @ self.end


@dataclass(frozen=True, eq=False)
class Forest:
    """Branches with parents first, and the joints that are cut."""

    branches: tuple[Branch, ...]
    cut: tuple[Joint, ...]

    def pieces(self) -> Iterator[Piece]:
        """Yield all elementary joints."""
        for branch in self.branches:
            yield from branch.pieces


def forest_of(mechanism: Mechanism, holds: Callable[[Joint], bool]) -> Forest:
    """Return the tree for a format; cut are only joints that it can hold, as far as possible.

    Parameters
    ----------
    mechanism : Mechanism
    holds : callable
        Whether the format has a constraint for a cut joint.
    """
    tree = _tree(mechanism, holds)
    model = kinematic_model(mechanism)
    home = solve_motion(model, model.home_y[None])
    used = {name for m in (mechanism.bodies, mechanism.joints) for name in (x.name for x in m)}
    branches = []
    for step in tree.joints:
        values = without_rounding(joint_motion(home, step.joint.name).coordinates[0])
        branches.append(_branch(step, values, used))
    return Forest(tuple(branches), tuple(j for j in tree.cut if not j.kind.holds_nothing))


def from_home(forest: Forest) -> Forest:
    """Return the tree with joint coordinates that are zero in the home pose; balls are kept."""
    return replace(
        forest,
        branches=tuple(
            replace(branch, pieces=tuple(_from_home(piece) for piece in branch.pieces))
            for branch in forest.branches
        ),
    )


def _from_home(piece: Piece) -> Piece:
    home = piece.home
    if isinstance(home, np.ndarray):
        return piece
    low, high = (None if x is None else x - home for x in (piece.limit.lower, piece.limit.upper))
    return replace(piece, home=0.0, shift=home, before=piece.at_home, limit=Limit(low, high))


def _tree(mechanism: Mechanism, holds: Callable[[Joint], bool]) -> SpanningTree:
    """Return the tree that the model uses if the format has all cut joints, or another one."""
    terms = [term for element in mechanism.elements for _, term in terms_of(element)]
    acting = {name for term in terms for name in _joints(term.measure)}
    tree = spanning_tree(mechanism)
    if all(holds(joint) and joint.name not in acting for joint in tree.cut):
        return tree
    free = replace(mechanism, cut=None)
    wanted = acting | {name for c in mechanism.couplings for name, _, _ in c.terms}
    kept = [j.name for j in mechanism.joints if not holds(j) or j.name in wanted]
    return spanning_tree(free, keep=kept)


def out_of_tree(mechanism: Mechanism, forest: Forest) -> Iterator[str]:
    """Yield what acts on joints that are cut all the same, which no format can say."""
    cut = {joint.name for joint in forest.cut}
    for element in mechanism.elements:
        for _, term in terms_of(element):
            for name in cut & {*_joints(term.measure)}:
                yield f"{term.name} on joint {name} (which closes a loop)"
    for coupling in mechanism.couplings:
        for name in cut & {name for name, _, _ in coupling.terms}:
            yield f"coupling {coupling.name} of joint {name} (which closes a loop)"


def _joints(measure: Measure) -> Iterator[str]:
    """Yield the joints whose coordinates a measure reads."""
    if measure[0] == "joint":
        yield str(measure[1])
    elif measure[0] == "sum":
        for part, _ in measure[1:]:
            yield from _joints(part)


def _branch(step: TreeJoint, values: Floats, used: Collection[str]) -> Branch:
    joint = step.joint
    start, end = Rigid.of(joint.frame_a), Rigid.of(joint.frame_b)
    pieces = [
        piece
        for i, s in joint.kind.numbered
        for piece in _pieces(joint, s, i, values, len(joint.kind.steps) == 1)
    ]
    if step.reverse:
        start, end = end, start
        pieces = [_reversed(piece) for piece in reversed(pieces)]
    pieces = [replace(p, name=free_name(p.name, {*used} - {joint.name})) for p in pieces]
    return Branch(joint, step.parent, step.child, start, end.inverse, tuple(pieces))


def _pieces(joint: Joint, step: Step, i: int, values: Floats, alone: bool) -> Iterator[Piece]:
    axis = np.eye(3)[step.axis]
    limit = joint.limits[i] if i < len(joint.limits) else _UNLIMITED
    name = joint.name if alone else f"{joint.name}_{step.names[0]}"
    match step.motion:
        case "ball":
            name = joint.name if alone else f"{joint.name}_turn"
            yield Piece(name, "ball", axis, values[i : i + 4], (joint.name, i))
        case "screw":
            lead = joint.pitch / (2 * np.pi)
            yield Piece(name, "turn", axis, float(values[i]), (joint.name, i), limit)
            at = lead * float(values[i])
            yield Piece(f"{name}_lead", "slide", axis, at, (joint.name, -1), lead=lead)
        case motion:
            yield Piece(name, motion, axis, float(values[i]), (joint.name, i), limit)


def _reversed(piece: Piece) -> Piece:
    home = piece.home
    if isinstance(home, np.ndarray):
        home = home * np.array([1.0, -1.0, -1.0, -1.0])
    return replace(piece, axis=0.0 - piece.axis, home=home)


def free_name(name: str, used: Collection[str]) -> str:
    """Return a name that is not used yet: with underscores if need be."""
    while name in used:
        name += "_"
    return name


def without_rounding(x: Floats, size: float = 1.0) -> Floats:
    """Return numbers with 0 in place of what rounding leaves beside numbers of `size`."""
    x = np.asarray(x, dtype=float)
    return np.where(np.abs(x) <= _ROUNDING * size, 0.0, x)
