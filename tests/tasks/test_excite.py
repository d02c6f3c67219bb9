"""Designing a motion from a model and a plan: whole way, defaults, and plans that are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.dynamics.regressor import observation_matrix
from mechid.errors import DataError, MechidError
from mechid.excitation.bounds import MotionLimit
from mechid.excitation.families import BSpline, Constant, Fourier
from mechid.excitation.limits import slacks
from mechid.excitation.trajectory import Trajectory, sample
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load
from mechid.options.excite import DEFAULT_CRITERION, ExciteOptions
from mechid.tasks.criteria import criterion_of
from mechid.tasks.evaluate_motion import evaluate_motion, sampling_of_motion, usual_times
from mechid.tasks.excite import DesignedMotion, excite, usual_limits
from mechid.tasks.stages import base_of
from mechid.trajectoryfile import Expression, dumps_trajectory, loads_trajectory

QUICK = {"random": 8, "starts": 1, "iterations": 4}
PLAN = ExciteOptions(harmonics=2)


@pytest.fixture(scope="module")
def five_bar() -> Mechanism:
    return load("five_bar")


def check(found: DesignedMotion, times: int = 20) -> None:
    """The trajectory closes and keeps its limits on a finer grid, and says by how much."""
    trajectory = found.trajectory
    t = usual_times(trajectory, found.options)
    n = round(times * trajectory.duration / (t[1] - t[0]))
    s = sample(trajectory, times=np.linspace(0.0, trajectory.duration, n + 1))
    motion = solve_motion(kinematic_model(found.mechanism), s.y, s.yd, s.ydd, time=s.time)
    least = slacks(found.limits, motion, gradients=False)
    for slack in least:
        assert slack.worst >= -1e-8, slack.limit.words
    if least:
        assert found.slack == pytest.approx(min(s.worst for s in least), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "plan"),
    [
        ("five_bar", PLAN),
        ("five_bar", replace(PLAN, criterion="d", prior=False)),
        ("five_bar", replace(PLAN, criterion="condition-equilibrated")),
        ("five_bar@distances", PLAN),
        ("pendulum", PLAN),
        ("slider_crank", replace(PLAN, criterion="a")),
        ("slider_crank@stroke", PLAN),
        ("planar_3rrr", replace(PLAN, criterion="e", prior=False)),
        ("planar_3rrr", replace(PLAN, criterion="mixture", prior=False)),
        ("sla_suspension", ExciteOptions(harmonics=1)),
    ],
)
def test_the_usual_limits_of_a_model(name: str, plan: ExciteOptions) -> None:
    quick = {"random": 2, "starts": 1, "iterations": 1} if name.startswith("sla") else QUICK
    found = excite(load(name), plan, **quick)
    check(found)
    assert found.excitation.complete
    assert found.slack >= -1e-8
    assert found.tightest in {limit.words for limit in found.limits}
    # Samples follow from the trajectory, whatever harmonics the plan says.
    judging = replace(plan, harmonics=5)
    judged = evaluate_motion(found.mechanism, found, judging).criteria
    assert judged == pytest.approx(found.criteria, rel=1e-9)
    if plan.criterion != "mixture":
        value = found.plain(found.excitation.value)
        name = plan.criterion or DEFAULT_CRITERION
        assert value == pytest.approx(found.criteria[name], rel=1e-9)


def test_usual_limits(five_bar: Mechanism) -> None:
    model = kinematic_model(five_bar)
    margin = float(singularity_margin(model, model.home_q[None])[0])
    joints = (MotionLimit("joint", "A1", -0.6, 0.6), MotionLimit("joint", "A2", -0.6, 0.6))
    # 10 and 100 strokes of 0.6 rad per second and per second².
    rates = tuple(
        MotionLimit(quantity, name, -bound, bound)
        for name in ("q1", "q2")
        for quantity, bound in (("speed", 6.0), ("acceleration", 60.0))
    )
    assert usual_limits(model) == (*joints, *rates, MotionLimit("margin", "", lower=0.1 * margin))
    crank = kinematic_model(load("slider_crank"))
    home = float(crank.home_y[0])
    (angle, speed, acceleration, _) = usual_limits(crank)
    assert angle == MotionLimit("position", "angle", home - 0.35, home + 0.35)
    assert (speed.upper, acceleration.upper) == pytest.approx((3.5, 35.0))
    assert [limit.quantity for limit in usual_limits(crank, ["angle"])] == ["margin"]
    # Without loops there are no singular poses to keep away from.
    pendulum = usual_limits(kinematic_model(load("pendulum")))
    assert [limit.quantity for limit in pendulum] == ["position", "speed", "acceleration"]
    # Wide strokes make no faster motions, unless the coordinate turns more than once.
    arm = {(x.quantity, x.name): x for x in usual_limits(kinematic_model(load("puma560")))}
    assert arm["speed", "q1"].upper == pytest.approx(7.0)
    assert arm["acceleration", "q6"].upper == pytest.approx(70.0)
    screw = {(x.quantity, x.name): x for x in usual_limits(kinematic_model(load("screw_press")))}
    assert screw["speed", "turn"].upper == pytest.approx(240.0)


@pytest.mark.parametrize("family", ["fourier", "bspline"])
def test_rest_at_both_ends(five_bar: Mechanism, family: str) -> None:
    plan = ExciteOptions(family=family, harmonics=3, rest=True, frequency=0.5)  # type: ignore[arg-type]
    found = excite(five_bar, plan, **QUICK)
    check(found)
    trajectory = found.trajectory
    assert trajectory.duration == 2.0
    ends = sample(trajectory, times=np.array([0.0, 2.0]))
    moving = sample(trajectory, rate=50.0)
    assert np.abs(ends.yd).max() <= 1e-12 * np.abs(moving.yd).max()
    assert np.abs(ends.ydd).max() <= 1e-12 * np.abs(moving.ydd).max()


def test_a_spline_without_rest_repeats(five_bar: Mechanism) -> None:
    found = excite(five_bar, ExciteOptions(family="bspline", harmonics=3), **QUICK)
    check(found)
    spline = found.trajectory["q1"]
    assert isinstance(spline, BSpline)
    assert spline.period == 1.0


def test_given_motions_are_kept(five_bar: Mechanism) -> None:
    given = Expression("0.2*sin(2*pi*t)")
    found = excite(five_bar, replace(PLAN, fixed={"q1": given}), **QUICK)
    check(found)
    assert found.trajectory["q1"] == given
    assert np.ptp(sample(found.trajectory).y[:, 1]) > 0.01


def test_going_on_from_a_saved_motion(five_bar: Mechanism) -> None:
    first = excite(five_bar, PLAN, **QUICK)
    saved = loads_trajectory(dumps_trajectory(first.excitation.trajectory))
    again = excite(five_bar, PLAN, **QUICK | {"random": 1}, seed=7, start=saved)
    check(again)
    turned = saved.ordered(["q2", "q1"])
    other = excite(five_bar, PLAN, random=1, starts=0, start=turned)
    assert again.excitation.value <= first.excitation.value + 1e-12
    assert again.criteria[DEFAULT_CRITERION] <= first.criteria[DEFAULT_CRITERION] + 1e-9
    assert other.excitation.value <= first.excitation.value + 1e-12


@pytest.mark.parametrize(
    "plan",
    [
        replace(PLAN, harmonics=3),
        replace(PLAN, frequency=2.0),
        ExciteOptions(family="bspline", harmonics=3),
    ],
)
def test_a_start_of_another_kind_is_refused(five_bar: Mechanism, plan: ExciteOptions) -> None:
    families = {"q1": Fourier.zeros(1.0, 2), "q2": Fourier.zeros(1.0, 2)}
    start = Trajectory.of(families, 1.0, name="mine")
    with pytest.raises(DataError, match="mine: q1 belongs to another family"):
        excite(five_bar, plan, **QUICK, start=start)


def test_a_start_of_another_mechanism_is_refused(five_bar: Mechanism) -> None:
    start = Trajectory.of({"angle": Fourier.zeros(1.0, 2)}, 1.0, name="mine")
    with pytest.raises(DataError, match="mine: the trajectory does not define q1, q2"):
        excite(five_bar, PLAN, **QUICK, start=start)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (replace(PLAN, frequency=0.0), "frequency must be > 0, got 0"),
        (replace(PLAN, frequency=float("nan")), "frequency must be > 0, got nan"),
        (replace(PLAN, noise=-1.0), "noise must be > 0, got -1"),
        (replace(PLAN, harmonics=0), "harmonics must be ≥ 1, got 0"),
        (replace(PLAN, samples=1), "samples must be ≥ 2, got 1"),
        (replace(PLAN, criterion="best"), "unknown criterion 'best'; choose one of: d, prediction"),
        (replace(PLAN, fixed={"q9": Constant(0.0)}), "there is no coordinate q9"),
        (replace(PLAN, fixed={"q1": Constant(0.0), "q2": Constant(0.0)}), "nothing is left"),
        (replace(PLAN, harmonics=1, rest=True), "q1 cannot move; use more harmonics"),
        (ExciteOptions(family="bspline", harmonics=2), "needs 6 values, got 5"),
    ],
)
def test_plans_that_are_none(five_bar: Mechanism, plan: ExciteOptions, message: str) -> None:
    with pytest.raises(DataError, match=message):
        excite(five_bar, plan, **QUICK)


def test_a_negative_seed_is_refused(five_bar: Mechanism) -> None:
    with pytest.raises(DataError, match="seed must be ≥ 0, got -1"):
        excite(five_bar, PLAN, **QUICK, seed=-1)


@pytest.mark.parametrize(
    ("plan", "limits", "message"),
    [
        (replace(PLAN, fixed={"q1": Expression("0.9*sin(2*pi*t)")}), None,
         r"keeps the limit -0\.6 ≤ joint of A1 ≤ 0\.6: all violate it"),
        (PLAN, [MotionLimit("force", "M1", -0.1, 0.1)], r"-0\.1 ≤ force of M1 ≤ 0\.1"),
        (PLAN, [MotionLimit("joint", "C", 2.0, 2.1)], r"2 ≤ joint of C ≤ 2\.1"),
    ],
)  # fmt: skip
def test_the_limit_that_blocks_is_named(
    five_bar: Mechanism, plan: ExciteOptions, limits: list[MotionLimit] | None, message: str
) -> None:
    with pytest.raises(MechidError, match=message):
        excite(five_bar, plan, limits=limits, **QUICK)


def test_a_given_motion_out_of_reach() -> None:
    far = load("five_bar@distances")
    with pytest.raises(MechidError, match="the loops do not close even at the start"):
        excite(far, replace(PLAN, fixed={"s1": Constant(9.0)}), limits=[], **QUICK)


def test_samples_of_a_judged_motion(five_bar: Mechanism) -> None:
    """Twelve per period of the highest frequency, or as many as the trajectory or the plan says."""
    plan = ExciteOptions(criterion="a", prior=False)
    series = Fourier(1.0, 0.0, (0.6, 0.5, 0.3), (0.2, -0.8, 0.4))
    other = Fourier(1.0, 0.0, (-0.5, 0.7, 0.1), (0.6, 0.1, -0.7))
    once = Trajectory.of({"q1": series, "q2": other}, 1.0)
    variance = evaluate_motion(five_bar, once, plan).criteria["a"]
    assert evaluate_motion(five_bar, once, replace(plan, samples=36)).criteria["a"] == variance
    # Twice the samples, half the variance.
    for trajectory, asked in (
        (replace(once, duration=2.0), plan),
        (replace(once, duration=2.0), replace(plan, samples=36)),
        (replace(once, rate=72.0), plan),
        (once, replace(plan, samples=72)),
    ):
        found = evaluate_motion(five_bar, trajectory, asked).criteria["a"]
        assert found == pytest.approx(variance / 2, rel=1e-6)


def test_a_model_without_uncertainties() -> None:
    """As in an identification, 20 % are assumed, and that is said."""
    bare = load("planar_3rrr")
    found, told = excite(bare, PLAN, **QUICK), excite(bare, PLAN, **QUICK, cad_error="20%")
    assert found.criteria == told.criteria
    assert any("20 % were assumed" in note for note in found.notes)
    assert not told.notes
    without = excite(bare, PLAN, prior=False, **QUICK)
    assert not without.notes
    # More is known with a prior, of the same motion.
    alone = evaluate_motion(bare, found, PLAN, prior=False).criteria
    for name in ("a", "d", "e", "prediction"):
        assert found.criteria[name] < alone[name]
    vague = evaluate_motion(bare, found, PLAN, cad_error=0.4).criteria
    assert found.criteria["a"] < vague["a"] < alone["a"]


def test_more_time_and_wider_limits_do_not_hurt(five_bar: Mechanism) -> None:
    narrow = [MotionLimit("joint", "A1", -0.2, 0.2), MotionLimit("joint", "A2", -0.2, 0.2)]
    wide = [MotionLimit("joint", "A1", -0.4, 0.4), MotionLimit("joint", "A2", -0.4, 0.4)]
    first = excite(five_bar, PLAN, limits=narrow, **QUICK)
    second = excite(five_bar, PLAN, limits=wide, **QUICK, start=first.excitation.trajectory)
    # Criteria refer to usual motions within the limits: the same for both.
    before = evaluate_motion(five_bar, first, PLAN, limits=wide).criteria[DEFAULT_CRITERION]
    assert second.criteria[DEFAULT_CRITERION] <= before * (1 + 1e-9)


def test_noise_of_the_motion(five_bar: Mechanism) -> None:
    """Relative to the usual forces, large motions are better; relative to their own, not so."""
    small, large = (
        Trajectory.of(
            {
                "q1": Fourier(1.0, 0.0, (0.0, 0.0, k), (0.0,) * 3),
                "q2": Fourier(1.0, 0.1, (0.0,) * 3, (0.0, 0.0, k)),
            },
            1.0,
        )
        for k in (5.0, 10.0)
    )
    usual, own = ExciteOptions(prior=False, noise_of="usual"), ExciteOptions(prior=False)
    at = {
        (k, p.noise_of): evaluate_motion(five_bar, t, p).criteria
        for k, t in enumerate((small, large))
        for p in (usual, own)
    }
    for name in ("a", "prediction"):
        gain = {word: at[0, word][name] / at[1, word][name] for word in ("usual", "motion")}
        assert gain["usual"] > 1.2 * gain["motion"]
    # Condition numbers know no noise.
    for k in (0, 1):
        assert at[k, "usual"]["condition"] == at[k, "motion"]["condition"]


def test_a_design_with_the_noise_of_the_motion(five_bar: Mechanism) -> None:
    plan = replace(PLAN, criterion="d")
    found = excite(five_bar, plan, **QUICK | {"iterations": 12})
    check(found)
    assert found.excitation.value < found.excitation.random_values.min()
    assert found.criteria["d"] == pytest.approx(found.excitation.value, rel=1e-9)


def test_wanted_parameters(five_bar: Mechanism) -> None:
    base = base_of(five_bar)
    some = base.base[:3]
    plan = replace(PLAN, criterion="a", prior=False, noise_of="usual", parameters=some)
    found = excite(five_bar, plan, **QUICK)
    check(found)
    # The variances of these, with all others estimated along: from the whole covariance.
    trajectory = found.trajectory
    s = sample(trajectory, times=usual_times(trajectory, plan))
    motion = solve_motion(kinematic_model(five_bar), s.y, s.yd, s.ydd, time=s.time)
    W = base.observation(observation_matrix(motion).W)
    sigma = criterion_of(five_bar, base, replace(plan, parameters=())).options.sigma
    A = (W / sigma[:, None]).reshape(-1, base.rank)
    variances = np.diag(np.linalg.inv(A.T @ A))
    assert found.plain(found.excitation.value) == pytest.approx(variances[:3].sum(), rel=1e-6)
    whole = evaluate_motion(five_bar, trajectory, replace(plan, parameters=())).criteria
    assert whole["a"] == pytest.approx(variances.sum(), rel=1e-6)
    assert found.criteria["prediction"] == pytest.approx(whole["prediction"], rel=1e-9)


def test_parameters_that_cannot_be_wanted(five_bar: Mechanism) -> None:
    base = base_of(five_bar)
    plan = replace(PLAN, criterion="d")
    dependent = next(n for n in base.dependent if base.beta[:, base.dependent.index(n)].any())
    for name, message in (
        ("nothing", "there is no parameter nothing; choose one of: "),
        (dependent, f"{dependent} is not a base parameter: it is part of "),
        (base.without_effect[0], f"{base.without_effect[0]} has no effect on any force"),
    ):
        with pytest.raises(DataError, match=message):
            excite(five_bar, replace(plan, parameters=(base.base[0], name)), **QUICK)
    with pytest.raises(DataError, match="prediction is about forces"):
        excite(
            five_bar,
            replace(PLAN, criterion="prediction", parameters=base.base[:1]),
            **QUICK,
        )


def test_samples_of_a_motion(five_bar: Mechanism) -> None:
    trajectory = Trajectory.of(
        {
            "q1": Fourier(1.0, 0.0, (1.0, 0.3), (0.0, 0.5)),
            "q2": Fourier(1.0, 0.1, (0.2, 0.0), (1.0, 0.4)),
        },
        1.0,
    )
    plan = ExciteOptions(criterion="a", prior=False, samples=40)
    rows = sampling_of_motion(five_bar, trajectory, plan)
    assert [r.samples for r in rows] == [10, 20, 40, 80, 160, 80, 160]
    assert [r.periods for r in rows] == [1.0] * 5 + [2.0, 4.0]
    judged = evaluate_motion(five_bar, trajectory, plan).criteria
    assert rows[2].value == pytest.approx(judged["a"], rel=1e-9)
    # Periods repeat what is known: variances fall with their number, the information of one
    # sample stays.
    for row in rows[5:]:
        assert row.value == pytest.approx(rows[2].value / row.periods, rel=1e-9)
        assert row.per_sample == pytest.approx(rows[2].per_sample, rel=1e-9)
    own = sampling_of_motion(five_bar, trajectory, replace(plan, noise_of="usual"))
    assert own[2].value == pytest.approx(
        evaluate_motion(five_bar, trajectory, replace(plan, noise_of="usual")).criteria["a"],
        rel=1e-9,
    )
    with pytest.raises(DataError, match="not by goals"):
        sampling_of_motion(five_bar, trajectory, replace(plan, criterion="goals"))
    once = replace(trajectory, families=(trajectory["q1"], Expression("0.1*t")))
    assert len(sampling_of_motion(five_bar, once, plan)) == 5
