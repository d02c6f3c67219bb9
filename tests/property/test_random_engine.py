"""Generated code against the kernels for random loops with all kinds of elements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import observe_path
from mechid.kinematics.engine.choice import engine
from mechid.kinematics.motion import solve_motion

from ..contract.states import EPS, condition, random_course
from .generate import Drawn
from .test_random_gradients import with_elements
from .test_random_mechanisms import constrained, loops

TIME = np.linspace(0.0, 6.0, 400)


def check(drawn: Drawn, rng: np.random.Generator) -> None:
    model = dynamic_model(with_elements(drawn.mechanism, rng))
    y = random_course(model.kinematics, rng).at(TIME)
    with engine("tables"):
        expected = observe_path(model, *y, time=TIME)
        motion = solve_motion(model.kinematics, *y, time=TIME)
    with engine("compiled"):
        found = observe_path(model, *y, time=TIME)
    assert model.path_code is not None
    size = np.abs(expected.W).max(axis=(0, 2), initial=1e-300)[:, None]
    assert np.all(np.abs(found.W - expected.W) <= 1e5 * EPS * condition(motion) ** 2 * size)
    some = motion.part(slice(None, None, 40))
    G = rng.standard_normal((*some.y.shape, len(model.columns)))
    with engine("tables"):
        by_tables = observation_gradient(model, some, G)
    with engine("compiled"):
        by_code = observation_gradient(model, some, G)
    for a, b in zip(by_code, by_tables, strict=True):
        largest = max(1.0, float(np.abs(b).max()))
        assert np.abs(a - b).max() <= 1e6 * EPS * condition(motion) ** 3 * largest


@pytest.mark.slow
@settings(max_examples=4)
@given(loops())
def test_loops(drawn: tuple[Drawn, np.random.Generator]) -> None:
    check(*drawn)


@settings(max_examples=2)
@given(constrained())
def test_couplings_and_distances(drawn: tuple[Drawn, np.random.Generator]) -> None:
    check(*drawn)
