"""The design problem: exact gradients of criteria and limits against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.errors import KinematicsError
from mechid.excitation.bounds import MotionLimit
from mechid.excitation.problem import DesignProblem

from .problems import differences, moved, problem_of

CRITERIA = ("condition-equilibrated", "condition", "mixture", "a", "d", "e", "prediction")


def check_criterion(problem: DesignProblem, x: np.ndarray, step: float = 1e-5) -> None:
    value, found = problem.value_and_gradient(problem.motion(x))
    assert value == problem.value(problem.motion(x))
    wanted = differences(lambda z: problem.value(problem.motion(z)), x, step)
    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr"])
def test_gradient_of_a_criterion(name: str, criterion: str) -> None:
    problem = problem_of(name, criterion)
    check_criterion(problem, moved(problem))


@pytest.mark.parametrize(
    ("name", "criterion"),
    [("slider_crank", "prediction"), ("slider_crank", "d"), ("pendulum", "e"),
     ("five_bar", "a"), ("five_bar", "prediction")],
)  # fmt: skip
def test_gradient_with_a_prior(name: str, criterion: str) -> None:
    problem = problem_of(name, criterion, prior=True)
    check_criterion(problem, moved(problem, 0.4))


@pytest.mark.parametrize("criterion", ["prediction", "d"])
def test_gradient_of_a_suspension_with_a_prior(criterion: str) -> None:
    problem = problem_of("sla_suspension", criterion, harmonics=1, samples=8, prior=True)
    check_criterion(problem, moved(problem, 0.03), 1e-4)


@pytest.mark.parametrize(
    ("name", "criterion", "size", "step"),
    [("five_bar", "d", 0.3, 1e-5), ("slider_crank", "prediction", 0.3, 1e-5),
     ("sla_suspension", "a", 0.03, 1e-4)],
)  # fmt: skip
def test_gradient_with_the_noise_of_the_motion(
    name: str, criterion: str, size: float, step: float
) -> None:
    """Forces of known springs, as those of the suspension, count too."""
    problem = problem_of(name, criterion, harmonics=1, samples=8, prior=True, noise_of="motion")
    check_criterion(problem, moved(problem, size), step)


@pytest.mark.parametrize(
    ("family", "rest", "fixed"),
    [("fourier", True, ()), ("bspline", False, ()), ("bspline", True, ()),
     ("fourier", False, ("q2",))],
)  # fmt: skip
def test_gradient_of_every_family(family: str, rest: bool, fixed: tuple[str, ...]) -> None:
    limits = (MotionLimit("joint", "C", -0.1, 0.1), MotionLimit("force", "M1", upper=3.0))
    problem = problem_of("five_bar", "d", limits, family=family, rest=rest, fixed=fixed, prior=True)
    x = moved(problem)
    check_criterion(problem, x)
    _, rows = problem.constraints(problem.motion(x))
    wanted = differences(lambda z: problem.constraints(problem.motion(z))[0], x)
    np.testing.assert_allclose(rows, wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())


def test_without_limits() -> None:
    problem = problem_of("five_bar")
    motion = problem.motion(moved(problem))
    values, rows = problem.constraints(motion)
    assert values.shape == (0,)
    assert rows.shape == (0, len(problem.design.start))
    assert problem.worst(motion) is None
    assert problem.feasible(problem.design.start)


def test_what_does_not_close_is_not_feasible() -> None:
    problem = problem_of("five_bar")
    x = moved(problem, 20.0)
    with pytest.raises(KinematicsError):
        problem.motion(x)
    assert not problem.feasible(x)


def test_worst_is_the_limit_with_the_least_left() -> None:
    limits = (MotionLimit("position", "q1", -1.0, 1.0), MotionLimit("position", "q2", 0.0, 1.0))
    problem = problem_of("five_bar", limits=limits)
    worst = problem.worst(problem.motion(moved(problem, 0.1)))
    assert worst is not None
    assert worst.limit is limits[1]
    assert worst.worst < 0
    assert not problem.feasible(moved(problem, 0.1))
    assert problem.feasible(moved(problem, 0.1), tolerance=1.0)
