"""Bounds of random mechanisms, and of mechanisms described otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from mechid.base.bounds import _float_rank, bounds
from mechid.base.loop_constraints import _recognised
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.model import kinematic_model
from mechid.mechanism.joint_kinds import JOINT_KINDS, JointType
from mechid.mechanism.records import Frame, Mechanism
from mechid.modelfile import load

from ..contract.changes import (
    Change,
    carried,
    cut_elsewhere,
    permuted,
    reframed,
    scaled,
    swapped,
)
from ..property.generate import NotUsableError, random_mechanism
from .test_zoo_base import check_dependencies

KINDS: tuple[JointType, ...] = tuple(t for t, k in JOINT_KINDS.items() if not k.holds_nothing)
MOVING: tuple[JointType, ...] = tuple(t for t in KINDS if JOINT_KINDS[t].steps)
seeds = st.integers(0, 2**32 - 1)
BITS = 256
# A failure takes long to shrink, and is small as it is.
QUICK = settings(max_examples=6, phases=(Phase.explicit, Phase.reuse, Phase.generate))


def drawn(tree: list[JointType], closing: list[JointType], seed: int) -> Mechanism | None:
    """A random mechanism that can move a little from where it stands."""
    for k in range(20):
        try:
            found = random_mechanism(tree, closing, np.random.default_rng([seed, k])).mechanism
        except NotUsableError:
            continue
        model = kinematic_model(found)
        if singularity_margin(model, model.home_q[None])[0] > 0.02:
            return found
    return None


@QUICK
@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4), seeds)
def test_trees(types: list[JointType], seed: int) -> None:
    """In general position, transfers explain everything."""
    mechanism = drawn(types, [], seed)
    if mechanism is None:
        return
    found = bounds(mechanism, precision=BITS)
    assert found.upper == found.lower


@QUICK
@given(
    st.lists(st.sampled_from(MOVING), min_size=2, max_size=4),
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=2),
    seeds,
)
def test_loops(types: list[JointType], closing: list[JointType], seed: int) -> None:
    """Bounds meet, or the dependencies between them hold in other motions too."""
    mechanism = drawn(types, closing, seed)
    if mechanism is None:
        return
    found = bounds(mechanism, precision=BITS)
    assert found.lower <= found.upper
    if not found.observation.aside:  # else it only closes to rounding
        check_dependencies(found)


# --------------------------------------------------------------------------- invariance


def plain(mechanism: Mechanism) -> Mechanism:
    """Numbers in the place of expressions, which know nothing of other units."""

    def frame(f: Frame) -> Frame:
        return replace(f, origin_expr=None, rotation_expr=None)

    joints = tuple(
        replace(j, frame_a=frame(j.frame_a), frame_b=frame(j.frame_b)) for j in mechanism.joints
    )
    points = tuple(replace(p, expr=None) for p in mechanism.points)
    return replace(mechanism, joints=joints, points=points)


CHANGES: dict[str, Callable[[Mechanism, np.random.Generator], Change]] = {
    "frames": lambda m, rng: reframed(m, rng, 0.5),
    "place": lambda m, rng: carried(m, rng, 0.5),
    "order": permuted,
    "cuts": cut_elsewhere,
    "sides": swapped,
    "millimetres": lambda m, rng: scaled(plain(m), 1e3),
    "kilometres": lambda m, rng: scaled(plain(m), 1e-3),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", list(CHANGES))
@pytest.mark.parametrize("spec", ["four_bar", "three_rps", "puma560@bare"])
def test_description_does_not_matter(spec: str, change: str) -> None:
    """Neither frames nor order, cuts nor units change how much can be identified."""
    bare = replace(load(spec), elements=())
    before = bounds(bare, precision=BITS)
    changed = CHANGES[change](bare, np.random.default_rng(1)).mechanism
    after = bounds(changed, precision=BITS)
    assert (after.upper, after.lower) == (before.upper, before.lower)


@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_numbers_are_not_recognised_by_chance(unit: float) -> None:
    """Random lengths are no roots of fractions, in millimetres either; exact ones are found."""
    drawn = unit * np.random.default_rng(3).uniform(0.3, 3, 300)
    by_chance = [x for x in drawn if _recognised(np.array([x])) is not None]
    assert len(by_chance) <= 5
    for exact in (sp.sqrt(3) / 2, sp.Rational(5, 8), sp.sqrt(sp.Rational(1, 2)) / 5):
        value = int(unit) * exact
        assert _recognised(np.array([float(value)])) == (value,)


@pytest.mark.parametrize("unit", [1e-100, 1e-12, 1.0, 1e12])
def test_rank_in_any_unit(unit: float) -> None:
    W = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, -1.0, 0.0]) + np.outer([1.0, 0.0, 1.0], [0, 0, 1, 0])
    assert _float_rank(unit * W) == 2
    assert _float_rank(0 * W) == 0
