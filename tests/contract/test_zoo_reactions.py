"""Joint reactions of every mechanism of the zoo: balance, and the second formulation."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from mechid.dynamics.inverse import InverseDynamics, inverse_dynamics
from mechid.dynamics.reactions import JointReactions
from mechid.dynamics.reference_point import joint_reactions_reference
from mechid.kinematics.couplings import coupling_scale
from mechid.kinematics.joints import joint_motion
from mechid.mechanism.records import Coupling

from ..dynamics.balance import unbalanced
from .states import EPS, SPECS, condition, joint_frames, solve_course, zoo_course, zoo_model

every_model = pytest.mark.parametrize("spec", SPECS)


@cache
def solved(spec: str) -> tuple[InverseDynamics, JointReactions]:
    motion = solve_course(zoo_model(spec), zoo_course(spec), [0.4, 2.9, 5.3])
    result = inverse_dynamics(motion, reactions=True)
    assert result.reactions is not None
    return result, result.reactions


@every_model
def test_reactions_balance_every_body(spec: str) -> None:
    """Forces of joints, elements, loads and actuators are mass times acceleration; moments too.

    The moment that holds a part which could spin between balls belongs to no joint, so that the
    moments of the two bodies it acts on do not count.
    """
    result, _ = solved(spec)
    left, scale = unbalanced(result)
    model = result.motion.model
    held = {name for part in model.passive for name in (part.inside, part.outside)}
    free = [b for b, body in enumerate(model.mechanism.bodies) if body.name not in held]
    bound = 100 * EPS * condition(result.motion) * scale
    assert np.abs(left[:, :, :3]).max() * model.size <= bound
    assert np.abs(left[:, free, 3:]).max(initial=0.0) <= bound


@every_model
def test_reactions_are_those_of_the_second_formulation(spec: str) -> None:
    """Where constraints are redundant, the shortest ones too, and the same components are open."""
    result, found = solved(spec)
    want = joint_reactions_reference(result.motion, result.phi, result.tau)
    size = result.motion.model.size
    scale = max(size * np.abs(want.force).max(), np.abs(want.moment).max())
    bound = 100 * EPS * condition(result.motion) * scale
    assert found.joints == want.joints
    assert np.abs(found.force - want.force).max() * size <= bound
    assert np.abs(found.moment - want.moment).max() <= bound
    np.testing.assert_array_equal(found.undetermined, want.undetermined)
    assert (found.constraints, found.units) == (want.constraints, want.units)
    for c, multiplier, wanted in zip(
        result.motion.model.mechanism.constraints,
        found.multipliers.T,
        want.multipliers.T,
        strict=True,
    ):
        lever = size
        if isinstance(c, Coupling):
            lever = coupling_scale(result.motion.model.mechanism, c, size) ** -1
        assert np.abs(multiplier - wanted).max() * lever <= bound, c.name
    np.testing.assert_array_equal(found.open_multipliers, want.open_multipliers)


@every_model
def test_joints_transmit_nothing_along_their_freedoms(spec: str) -> None:
    """No power in the relative motion of the two bodies, whatever the speeds.

    But for what couplings exert on the coordinates of the joint.
    """
    result, found = solved(spec)
    motion = result.motion
    scale = max(motion.model.size * np.abs(found.force).max(), np.abs(found.moment).max())
    speed = max(np.abs(motion.bodies().omega).max(), np.abs(motion.bodies().velocity).max())
    speed = max(speed, speed / motion.model.size)
    for j, joint in enumerate(motion.model.mechanism.joints):
        f = joint_frames(motion, joint.name)
        turning = f.omega[:, 1] - f.omega[:, 0]
        # the point of body a where frame b stands
        arm = f.position[:, 1] - f.position[:, 0]
        sliding = f.velocity[:, 1] - f.velocity[:, 0] - np.cross(f.omega[:, 0], arm)
        power = np.sum(found.force[:, j] * sliding + found.moment[:, j] * turning, axis=1)
        for c in motion.model.mechanism.couplings:
            for name, k, factor in c.terms:
                if name == joint.name:
                    force = factor * found.multipliers[:, found.constraints.index(c.name)]
                    power -= force * joint_motion(motion, name).speeds[:, k]
        bound = 1000 * EPS * condition(motion) * scale * speed
        assert np.abs(power).max() <= bound, joint.name
