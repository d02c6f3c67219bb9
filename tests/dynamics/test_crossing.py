"""Speeds across a singular pose: what accelerations explain, and jumps to another branch."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics.forward.on_tree import Crossing
from mechid.errors import SingularPoseError

SCALE = np.array([2.0, 10.0])


def crossed(jump: float, least: tuple[tuple[float, ...], ...]) -> None:
    """Steps of 0.5 s with a speed of (t², 1), whose first part jumps after t = 1 s.

    Accelerations that grow linearly explain t² exactly. `least` are the singular values of the
    evaluations of each step, of which the last one is at its end.
    """
    gate = Crossing(SCALE)
    gate.step(0.0)  # nothing was evaluated yet
    for k, values in enumerate(least):
        t = 0.5 * k
        v = np.array([t * t + (jump if t > 1.0 else 0.0), 1.0])
        for near in values:
            gate.see(near, t, SCALE * v, SCALE * np.array([2.0 * t, 0.0]))
        gate.step(t)


Values = tuple[tuple[float, ...], ...]
FAR: Values = ((1.0,), (1.0,), (1.0,), (1.0, 0.06, 1.0), (1.0,))
NEAR: Values = ((1.0,), (1.0,), (1.0,), (1.0, 0.04, 1.0), (1.0,))
LONG: Values = ((1.0,), (1.0,), (1.0, 0.04), (0.01, 1.0), (1.0,))
LEFT: Values = ((1.0,), (1.0,), (1.0, 0.04), (1.0, 1.0), (1.0,))  # away from it at once


@pytest.mark.parametrize("least", [FAR, NEAR, LONG, LEFT])
def test_what_accelerations_explain(least: Values) -> None:
    crossed(0.0, least)


@pytest.mark.parametrize(("least", "before"), [(NEAR, "1"), (LONG, r"0\.5"), (LEFT, r"0\.5")])
def test_a_jump_of_speeds_is_refused(least: Values, before: str) -> None:
    """The message names the end of the last step before the pose."""
    with pytest.raises(SingularPoseError, match=rf"after t = {before} s"):
        crossed(-6.0, least)


def test_jumps_are_looked_for_near_singular_poses_only() -> None:
    crossed(-6.0, FAR)


def test_half_of_the_speed_may_change() -> None:
    """After a jump by j the speed is (2.25 + j, 1): 2.5 is just above half of it, 2.3 is not."""
    crossed(2.3, NEAR)
    with pytest.raises(SingularPoseError):
        crossed(2.5, NEAR)
    # The larger one of the speeds before, 1.41, and after, 1.80, counts: 0.75 is 0.42 of it.
    crossed(-0.75, NEAR)
    with pytest.raises(SingularPoseError):
        crossed(-1.0, NEAR)
