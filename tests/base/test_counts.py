"""Numbers of base parameters that are known, and what they do not depend on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.base.baseset import base_set
from mechid.base.choose import first
from mechid.base.nullspace import null_space
from mechid.kinematics.compile import STILL, Rigid
from mechid.mechanism.records import GROUND, Body, Joint, JointCoordinate, JointType, Mechanism
from mechid.mechanism.size import characteristic_size

from ..contract.changes import (
    _moved,
    cut_elsewhere,
    frame_of,
    permuted,
    random_rigid,
    reframed,
    scaled,
)
from .cases import EVERY, null_of

# Variants that differ in elements or masses only are one here.
PLAIN = [spec for spec in EVERY if "@" not in spec]
# Frames anywhere, with numbers that nothing recognises.
ROUNDED = ("four_bar", "slider_crank", "puma560", "sla_suspension", "three_rps", "quarter_vehicle")


def n_base(mechanism: Mechanism) -> int:
    null = null_space(mechanism)
    return base_set(null, first(null)).rank


def tree_robot(
    types: list[JointType], parents: list[int], rng: np.random.Generator, vertical: bool = False
) -> Mechanism:
    """Bodies in random poses with random joints: body k hangs on body parents[k] (-1: ground)."""
    poses = [random_rigid(rng, 1.0) for _ in types]
    joints, coordinates = [], []
    for k, (type, parent) in enumerate(zip(types, parents, strict=True)):
        frame = random_rigid(rng, 0.5)
        if vertical and k == 0:
            frame = Rigid(np.eye(3), frame.translation)
        before = Rigid(np.eye(3), np.zeros(3)) if parent < 0 else poses[parent]
        after = poses[k].inverse @ before @ frame
        name = GROUND if parent < 0 else f"body_{parent}"
        joint = Joint(f"q{k}", type, name, f"body_{k}", frame_of(frame), frame_of(after))
        joints.append(joint)
        unit = joint.kind.units[0]
        coordinates.append(JointCoordinate(f"q{k}", f"q{k}", 0, f"F{k}", unit))
    bodies = tuple(Body(f"body_{k}", frame_of(pose)) for k, pose in enumerate(poses))
    g = (0.0, 0.0, -9.81)
    return Mechanism("robot", g, bodies, tuple(joints), tuple(coordinates))


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_general_serial_arm_with_revolute_joints(n: int) -> None:
    """7 n - 4 (Gautier and Khalil); 7 n - 6 if the first axis is vertical."""
    arm: list[JointType] = ["revolute"] * n
    chain = list(range(-1, n - 1))
    for seed in range(2):
        rng = np.random.default_rng(seed)
        assert n_base(tree_robot(arm, chain, rng)) == 7 * n - 4
        assert n_base(tree_robot(arm, chain, rng, vertical=True)) == 7 * n - 6


@pytest.mark.parametrize("seed", range(6))
def test_general_trees(seed: int) -> None:
    """7 per revolute and 4 per prismatic joint, 4 less per revolute joint with the ground.

    Prismatic joints hang behind two revolute ones with different axes, so that what they carry
    turns freely enough to show all it can.
    """
    rng = np.random.default_rng(100 + seed)
    types: list[JointType] = ["revolute", "revolute"]
    parents = [-1, 0]
    for k in range(2, 7):
        if rng.random() < 0.2:
            types.append("revolute")
            parents.append(-1)
        else:
            deep = [j for j in range(1, k) if parents[j] >= 0]
            types.append("prismatic" if rng.random() < 0.4 else "revolute")
            parents.append(int(rng.choice(deep)))
    at_ground = sum(parent < 0 for parent in parents)
    expected = sum(7 if t == "revolute" else 4 for t in types) - 4 * at_ground
    assert n_base(tree_robot(types, parents, rng)) == expected


def test_puma_has_36() -> None:
    null = null_of("puma560@bare")
    assert base_set(null, first(null)).rank == 36


@pytest.mark.slow
@pytest.mark.parametrize("spec", PLAIN)
def test_count_does_not_depend_on_the_description(spec: str) -> None:
    mechanism = replace(null_of(spec).geometry.mechanism, elements=(), base_sets=())
    expected = n_base(mechanism)
    rng = np.random.default_rng(11)
    assert n_base(permuted(mechanism, rng).mechanism) == expected
    assert n_base(cut_elsewhere(mechanism, rng).mechanism) == expected
    # Axes along the old ones, origins at short decimals: most numbers stay exact.
    assert n_base(_moved(mechanism, _turned(mechanism, rng), STILL).mechanism) == expected
    if spec in ROUNDED:
        L = characteristic_size(mechanism)
        assert n_base(reframed(mechanism, rng, L / 2).mechanism) == expected


def _turned(mechanism: Mechanism, rng: np.random.Generator) -> dict[str, Rigid]:
    moves = {}
    for body in mechanism.bodies:
        turn = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
        turn[0] *= np.sign(np.linalg.det(turn))
        moves[body.name] = Rigid(turn, rng.integers(-9, 10, 3) / 32)
    return moves


@pytest.mark.parametrize("spec", PLAIN)
def test_count_does_not_depend_on_units(spec: str) -> None:
    mechanism = replace(null_of(spec).geometry.mechanism, elements=(), base_sets=())
    expected = n_base(mechanism)
    for factor in (1000.0, 1 / 32):
        change = scaled(mechanism, factor).mechanism
        assert n_base(_without_names(change)) == expected


def _without_names(mechanism: Mechanism) -> Mechanism:
    """Leave out expressions, which still say the old lengths."""
    joints = tuple(
        replace(
            j,
            frame_a=replace(j.frame_a, origin_expr=None),
            frame_b=replace(j.frame_b, origin_expr=None),
        )
        for j in mechanism.joints
    )
    return replace(mechanism, joints=joints)
