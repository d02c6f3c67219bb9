"""Random trees and loops of all kinds of joints, in random places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mechid.kinematics.compile import Rigid
from mechid.kinematics.mobility import mobility
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.motion import rates, solve_motion
from mechid.mechanism.records import GROUND, JointCoordinate, JointType, Mechanism

from ..contract.changes import (
    Change,
    carried,
    coupled_joints,
    cut_elsewhere,
    permuted,
    reframed,
    swapped,
)
from ..contract.checks import (
    assert_close,
    check_change,
    check_closed,
    check_formulations,
    check_frames,
    check_joints,
    check_sensitivities,
    close_to,
    tolerance,
)
from ..contract.differences import stencil_times
from ..contract.joint_table import joint_pose, with_quaternion
from ..contract.states import (
    EPS,
    LENGTH,
    Array,
    Course,
    point_motion,
    random_course,
    reach,
    solve_course,
    solved_in_blocks,
)
from .generate import TYPES, Drawn, NotUsableError, random_mechanism

EXAMPLES = 25
LOOSE: tuple[JointType, ...] = tuple(t for t in TYPES if t != "fixed")
seeds = st.integers(0, 2**32 - 1)


@st.composite
def trees(draw: st.DrawFn) -> tuple[Drawn, np.random.Generator]:
    """A body per joint, each hung on the ground or on one before."""
    types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=6))
    return _drawn(types, [], draw(seeds))


@st.composite
def loops(draw: st.DrawFn) -> tuple[Drawn, np.random.Generator]:
    """One or two joints more than a tree has, anywhere."""
    types = draw(st.lists(st.sampled_from(LOOSE), min_size=2, max_size=5))
    closing = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=2))
    return _drawn(types, closing, draw(seeds))


@st.composite
def constrained(draw: st.DrawFn) -> tuple[Drawn, np.random.Generator]:
    """Trees and loops with couplings and distances."""
    types = draw(st.lists(st.sampled_from(LOOSE), min_size=2, max_size=5))
    closing = draw(st.lists(st.sampled_from(TYPES), max_size=1))
    return _drawn(types, closing, draw(seeds), draw(st.integers(1, 2)))


def _drawn(
    types: list[JointType], closing: list[JointType], seed: int, n_constraints: int = 0
) -> tuple[Drawn, np.random.Generator]:
    rng = np.random.default_rng(seed)
    try:
        drawn = random_mechanism(types, closing, rng, n_constraints)
        # Drawn without regard for loops that coupled and driven joints fill.
        if n_constraints:
            spanning_tree_keeps(drawn.mechanism)
    except NotUsableError:
        assume(False)
    return drawn, rng


def spanning_tree_keeps(mechanism: Mechanism) -> None:
    """Refuse a draw whose coupled and driven joints fill a loop: one would have to be cut."""
    kept = {c.joint for c in mechanism.coordinates if isinstance(c, JointCoordinate)}
    kept |= coupled_joints(mechanism)
    group = {name: name for name in (GROUND, *(b.name for b in mechanism.bodies))}
    for joint in mechanism.joints:
        a, b = group[joint.body_a], group[joint.body_b]
        if joint.name in kept and a == b:
            raise NotUsableError("coupled joints fill a loop")
        if joint.name in kept:
            group = {name: a if label == b else label for name, label in group.items()}


def prepared(drawn: Drawn, rng: np.random.Generator) -> tuple[KinematicModel, Course]:
    model = kinematic_model(drawn.mechanism)
    return model, random_course(model, rng)


# --------------------------------------------------------------------------- trees


def forward(mechanism: Mechanism, y: Array) -> dict[str, tuple[Array, Array]]:
    """Poses of all bodies of a tree as products of joint poses, one joint after the other."""
    n = len(y)
    poses = {GROUND: (np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)))}
    left = list(mechanism.joints)
    while left:
        joint = next(j for j in left if j.body_a in poses or j.body_b in poses)
        left.remove(joint)
        columns = [
            i for i, c in enumerate(mechanism.coordinates) if getattr(c, "joint", "") == joint.name
        ]
        R, t = joint_pose(joint, with_quaternion(joint, y[:, columns]))
        a, b = Rigid.of(joint.frame_a), Rigid.of(joint.frame_b)
        # frame b in body a, then body b in body a
        Rab = a.rotation @ R @ b.rotation.T
        tab = a.translation + t @ a.rotation.T - Rab @ b.translation
        if joint.body_a in poses:
            known, found = joint.body_a, joint.body_b
        else:
            known, found = joint.body_b, joint.body_a
            Rab = np.swapaxes(Rab, 1, 2)
            tab = -np.einsum("nij,nj->ni", Rab, tab)
        R0, p0 = poses[known]
        poses[found] = (R0 @ Rab, p0 + np.einsum("nij,nj->ni", R0, tab))
    return poses


@settings(max_examples=EXAMPLES)
@given(trees())
def test_poses_of_a_tree_are_products(drawn: tuple[Drawn, np.random.Generator]) -> None:
    d, rng = drawn
    model, course = prepared(d, rng)
    motion = solve_course(model, course, np.linspace(0, LENGTH, 7))
    expected = forward(d.mechanism, motion.y)
    f = motion.bodies()
    for k, body in enumerate(d.mechanism.bodies):
        R, p = expected[body.name]
        assert np.abs(f.rotation[:, k] - R).max() <= 100 * EPS
        assert np.abs(f.position[:, k] - p).max() <= 100 * EPS * reach(motion)
    assert close_to(motion.v, np.einsum("nij,nj->ni", rates(motion).R, motion.yd), 10 * EPS)


@pytest.mark.slow
@settings(max_examples=EXAMPLES)
@given(trees())
def test_motion_of_a_tree(drawn: tuple[Drawn, np.random.Generator]) -> None:
    check_motion(*prepared(*drawn))


# --------------------------------------------------------------------------- loops


@settings(max_examples=EXAMPLES)
@given(loops())
def test_a_closed_reference_pose_is_the_home_pose(drawn: tuple[Drawn, np.random.Generator]) -> None:
    """Nothing moves in assembly, and coordinates are those that the joints were built with."""
    d, _ = drawn
    model = kinematic_model(d.mechanism)
    home = solve_motion(model, model.home_y[None])
    bound = tolerance(home)
    assert_close(model.home_y, d.y, bound, reach(home) + float(np.abs(d.y).max()))
    f = home.bodies()
    for k, body in enumerate(d.mechanism.bodies):
        assert_close(f.position[0, k], np.array(body.frame.origin), bound, reach(home))
        assert_close(f.rotation[0, k], np.array(body.frame.rotation), bound, 1.0)


@settings(max_examples=EXAMPLES)
@given(loops())
def test_motion_of_loops(drawn: tuple[Drawn, np.random.Generator]) -> None:
    check_motion(*prepared(*drawn))


def check_motion(model: KinematicModel, course: Course) -> None:
    motion = solve_course(model, course, np.linspace(0, LENGTH, 9))
    check_closed(motion)
    assert solved_in_blocks(motion)
    stencil = solve_course(model, course, stencil_times([1.1, 4.2]))
    check_frames(stencil, stencil.bodies())
    check_frames(stencil, point_motion(stencil))
    check_joints(stencil)
    check_formulations(solve_course(model, course, [0.9, 3.7]))


@settings(max_examples=10)
@given(loops())
def test_sensitivities_of_loops(drawn: tuple[Drawn, np.random.Generator]) -> None:
    model, course = prepared(*drawn)
    check_sensitivities(solve_course(model, course, [0.9, 3.7]))


@pytest.mark.slow
@settings(max_examples=EXAMPLES)
@given(loops())
def test_description_of_loops_does_not_matter(drawn: tuple[Drawn, np.random.Generator]) -> None:
    d, rng = drawn
    model, course = prepared(d, rng)
    motion = solve_course(model, course, np.linspace(0, LENGTH, 5))
    for change in changes(d.mechanism, rng):
        check_change(motion, change)


def changes(mechanism: Mechanism, rng: np.random.Generator) -> list[Change]:
    return [
        cut_elsewhere(mechanism, rng),
        cut_elsewhere(mechanism, rng),
        swapped(mechanism, rng),
        permuted(mechanism, rng),
        reframed(mechanism, rng, 1.0),
        carried(mechanism, rng, 1.0),
    ]


@settings(max_examples=10)
@given(loops())
def test_mobility_of_loops(drawn: tuple[Drawn, np.random.Generator]) -> None:
    """As many degrees of freedom as the null space of the twists has dimensions."""
    m = mobility(drawn[0].mechanism)
    assert m.dof == len(drawn[0].y)
    assert (m.dependent, m.undetermined, m.passive_dof) == ((), 0, 0)


@settings(max_examples=EXAMPLES)
@given(loops())
def test_coarse_and_fine_samples_agree(drawn: tuple[Drawn, np.random.Generator]) -> None:
    """A pose does not depend on how many samples lead to it, nor on where loops are cut.

    No leap to another branch, or along a thread to another turn.
    """
    d, rng = drawn
    model, course = prepared(d, rng)
    fine = solve_course(model, course, np.linspace(0, LENGTH, 121))
    for mechanism in (d.mechanism, cut_elsewhere(d.mechanism, rng).mechanism):
        for ends in ([0, 120], [0, 60, 120]):
            coarse = solve_motion(mechanism, fine.y[ends])
            f, g = fine.bodies(), coarse.bodies()
            bound = tolerance(fine, coarse)
            assert_close(g.position, f.position[ends], bound, reach(fine))
            assert_close(g.rotation, f.rotation[ends], bound, 1.0)


# --------------------------------------------------------------------------- constraints


@settings(max_examples=EXAMPLES)
@given(constrained())
def test_motion_with_couplings_and_distances(drawn: tuple[Drawn, np.random.Generator]) -> None:
    """Closed, with rates that are differences, in both formulations, however it is described."""
    d, rng = drawn
    model, course = prepared(d, rng)
    check_motion(model, course)
    motion = solve_course(model, course, np.linspace(0, LENGTH, 5))
    for change in changes(d.mechanism, rng):
        check_change(motion, change)


@settings(max_examples=10)
@given(constrained())
def test_sensitivities_with_couplings_and_distances(
    drawn: tuple[Drawn, np.random.Generator],
) -> None:
    model, course = prepared(*drawn)
    check_sensitivities(solve_course(model, course, [0.9, 3.7]))


@settings(max_examples=10)
@given(constrained())
def test_mobility_with_couplings_and_distances(drawn: tuple[Drawn, np.random.Generator]) -> None:
    m = mobility(drawn[0].mechanism)
    assert m.dof == len(drawn[0].y)
    assert (m.dependent, m.undetermined, m.passive_dof) == ((), 0, 0)
