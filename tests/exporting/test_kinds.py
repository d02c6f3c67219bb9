"""Every joint kind in exported files: carrying a body, either way round, and closing a loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import MechidError, ModelError
from mechid.exporting.content import Content
from mechid.exporting.mjcf import mjcf
from mechid.exporting.urdf import urdf
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion
from mechid.mechanism.joint_kinds import JOINT_KINDS, JointType
from mechid.mechanism.records import CadInertia, Mechanism

from ..contract.states import random_course, solve_course
from ..property.generate import NotUsableError, random_mechanism
from .states import SAMPLES
from .test_mjcf import check_mujoco
from .test_urdf import check_pinocchio


def drawn(
    tree: list[JointType],
    closing: list[JointType],
    seed: int,
    n_constraints: int = 0,
    through: JointType | None = None,
) -> Motion:
    """A random mechanism with masses along a random motion; other seeds where one is of no use."""
    for k in range(30):
        rng = np.random.default_rng(1000 * seed + k)
        try:
            mechanism = with_masses(random_mechanism(tree, closing, rng, n_constraints).mechanism)
            model = kinematic_model(mechanism)
            course = random_course(model, rng, largest=0.3)
            assert through is None or through in loop(mechanism)
        except (NotUsableError, MechidError, AssertionError):
            continue
        return solve_course(model, course, np.linspace(0, 2, SAMPLES))
    raise AssertionError("no mechanism found")


def with_masses(mechanism: Mechanism) -> Mechanism:
    cad = CadInertia(1.3, (0.1, -0.2, 0.15), (0.2, 0.01, -0.02, 0.25, 0.03, 0.3))
    return replace(mechanism, bodies=tuple(replace(b, inertia=cad) for b in mechanism.bodies))


def loop(mechanism: Mechanism) -> set[JointType]:
    """Types of the joints that the last joint closes to a loop."""
    *tree, last = mechanism.joints
    joints = list(tree)
    while True:  # take off bodies at the end of a branch
        ends = [b for j in (*joints, last) for b in (j.body_a, j.body_b)]
        leaves = [b for b in ends if ends.count(b) == 1]
        if not leaves:
            return {joint.type for joint in joints}
        joints = [j for j in joints if not {j.body_a, j.body_b} & set(leaves)]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_kind_carries_a_body(kind: JointType, seed: int) -> None:
    """Joints of random mechanisms stand either way round."""
    motion = drawn([kind, "revolute", kind], [], seed)
    check_mujoco(motion)
    check_pinocchio(motion)


@pytest.mark.parametrize("kind", [k for k, x in JOINT_KINDS.items() if not x.holds_nothing])
def test_kind_in_a_loop(kind: JointType) -> None:
    """A loop is cut where the format has words for it."""
    tree = ["revolute", "cylindrical", "universal", "universal"]
    motion = drawn(tree, [kind], 3, through="revolute")
    check_mujoco(motion)
    check_pinocchio(motion)


@pytest.mark.parametrize("kind", ["point_on_line", "point_on_plane"])
def test_ball_before_a_slide(kind: JointType) -> None:
    """A joint with a ball that the tree walks backwards."""
    tree = ["spherical", "cylindrical", "universal", "prismatic"]
    motion = drawn(tree, [kind], 3, through="spherical")
    check_mujoco(motion)
    check_pinocchio(motion)


def test_couplings_and_distances() -> None:
    motion = drawn(["revolute", "prismatic", "cylindrical", "universal"], [], 4, n_constraints=3)
    assert motion.model.mechanism.constraints
    check_mujoco(motion)


def test_loop_that_the_format_has_no_words_for() -> None:
    """Where nothing else can be cut, the refusal names the joint."""
    only = drawn(["prismatic"] * 4, ["prismatic"], 5).model.mechanism
    with pytest.raises(ModelError, match=r"MJCF cannot hold: loop through joint \w+ \(prismatic\)"):
        mjcf(Content(only, "CAD values"))
    urdf(Content(only, "CAD values"))
    threads = drawn(["helical"] * 7, ["helical"], 5).model.mechanism
    with pytest.raises(ModelError, match=r"URDF cannot hold: loop through joint \w+ \(helical\)"):
        urdf(Content(threads, "CAD values"))
