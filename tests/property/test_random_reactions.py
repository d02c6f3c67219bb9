"""Joint reactions of random mechanisms: balance of every body, and the second formulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.reference_point import joint_reactions_reference
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.element_laws import reads_angle
from mechid.mechanism.records import Mechanism

from ..contract.changes import cut_elsewhere
from ..contract.states import EPS, condition, random_course, solve_course
from ..dynamics.balance import unbalanced
from ..dynamics.virtual_power import WRITTEN_TWICE
from .generate import Drawn, random_elements
from .test_random_dynamics import filled, mechanisms, random_state
from .test_random_mechanisms import loops


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
    want = joint_reactions_reference(motion, result.phi, result.tau)
    assert np.abs(found.force - want.force).max() * size <= bound
    assert np.abs(found.moment - want.moment).max() <= bound
    np.testing.assert_array_equal(found.undetermined, want.undetermined)


@settings(max_examples=30)
@given(mechanisms())
def test_reactions_of_small_mechanisms(case: tuple[Mechanism, np.random.Generator]) -> None:
    mechanism, rng = case
    model = kinematic_model(mechanism)
    state = random_state(model, rng)
    if state is not None:
        check(solve_motion(model, *(x[None] for x in state), ordered=False))


@settings(max_examples=25)
@given(loops())
def test_reactions_of_loops(drawn: tuple[Drawn, np.random.Generator]) -> None:
    """With force elements of all kinds; wherever the loops are cut."""
    d, rng = drawn
    mechanism = filled(d.mechanism, rng)
    elements = (*mechanism.elements, *random_elements(mechanism, rng, WRITTEN_TWICE))
    mechanism = replace(mechanism, elements=elements)
    model = kinematic_model(mechanism)
    course = random_course(model, rng)
    check(solve_course(model, course, [0.9, 3.7]))
    elsewhere = cut_elsewhere(mechanism, rng).mechanism
    if not _counts_turns(elsewhere):
        check(solve_course(kinematic_model(elsewhere), course, [0.9, 3.7]))


def _counts_turns(mechanism: Mechanism) -> bool:
    """Tell whether a spring sits on a thread that is cut: its angle is known within ±π only."""
    sprung = {joint for e in mechanism.elements for joint in reads_angle(e)}
    return any(
        mechanism.joint(name).type == "helical" for name in sprung & {*(mechanism.cut or ())}
    )
