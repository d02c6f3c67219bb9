"""Limits of motions: values and slopes of every quantity, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics.inverse import inverse_dynamics
from mechid.errors import DataError
from mechid.excitation.bounds import MotionLimit, check_limits
from mechid.excitation.limits import slacks
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion

from .problems import differences, mechanism_of, moved, problem_of

# Every quantity, on both sides, on one side, and with a bound of zero.
CASES = [
    ("five_bar", "position", "q1"),
    ("five_bar", "speed", "q2"),
    ("five_bar", "acceleration", "q1"),
    ("five_bar", "joint", "A1"),  # in the tree, driven
    ("five_bar", "joint", "B1"),
    ("five_bar", "joint", "C"),
    ("five_bar", "joint", "B2"),
    ("five_bar", "distance", "ground.A2-coupler_1.tool"),
    ("five_bar", "force", "M2"),
    ("five_bar", "margin", ""),
    ("planar_3rrr", "joint", "q8"),  # cut
    ("planar_3rrr", "joint", "q9"),
    ("planar_3rrr", "force", "M_6"),
    ("planar_3rrr", "margin", ""),
    ("slider_crank", "joint", "guide"),
    ("slider_crank", "joint", "wrist"),
    ("slider_crank", "force", "M_crank"),
    ("slider_crank@stroke", "joint", "main"),
    ("slider_crank@isostatic", "joint", "wrist.displacement"),
    ("five_bar@table", "joint", "table.x"),
    ("five_bar@table", "joint", "table.angle"),
    ("five_bar@isostatic", "joint", "B2.angle_1"),
    ("pendulum", "force", "M_hinge"),
    ("sla_suspension", "joint", "N_r.angle_1"),
    ("sla_suspension", "distance", "ground.N_r-strut_bottom_r.L_r"),
    ("sla_suspension", "force", "F_z_r"),
    ("sla_suspension", "margin", ""),
]


# Points of the model file at home, m.
FIVE_BAR = {"A1": (0, 0, 0), "A2": (0.16, 0, 0.005), "B1": (-0.07, 0.014, 0.168),
            "B2": (0.245, -0.012, 0.172)}  # fmt: skip


def size_of(name: str) -> float:
    return 0.003 if name.endswith("stroke") else 0.02 if name.startswith("sla") else 0.2


@pytest.mark.slow
@pytest.mark.parametrize(("name", "quantity", "what"), CASES)
@pytest.mark.parametrize("bounds", [(-1.0, 2.0), (None, 0.4), (0.0, None)])
def test_slopes(name: str, quantity: str, what: str, bounds: tuple[float | None, ...]) -> None:
    limit = MotionLimit(quantity, what, *bounds)
    small = name.startswith("sla")
    problem = problem_of(name, limits=[limit], harmonics=1 if small else 2, samples=14)
    check_limits([limit], problem.mechanism)
    x = moved(problem, size_of(name))
    values, rows = problem.constraints(problem.motion(x))
    assert values.shape == (6 * sum(b is not None for b in bounds),)
    assert rows.shape == (len(values), len(x))

    step = 1e-6 if small else 1e-5
    wanted = differences(lambda z: problem.constraints(problem.motion(z))[0], x, step)
    exact = 1e-4 if quantity == "margin" else 2e-6
    np.testing.assert_allclose(rows, wanted, rtol=exact, atol=exact * np.abs(wanted).max())


def test_slack_is_the_distance_to_the_nearer_bound_in_every_segment() -> None:
    y = np.linspace(-0.5, 0.4, 12)[:, None]
    motion = solve_motion(mechanism_of("pendulum"), y)
    (found,) = slacks([MotionLimit("position", "angle", -0.4, 0.6)], motion)
    upper, lower = found.values[:6], found.values[6:]
    np.testing.assert_allclose(upper, 0.6 - y[1::2, 0], rtol=1e-14)
    np.testing.assert_allclose(lower, y[::2, 0] + 0.4, rtol=1e-13)
    assert found.samples.tolist() == [1, 3, 5, 7, 9, 11, 0, 2, 4, 6, 8, 10]
    assert found.worst == pytest.approx(-0.1)


def test_a_short_motion_has_as_many_segments_as_samples() -> None:
    motion = solve_motion(mechanism_of("pendulum"), np.array([[0.1], [0.2]]))
    (found,) = slacks([MotionLimit("position", "angle", upper=0.4)], motion)
    np.testing.assert_allclose(found.values, [0.75, 0.5])


def moving_five_bar() -> Motion:
    problem = problem_of("five_bar")
    return problem.motion(moved(problem))


@pytest.mark.parametrize("quantity", ["joint", "distance", "force", "margin"])
def test_values_are_those_of_other_functions(quantity: str) -> None:
    motion = moving_five_bar()
    name, values = {
        "joint": ("C", joint_motion(motion, "C").coordinates[:, 0]),
        "distance": ("crank_1.B1-crank_2.B2", None),
        "force": ("M2", inverse_dynamics(motion).tau[:, 1]),
        "margin": ("", singularity_margin(motion.model, motion.q)),
    }[quantity]
    if values is None:  # two cranks of known length, turned about y
        positions = {n: np.array(p) for n, p in FIVE_BAR.items()}
        ends = []
        for k, (a, b) in enumerate((("A1", "B1"), ("A2", "B2"))):
            pivot, arm = positions[a], positions[b]
            c, s = np.cos(motion.y[:, k]), np.sin(motion.y[:, k])
            r = arm - pivot
            turned = [c * r[0] + s * r[2], np.full(len(c), r[1]), -s * r[0] + c * r[2]]
            ends.append(pivot + np.stack(turned, axis=1))
        values = np.linalg.norm(ends[1] - ends[0], axis=1)
    (found,) = slacks([MotionLimit(quantity, name, lower=1.0)], motion)
    parts = np.array_split(np.asarray(values) - 1.0, 6)
    np.testing.assert_allclose(found.values, [p.min() for p in parts], rtol=1e-9)


def test_without_loops_there_is_no_margin() -> None:
    problem = problem_of("pendulum", limits=[MotionLimit("margin", "", lower=0.1)])
    check_limits(problem.limits, problem.mechanism)
    values, rows = problem.constraints(problem.motion(moved(problem)))
    assert values.shape == (0,)
    assert rows.shape == (0, len(problem.design.start))
    assert problem.feasible(moved(problem))


def test_angles_of_cut_joints_count_from_home() -> None:
    """Half a turn is no border: q9 is at -2.95 rad at home and starts beyond -π here."""
    mechanism = mechanism_of("planar_3rrr")
    home = solve_motion(mechanism, kinematic_model(mechanism).home_y[None])
    slope = np.linalg.lstsq(
        slacks([MotionLimit("joint", "q9", upper=1.0)], home)[0].by_y, [1.0], rcond=None
    )[0]
    path = home.y + np.linspace(0.35, -0.1, 12)[:, None] * slope  # q9 goes up by about 0.45
    motion = solve_motion(mechanism, path)
    plain = joint_motion(motion, "q9").coordinates[:, 0]
    assert plain[0] > 2.5  # a turn away
    (found,) = slacks([MotionLimit("joint", "q9", -3.5, -2.5)], motion)
    assert found.worst > 0
    (one,) = slacks([MotionLimit("joint", "q9", -3.5, -2.5)], motion.part(slice(0, 1)))
    assert one.values == pytest.approx([-2.5 - (plain[0] - 2 * np.pi), plain[0] - 2 * np.pi + 3.5])


def test_points_that_meet_have_a_finite_slope() -> None:
    limit = MotionLimit("distance", "coupler_1.C-coupler_2.C", upper=0.1)
    problem = problem_of("five_bar", limits=[limit])
    values, rows = problem.constraints(problem.motion(moved(problem)))
    np.testing.assert_allclose(values, 1.0)
    assert np.all(np.isfinite(rows))


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (MotionLimit("position", "q9", 0, 1), "position of q9.*no independent coordinate q9"),
        (MotionLimit("speed", "A1", 0, 1), "no independent coordinate A1; choose one of: q1, q2"),
        (MotionLimit("acceleration", "", 0, 1), "no independent coordinate"),
        (MotionLimit("force", "q1", 0, 1), "no force q1; choose one of: M1, M2"),
        (MotionLimit("joint", "D", 0, 1), "no joint D; choose one of: A1"),
        (MotionLimit("joint", "C.x", 0, 1), "joint C has no single coordinate x"),
        (MotionLimit("distance", "ground.A1", 0, 1), "needs two points"),
        (MotionLimit("distance", "ground.A1-ground.X", 0, 1), "no point ground.X; choose one of:"),
        (MotionLimit("distance", "a-b", 0, 1), "no point a and no point b"),
        (MotionLimit("position", "q1"), "position of q1: a limit needs a bound"),
        (MotionLimit("position", "q1", 1, 0), "the lower bound must be below the upper"),
        (MotionLimit("position", "q1", 1, 1), "the lower bound must be below the upper"),
        (MotionLimit("position", "q1", float("nan"), 1), "bounds must be finite"),
        (MotionLimit("margin", "", lower=float("inf")), "bounds must be finite"),
        (MotionLimit("jerk", "q1", 0, 1), "no quantity jerk"),  # type: ignore[arg-type]
    ],
)
def test_limits_of_nothing_are_refused(limit: MotionLimit, message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_limits([limit], mechanism_of("five_bar"))


def test_a_joint_with_several_coordinates_wants_one_named() -> None:
    table = mechanism_of("five_bar@table")
    check_limits([MotionLimit("joint", "table.x", 0, 1)], table)
    with pytest.raises(DataError, match=r"choose one of: table\.x, table\.y"):
        check_limits([MotionLimit("joint", "table", 0, 1)], table)
    with pytest.raises(DataError, match="C has no single coordinate"):
        check_limits([MotionLimit("joint", "C", 0, 1)], table)
