"""The optimiser: better than chance, within limits between the samples too, never lost."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mechid.errors import MechidError
from mechid.excitation.bounds import MotionLimit
from mechid.excitation.families import Fourier
from mechid.excitation.limits import slacks
from mechid.excitation.optimise import Effort, Excitation, _improve, _Search, _value, optimise
from mechid.excitation.problem import DesignProblem
from mechid.excitation.trajectory import sample
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion

from .problems import mechanism_of, moved, problem_of

SHORT = Effort(random=12, starts=1, iterations=8)
FIVE_BAR = (
    MotionLimit("joint", "A1", -0.6, 0.6),
    MotionLimit("joint", "A2", -0.6, 0.6),
    MotionLimit("joint", "C", -0.5, 0.5),
    MotionLimit("margin", "", lower=0.05),
)
HARD = (
    MotionLimit("position", "q1", -0.3, 0.2),
    MotionLimit("speed", "q2", -1.5, 1.5),
    MotionLimit("acceleration", "q1", -20.0, 20.0),
    MotionLimit("distance", "ground.A1-coupler_1.tool", 0.38, 0.45),
    MotionLimit("force", "M1", -1.5, 1.5),
)


def solved(problem: DesignProblem, found: Excitation, times: int = 4) -> Motion:
    """Return the motion of the trajectory itself, on a finer grid over the whole period."""
    n = times * len(problem.design.time)
    duration = found.trajectory.duration
    s = sample(found.trajectory, times=np.linspace(0.0, duration, n + 1))
    return solve_motion(kinematic_model(problem.mechanism), s.y, s.yd, s.ydd, time=s.time)


def check(problem: DesignProblem, found: Excitation) -> None:
    """The motion closes and keeps its limits, and its value is that of its trajectory."""
    motion = solved(problem, found)
    for slack in slacks(problem.limits, motion, gradients=False):
        assert slack.worst >= -1e-8, slack.limit.words
    assert found.value == pytest.approx(problem.value(problem.motion(found.x)), rel=1e-12)
    assert problem.design.at(found.x) == found.trajectory
    values = [value for _, value in found.history]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("criterion", ["condition-equilibrated", "d", "prediction"])
def test_better_than_the_best_random_motion(criterion: str) -> None:
    problem = problem_of("five_bar", criterion, FIVE_BAR, harmonics=3, samples=30)
    found = optimise(problem, replace(SHORT, iterations=20))
    check(problem, found)
    assert found.complete
    assert found.random_values.shape == (12,)
    gain = 0.1 if criterion == "d" else np.log(1.2)
    assert found.value < found.random_values.min() - gain


@pytest.mark.slow
@pytest.mark.parametrize("limits", [FIVE_BAR, HARD])
@pytest.mark.parametrize("seed", range(3))
def test_limits_hold_between_few_samples(limits: tuple[MotionLimit, ...], seed: int) -> None:
    problem = problem_of("five_bar", "d", limits, harmonics=3, samples=11)
    check(problem, optimise(problem, SHORT, seed=seed))


@pytest.mark.parametrize(
    ("name", "limit"),
    [("slider_crank", MotionLimit("joint", "guide", 0.1, 0.3)),
     ("planar_3rrr", MotionLimit("joint", "q8", -np.pi, np.pi)),
     ("pendulum", MotionLimit("speed", "angle", -2.0, 2.0)),
     ("pendulum", MotionLimit("margin", "", lower=0.1))],
)  # fmt: skip
def test_other_mechanisms(name: str, limit: MotionLimit) -> None:
    problem = problem_of(name, "condition-equilibrated")
    home = problem.motion(problem.design.start)
    around = [
        MotionLimit("position", c.name, y - 0.3, y + 0.3)
        for c, y in zip(problem.mechanism.coordinates, home.y[0].tolist(), strict=True)
    ]
    if limit.quantity == "joint":  # about home, wherever that is
        plain = replace(limit, lower=-1e3, upper=1e3)
        (slack,) = slacks([plain], home, gradients=False)
        at = 1e3 - 2e3 * slack.values[0]
        limit = replace(limit, lower=at - 0.1, upper=at + 0.1)
    problem = replace(problem, limits=(*around, limit))
    found = optimise(problem, SHORT)
    check(problem, found)
    assert found.value <= found.random_values.min()


def test_a_suspension() -> None:
    limits = [
        MotionLimit("joint", "rack_guide", -0.035, 0.035),
        *(MotionLimit("position", n, y - 0.03, y + 0.03) for n, y in _home("sla_suspension")),
    ]
    problem = problem_of("sla_suspension", "prediction", limits, harmonics=1, samples=8, prior=True)
    found = optimise(problem, Effort(3, 1, 2))
    check(problem, found)
    assert found.value < found.random_values.min()


def _home(name: str) -> list[tuple[str, float]]:
    model = kinematic_model(mechanism_of(name))
    names = [c.name for c in model.mechanism.coordinates]
    return list(zip(names, model.home_y.tolist(), strict=True))


def test_the_same_seed_gives_the_same_motion() -> None:
    problem = problem_of("five_bar", "d", FIVE_BAR)
    first, again, other = (optimise(problem, SHORT, seed=s) for s in (4, 4, 5))
    np.testing.assert_array_equal(first.x, again.x)
    np.testing.assert_array_equal(first.random_values, again.random_values)
    assert first.value == again.value
    assert not np.array_equal(first.random_values, other.random_values)


def test_without_limits_and_without_starts() -> None:
    problem = problem_of("five_bar", "d")
    found = optimise(problem, SHORT)
    check(problem, found)
    assert found.value < found.random_values.min()
    random = optimise(problem, replace(SHORT, starts=0))
    assert random.value == random.random_values.min()
    assert random.gradients == 0
    assert random.complete


@pytest.mark.parametrize("after", [3, 11, 14, 16])
def test_stopping_keeps_the_best_so_far(after: int) -> None:
    problem = problem_of("five_bar", "d", FIVE_BAR)
    steps = 0

    def watch(stage: str, step: int, best: float) -> None:
        nonlocal steps
        steps += 1
        assert np.isfinite(best)

    found = optimise(problem, SHORT, watch=watch, stop=lambda: steps >= after)
    check(problem, found)
    assert not found.complete
    assert steps == after
    assert len(found.random_values) == min(after, 12)
    assert found.value <= found.random_values.min()


def test_time_runs_out() -> None:
    problem = problem_of("five_bar", "d", FIVE_BAR)
    found = optimise(problem, Effort(10**6, 1, 10**6, max_seconds=0.3))
    check(problem, found)
    assert not found.complete
    assert 0.3 < found.seconds < 20.0
    assert len(found.random_values)


def test_stopped_before_anything_was_found() -> None:
    problem = problem_of("five_bar", "d", FIVE_BAR)
    with pytest.raises(MechidError, match=r"five_bar: stopped before .* allow more time"):
        optimise(problem, SHORT, stop=lambda: True)
    with pytest.raises(MechidError, match="stopped before"):
        optimise(problem, replace(SHORT, max_seconds=0.0))


@pytest.mark.slow
@pytest.mark.parametrize("limits", [FIVE_BAR, HARD])
@pytest.mark.parametrize("criterion", ["d", "condition-equilibrated"])
def test_going_on_is_never_worse(limits: tuple[MotionLimit, ...], criterion: str) -> None:
    problem = problem_of("five_bar", criterion, limits, harmonics=3, samples=12)
    first = optimise(problem, SHORT)
    for effort in (Effort(1, 0, 1), Effort(1, 1, 1), Effort(3, 1, 4), SHORT):
        found = optimise(problem, effort, seed=1, start=first.x)
        check(problem, found)
        assert found.value <= first.value
    stopped = optimise(problem, SHORT, start=first.x, stop=lambda: True)
    np.testing.assert_array_equal(stopped.x, first.x)
    assert not stopped.complete
    assert not len(stopped.random_values)


def test_going_on_where_home_is_out_of_limits() -> None:
    """A start within the limits is enough, even if no random motion about home is."""
    problem = problem_of("five_bar", "d")
    x = moved(problem, 0.02)
    offset = 2 * int(problem.design.sizes[0] // 2) + 1
    x[0], x[offset] = 0.7, -0.6  # A0 of both coordinates: about another pose
    angle = joint_motion(problem.motion(x), "C").coordinates[:, 0]
    limit = MotionLimit("joint", "C", float(angle.min()) - 0.01, float(angle.max()) + 0.01)
    problem = replace(problem, limits=(limit,))
    with pytest.raises(MechidError, match="no motion was found that keeps the limit"):
        optimise(problem, SHORT)
    found = optimise(problem, SHORT, start=x)
    check(problem, found)
    assert found.value < problem.value(problem.motion(x))


def test_home_may_be_out_of_limits_if_random_motions_are_not() -> None:
    limits = (MotionLimit("position", "q1", 0.05, 0.5), MotionLimit("position", "q2", -0.5, 0.5))
    problem = problem_of("five_bar", "d", limits, harmonics=3, samples=12)
    assert not problem.feasible(problem.design.start)
    found = optimise(problem, SHORT)
    check(problem, found)
    assert found.value < found.random_values.min()


def test_a_start_that_breaks_limits_is_made_smaller() -> None:
    problem = problem_of("five_bar", "d", FIVE_BAR)
    x = moved(problem, 1.5)
    assert not problem.feasible(x)
    check(problem, optimise(problem, Effort(1, 1, 3), start=x))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (MotionLimit("position", "q1", 4.5, 4.55), r"limit 4\.5 ≤ position of q1 ≤ 4\.55: "),
        (MotionLimit("joint", "C", 2.0, None), r"limit 2 ≤ joint of C: all violate it by"),
        (MotionLimit("force", "M1", -0.05, 0.05), r"limit -0\.05 ≤ force of M1 ≤ 0\.05: "),
        (MotionLimit("distance", "ground.A1-ground.A2", upper=0.1), r"-ground\.A2 ≤ 0\.1"),
        (MotionLimit("margin", "", lower=3.0), r"limit 3 ≤ margin: "),
    ],
)  # fmt: skip
def test_the_limit_that_blocks_is_named(limit: MotionLimit, message: str) -> None:
    problem = problem_of("five_bar", "d", (*FIVE_BAR, limit))
    with pytest.raises(
        MechidError, match=f"five_bar: no motion was found that keeps the .*{message}"
    ):
        optimise(problem, SHORT)


def test_a_given_motion_that_breaks_a_limit_is_named() -> None:
    limits = (MotionLimit("position", "q1", 0.1, 0.2), MotionLimit("position", "q2", -0.3, 0.3))
    problem = problem_of("five_bar", "d", limits, fixed=("q1",))
    with pytest.raises(MechidError, match=r"limit 0\.1 ≤ position of q1 ≤ 0\.2"):
        optimise(problem, SHORT)


def test_a_start_that_does_not_close_is_named() -> None:
    problem = problem_of("five_bar", "d", FIVE_BAR)
    far = replace(problem.design, start=moved(problem, 30.0))
    with pytest.raises(MechidError, match="the loops do not close even at the start"):
        optimise(replace(problem, design=far), SHORT)


def test_rest_at_both_ends() -> None:
    for family, samples in (("fourier", 24), ("bspline", 25)):
        problem = problem_of(
            "five_bar", "d", FIVE_BAR, family=family, harmonics=3, samples=samples, rest=True
        )
        found = optimise(problem, SHORT)
        check(problem, found)
        ends = sample(found.trajectory, times=np.array([0.0, 1.0]))
        fast = sample(found.trajectory, rate=50.0)
        assert np.abs(ends.yd).max() <= 1e-12 * np.abs(fast.yd).max()
        assert np.abs(ends.ydd).max() <= 1e-12 * np.abs(fast.ydd).max()


def test_a_finer_grid_is_over_the_whole_period() -> None:
    """Just before the period ends, too, where a periodic motion has no sample of its own."""
    problem = problem_of("five_bar", "d", samples=7)
    angle = 2 * np.pi * 13 / 14
    series = Fourier(1.0, 0.0, (-np.sin(angle), 0.0), (np.cos(angle), 0.0))
    assert series.rates(np.array([13 / 14])).speed[0] == pytest.approx(0.0, abs=1e-12)
    peak = float(abs(series.rates(np.array([13 / 14])).position[0]))
    seen = np.abs(series.rates(problem.design.time).position).max()
    limit = MotionLimit("position", "q1", -0.5 * (seen + peak), 0.5 * (seen + peak))
    # q1 moves with its extreme between the last sample and the end of the period; q2 rests.
    start = np.concatenate([series.coefficients, np.zeros(5)])
    narrow = replace(problem, limits=(limit,))
    assert narrow.feasible(start)
    found = optimise(narrow, Effort(1, 0, 1), start=start)
    check(narrow, found)


def test_a_step_that_goes_far_is_not_followed() -> None:
    """To solve a motion a million times as large as its limits would take minutes."""
    seen: list[float] = []

    def motion(x: np.ndarray) -> np.ndarray:
        seen.append(float(np.abs(x).max()))
        return x

    def value_and_gradient(x: np.ndarray) -> tuple[float, np.ndarray]:
        return -50.0 * float(x.sum()), np.full(3, -50.0)

    def constraints(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(0), np.zeros((0, 3))

    problem = SimpleNamespace(
        motion=motion, value_and_gradient=value_and_gradient, constraints=constraints, limits=()
    )
    search = _Search(problem, Effort(1, 1, 20), None, lambda: False)  # type: ignore[arg-type]
    _improve(search, np.array([0.5, 1.0, -0.2]), 0)
    assert 1.0 < max(seen) <= 100.0


def test_what_is_evaluated_is_counted_and_offered() -> None:
    offered: list[tuple[float, float]] = []
    search = SimpleNamespace(
        check=lambda: None,
        evaluations=0,
        problem=SimpleNamespace(motion=lambda x: 2 * x, value=lambda motion: motion + 1),
        offer=lambda value, x: offered.append((value, x)),
    )
    for k in range(3):
        assert _value(search, k) == 2 * k + 1  # type: ignore[arg-type]
    assert search.evaluations == 3
    assert offered == [(1, 0), (3, 1), (5, 2)]
