"""Kinematics against Pinocchio and MuJoCo, for every mechanism of the zoo.

The other engines are given the coordinates of the joints of a spanning tree of their own, and so
must put every body where it is, with its velocity and acceleration; and the frames of the joints
left over must then stand as these joints allow.
"""

from __future__ import annotations

import numpy as np
import pytest

from mechid.kinematics.model import kinematic_model
from mechid.mechanism.records import Joint

from ..contract.changes import carried, reframed
from ..contract.checks import QUANTITIES, assert_close, sizes, tolerance
from ..contract.joint_table import joint_pose
from ..contract.states import (
    EPS,
    SPECS,
    Array,
    Motion,
    random_course,
    reach,
    solve_course,
    zoo_course,
    zoo_model,
)
from ..property.generate import TYPES, NotUsableError, random_mechanism
from .arborescence import arborescence, coordinates

TIMES = [0.4, 1.9, 4.1]
every_model = pytest.mark.parametrize("spec", SPECS)


def zoo_motion(spec: str) -> Motion:
    return solve_course(zoo_model(spec), zoo_course(spec), TIMES)


def random_tree(seed: int) -> Motion:
    """One body per kind of joint, all frames random, joints from a to b."""
    rng = np.random.default_rng(seed)
    while True:
        try:
            drawn = random_mechanism(list(TYPES), [], rng)
            arborescence(drawn.mechanism)
        except (AssertionError, NotUsableError):
            continue
        model = kinematic_model(drawn.mechanism)
        return solve_course(model, random_course(model, rng), TIMES)


def check_left_over(joint: Joint, c: Array, a: tuple[Array, Array], b: tuple[Array, Array]) -> None:
    """Frames (p, R) of the two sides, against the pose that the joint's coordinates say."""
    R, t = joint_pose(joint, c[None])
    size = max(1.0, float(np.abs([a[0], b[0]]).max()))
    assert_close(a[1].T @ b[1], R[0], 200 * EPS, 1.0)
    assert_close(a[1].T @ (b[0] - a[0]), t[0], 200 * EPS, size)


class TestPinocchio:
    def check(self, motion: Motion) -> None:
        pytest.importorskip("pinocchio")
        from .on_pinocchio import OnPinocchio

        mechanism = motion.model.mechanism
        tree = arborescence(mechanism)
        other = OnPinocchio(mechanism, tree)
        motions = coordinates(motion, tree)
        f, bound = motion.bodies(), tolerance(motion)
        scales = sizes(f, reach(motion))
        for k in range(len(motion.y)):
            other.move(motions, k)
            for i, number in enumerate(other.bodies):
                for name, theirs in zip(QUANTITIES, other.frame(number), strict=True):
                    assert_close(getattr(f, name)[k, i], theirs, bound, scales[name])
            for joint in tree.closing:
                a, b = (other.frame(other.ends[joint.name, side])[:2] for side in "ab")
                check_left_over(joint, motions[joint.name].coordinates[k], a, b)

    @every_model
    def test_zoo(self, spec: str) -> None:
        self.check(zoo_motion(spec))

    @pytest.mark.parametrize("seed", range(3))
    def test_every_kind_of_joint(self, seed: int) -> None:
        self.check(random_tree(seed))

    @pytest.mark.parametrize("spec", ["five_bar@table", "sla_suspension", "macpherson"])
    def test_elsewhere_with_other_frames(self, spec: str) -> None:
        model, rng = zoo_model(spec), np.random.default_rng(9)
        change = reframed(carried(model.mechanism, rng, 2.0).mechanism, rng, model.size)
        moved = kinematic_model(change.mechanism)
        self.check(solve_course(moved, random_course(moved, rng), TIMES))


class TestMujoco:
    def check(self, motion: Motion) -> None:
        pytest.importorskip("mujoco")
        from .on_mujoco import OnMujoco

        mechanism = motion.model.mechanism
        tree = arborescence(mechanism)
        other = OnMujoco(mechanism, tree)
        motions = coordinates(motion, tree)
        f, bound = motion.bodies(), tolerance(motion)
        scales = sizes(f, reach(motion))
        for k in range(len(motion.y)):
            other.move(motions, k)
            for i, number in enumerate(other.bodies):
                for name, theirs in zip(QUANTITIES[:4], other.body(number), strict=True):
                    assert_close(getattr(f, name)[k, i], theirs, bound, scales[name])
            for joint in tree.closing:
                a, b = (other.end(joint.name, side) for side in "ab")
                check_left_over(joint, motions[joint.name].coordinates[k], a, b)

    @every_model
    def test_zoo(self, spec: str) -> None:
        self.check(zoo_motion(spec))

    @pytest.mark.parametrize("seed", range(3))
    def test_every_kind_of_joint(self, seed: int) -> None:
        self.check(random_tree(seed))
