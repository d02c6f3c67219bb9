"""Joint reactions of random mechanisms: balance of every body, and the second formulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from mechid.dynamics.inverse import inverse_dynamics
from mechid.kinematics.couplings import coupling_scale
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import Coefficient, Coupling, ForceElement, Mechanism

from ..contract.changes import cut_elsewhere
from ..contract.states import EPS, condition, random_course, solve_course
from ..dynamics.balance import unbalanced
from ..dynamics.virtual_power import WRITTEN_TWICE
from .generate import Drawn, random_elements
from .test_random_dynamics import filled, mechanisms, random_state
from .test_random_mechanisms import constrained, loops


def check(motion: Motion) -> None:
    result = inverse_dynamics(motion, reactions=True)
    found = result.reactions
    assert found is not None
    left, scale = unbalanced(result)
    size = motion.model.size
    # Multipliers are solved for with the matrix of the closure, and so are the accelerations that
    # they must balance.
    bound = 1000 * EPS * condition(motion) ** 2 * scale
    held = {name for part in motion.model.passive for name in (part.inside, part.outside)}
    bodies = motion.model.mechanism.bodies
    free = [b for b, body in enumerate(bodies) if body.name not in held]
    assert np.abs(left[:, :, :3]).max() * size <= bound
    assert np.abs(left[:, free, 3:]).max(initial=0.0) <= bound
    want = inverse_dynamics(motion, reactions=True, formulation="reference-point").reactions
    assert want is not None
    assert np.abs(found.force - want.force).max() * size <= bound
    assert np.abs(found.moment - want.moment).max() <= bound
    np.testing.assert_array_equal(found.undetermined, want.undetermined)
    for i, c in enumerate(motion.model.mechanism.constraints):
        # A multiplier is as exact as the largest force that it exerts.
        lever = size
        if isinstance(c, Coupling):
            lever = 1 / coupling_scale(motion.model.mechanism, c, size)
        error = np.abs(found.multipliers[:, i] - want.multipliers[:, i]).max()
        assert error * lever <= bound, c.name
    np.testing.assert_array_equal(found.open_multipliers, want.open_multipliers)


@pytest.mark.slow
@settings(max_examples=30)
@given(mechanisms())
def test_reactions_of_small_mechanisms(case: tuple[Mechanism, np.random.Generator]) -> None:
    mechanism, rng = case
    model = kinematic_model(mechanism)
    state = random_state(model, rng)
    if state is not None:
        check(solve_motion(model, *(x[None] for x in state), ordered=False))


@pytest.mark.slow
@settings(max_examples=25)
@given(loops())
def test_reactions_of_loops(drawn: tuple[Drawn, np.random.Generator]) -> None:
    """With force elements of all kinds; wherever the loops are cut."""
    d, rng = drawn
    mechanism = filled(d.mechanism, rng)
    more = map(without_dry_motors, random_elements(mechanism, rng, WRITTEN_TWICE))
    mechanism = replace(mechanism, elements=(*mechanism.elements, *more))
    model = kinematic_model(mechanism)
    course = random_course(model, rng)
    for other in (model, kinematic_model(cut_elsewhere(mechanism, rng).mechanism)):
        check(solve_course(other, course, [0.9, 3.7]))


@pytest.mark.slow
@settings(max_examples=25)
@given(constrained())
def test_reactions_with_couplings_and_distances(
    drawn: tuple[Drawn, np.random.Generator],
) -> None:
    d, rng = drawn
    mechanism = filled(d.mechanism, rng)
    model = kinematic_model(mechanism)
    check(solve_course(model, random_course(model, rng), [0.9, 3.7]))


def without_dry_motors(e: ForceElement) -> ForceElement:
    """Without Coulomb friction: where a loop holds a joint, the sign of its speed is rounding."""
    if e.kind != "transmission":
        return e
    parts = (
        replace(
            p, values=tuple((k, Coefficient(0.0) if k == "coulomb" else v) for k, v in p.values)
        )
        for p in e.parts
    )
    return replace(e, parts=tuple(parts))
