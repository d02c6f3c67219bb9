"""Flat tables for joint reactions: joints, tree, what cut joints hold, where actuators act.

A *held row* is one force or moment that a cut joint can exert, the force of a distance constraint,
the forces of a coupling on its coordinates, or the moment that holds a passive spin; its multiplier
is unknown. What a tree joint transmits follows from the bodies behind it.
Bodies are numbered in the order of the mechanism, the ground last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mechid.dynamics.compile import MeasureBuilder, dynamic_model
from mechid.dynamics.tables import SLIDE, MeasureTables
from mechid.kinematics.compile import Rigid
from mechid.kinematics.couplings import coupling_scale
from mechid.kinematics.kernels.jit import kept_models
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.tables import Floats, Ints, Records
from mechid.mechanism.records import (
    GROUND,
    Coupling,
    DistanceCoordinate,
    IndependentCoordinate,
    Joint,
    JointCoordinate,
    Mechanism,
    Point,
)

# held rows: a force along an axis of frame a; a moment normal to an axis of frame a and one of
# frame b; both along z as a thread gives them; a moment that holds a spin; a force along the line
# of a distance constraint; forces on coupled coordinates
FORCE, MOMENT, THREAD, SPIN, LINE, COUPLED = 0, 1, 2, 3, 4, 5

JOINT = np.dtype([("link_a", np.int64), ("link_b", np.int64), ("helical", np.int64)])
STEP = np.dtype(
    [
        ("joint", np.int64),
        ("parent", np.int64),  # bodies
        ("child", np.int64),
        ("reverse", np.int64),  # the child is body a of the joint
        ("first", np.int64),  # its columns
        ("last", np.int64),
        ("angles", np.int64),  # orientation written with roll, pitch and yaw
    ]
)
HELD = np.dtype(
    [
        ("joint", np.int64),  # SPIN, LINE: number of the spin or line instead
        ("kind", np.int64),
        ("axis_a", np.int64),
        ("axis_b", np.int64),
        ("lead", np.float64),  # THREAD: m per rad
    ]
)
# a coordinate of a coupling: force on its column per unit of the multiplier of the row
COUPLED_COLUMN = np.dtype(
    [
        ("row", np.int64),
        ("joint", np.int64),
        ("column", np.int64),
        ("factor", np.float64),
        ("sense", np.float64),  # -1: the column moves body a of the joint
    ]
)


class ReactionTables(NamedTuple):
    """Joints in the order of the mechanism, tree steps from the ground on, held rows."""

    joints: Records
    rotation_a: Floats  # (n_joints, 3, 3) joint frame a in its link
    rotation_b: Floats
    origin_b: Floats  # (n_joints, 3)
    steps: Records
    rows: Records  # of cut joints, then of couplings and distances, then of spins
    side: Ints  # (n_steps, m) +1, -1: a row acts on what is behind a step as on body b, a; 0: no
    spin_link: Ints  # (n_spins, 2) outside, inside
    spin_local: Floats  # (n_spins, 2, 3) directions that are held normal
    line_link: Ints  # (n_lines, 2) of the two points of each distance constraint
    line_local: Floats  # (n_lines, 2, 3)
    coupled: Records
    n_constraints: int
    size: float
    rank: int  # of the held rows in the speeds of the tree: n_v - n_i


class Actuation(NamedTuple):
    """The independent coordinates as measures on which the forces τ act."""

    measures: MeasureTables
    measure_of: Ints  # (n_i,) which of them each coordinate is


@kept_models
def reaction_tables(mechanism: Mechanism) -> tuple[ReactionTables, Actuation]:
    """Compile what joint reactions need besides the tables of the motion."""
    model = dynamic_model(mechanism).kinematics
    builder = MeasureBuilder(model)
    index = [_coordinate(builder, c) for c in mechanism.coordinates]
    actuation = Actuation(builder.tables(), np.array(index, dtype=np.int64))
    return _tables(model, builder.numbers), actuation


def _coordinate(builder: MeasureBuilder, c: IndependentCoordinate) -> int:
    if isinstance(c, JointCoordinate):
        return builder.measure(("joint", c.joint, c.index))
    if isinstance(c, DistanceCoordinate):
        return builder.measure(("length", c.point_a, c.point_b))
    axis = builder.direction(GROUND, c.direction)
    origin = Point("origin", GROUND, (0.0, 0.0, 0.0))
    builder.measures.append(builder.apart(SLIDE, origin, c.point) | {"axis": axis})
    return len(builder.measures) - 1


def _tables(model: KinematicModel, numbers: dict[str, int]) -> ReactionTables:
    mechanism, at = model.mechanism, model.compiled.body_link
    joint_number = {joint.name: i for i, joint in enumerate(mechanism.joints)}
    a = [(at[j.body_a][0], at[j.body_a][1] @ Rigid.of(j.frame_a)) for j in mechanism.joints]
    b = [(at[j.body_b][0], at[j.body_b][1] @ Rigid.of(j.frame_b)) for j in mechanism.joints]
    helical = [int(j.kind.thread) for j in mechanism.joints]
    joints = [(x, y, h) for (x, _), (y, _), h in zip(a, b, helical, strict=True)]
    rows, between = [], []
    for joint in model.tree.cut:
        held = [(joint_number[joint.name], *row) for row in _held(joint)]
        rows += held
        between += [(joint.body_a, joint.body_b)] * len(held)
    n_joint_rows = len(rows)
    lines = mechanism.distances
    for c in mechanism.constraints:
        if isinstance(c, Coupling):
            rows.append((-1, COUPLED, 0, 0, 0.0))
            between.append((GROUND, GROUND))
        else:
            rows.append((lines.index(c), LINE, 0, 0, 0.0))
            between.append((c.point_a.body, c.point_b.body))
    rows += [(i, SPIN, 0, 0, 0.0) for i in range(len(model.passive))]
    between += [(part.outside, part.inside) for part in model.passive]
    ends = [[(p.body, np.array(p.local)) for p in (c.point_a, c.point_b)] for c in lines]
    spins = [
        ((part.outside, part.direction_outside), (part.inside, part.direction_inside))
        for part in model.passive
    ]
    return ReactionTables(
        joints=np.array(joints, dtype=JOINT).view(np.recarray),
        rotation_a=np.array([frame.rotation for _, frame in a]).reshape(-1, 3, 3),
        rotation_b=np.array([frame.rotation for _, frame in b]).reshape(-1, 3, 3),
        origin_b=np.array([frame.translation for _, frame in b]).reshape(-1, 3),
        steps=np.array(_steps(model, numbers, joint_number), dtype=STEP).view(np.recarray),
        rows=np.array(rows, dtype=HELD).view(np.recarray),
        side=_sides(model, between),
        spin_link=np.array([[at[x][0] for x, _ in s] for s in spins], np.int64).reshape(-1, 2),
        spin_local=np.array(
            [[at[x][1].rotation @ np.array(d) for x, d in s] for s in spins]
        ).reshape(-1, 2, 3),
        line_link=np.array([[at[x][0] for x, _ in e] for e in ends], np.int64).reshape(-1, 2),
        line_local=np.array(
            [[at[x][1].translation + at[x][1].rotation @ s for x, s in e] for e in ends]
        ).reshape(-1, 2, 3),
        coupled=np.array(_coupled(model, n_joint_rows, joint_number), dtype=COUPLED_COLUMN).view(
            np.recarray
        ),
        n_constraints=len(mechanism.constraints),
        size=model.size,
        rank=model.compiled.n_v - model.n_independent,
    )


def _held(joint: Joint) -> Iterator[tuple[int, int, int, float]]:
    """Yield (kind, axis of a, axis of b, lead) of what a joint can exert on its second body."""
    for k in joint.kind.held_axes:
        yield FORCE, k, 0, 0.0
    for i, j in joint.kind.held_pairs:
        yield MOMENT, i, j, 0.0
    if joint.kind.thread:
        yield THREAD, 2, 0, joint.pitch / (2 * np.pi)


def multiplier_scale(mechanism: Mechanism, size: float) -> Floats:
    """Return what makes the multipliers of the held rows of constraints those of NOTATION.md.

    A held row has unit forces (times L) or moments; see `kinematics.couplings.coupling_scale`.
    """
    scales = [
        coupling_scale(mechanism, c, size) if isinstance(c, Coupling) else 1.0 / size
        for c in mechanism.constraints
    ]
    return np.array(scales, dtype=float)


def _coupled(
    model: KinematicModel, first: int, joint_number: dict[str, int]
) -> list[tuple[int, int, int, float, float]]:
    reverse = {step.joint.name: step.reverse for step in model.tree.joints}
    scale = multiplier_scale(model.mechanism, model.size)
    return [
        (
            first + i,
            joint_number[name],
            model.compiled.coordinate[name, index].v,
            float(factor * scale[i]),
            -1.0 if reverse[name] else 1.0,
        )
        for i, c in enumerate(model.mechanism.constraints)
        if isinstance(c, Coupling)
        for name, index, factor in c.terms
    ]


def _steps(
    model: KinematicModel, numbers: dict[str, int], joint_number: dict[str, int]
) -> list[tuple[int, ...]]:
    # Columns of the tree joints stand in the order of the tree.
    steps: list[tuple[int, ...]] = []
    first = 0
    for step in model.tree.joints:
        last = first + step.joint.kind.n_speeds
        ends = (numbers[step.parent], numbers[step.child], int(step.reverse))
        angles = int(step.joint.name in model.compiled.angles)
        steps.append((joint_number[step.joint.name], *ends, first, last, angles))
        first = last
    return steps


def _sides(model: KinematicModel, between: list[tuple[str, str]]) -> Ints:
    behind = {step.child: {step.child} for step in model.tree.joints}
    for step in reversed(model.tree.joints):
        if step.parent != GROUND:
            behind[step.parent] |= behind[step.child]
    side = [
        [int(b in behind[step.child]) - int(a in behind[step.child]) for a, b in between]
        for step in model.tree.joints
    ]
    return np.array(side, dtype=np.int64).reshape(len(side), len(between))
