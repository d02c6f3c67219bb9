"""Trajectories, conditions and limits at their bounds, and the figures of their messages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mechid.errors import DataError, MechidError
from mechid.excitation.bounds import MotionLimit, check_limits, limited_joint, limited_points
from mechid.excitation.conditions import At, Closed, equations, reduction, rest, rest_at_ends
from mechid.excitation.design import design
from mechid.excitation.families import Chirp, Constant, Fourier, Sine, Sum, Tabulated
from mechid.excitation.limits import _worst_samples, scale_of, slacks
from mechid.excitation.starts import blocked, own_bounds
from mechid.excitation.trajectory import Trajectory, sample, times_at, usual_rate
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import solve_motion

from .problems import mechanism_of, problem_of

WAVE = Fourier(0.5, 0.1, (0.2, 0.0), (0.0, 0.3))


# ------------------------------------------------------------------------------ trajectories


def test_times_up_to_the_end() -> None:
    np.testing.assert_allclose(times_at(1.0, 4.0), [0, 0.25, 0.5, 0.75, 1.0], rtol=0)
    np.testing.assert_allclose(times_at(0.9, 4.0), [0, 0.25, 0.5, 0.75], rtol=0)
    # Three times 0.1 s is a little more than 0.3 s, and still the end, which is not passed.
    ends = times_at(0.3, 10.0)
    assert len(ends) == 4
    assert ends[-1] <= 0.3
    assert list(times_at(0.1, 4.0)) == [0.0]
    for rate in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(DataError, match="the rate must be > 0 Hz"):
            times_at(1.0, rate)
    with pytest.raises(DataError, match=r"too many samples: 10 s at 1e\+07 Hz are 1e\+08"):
        times_at(10.0, 1e7)
    assert len(times_at(2.0, 1e4)) == 20001


def test_too_many_samples_of_all_coordinates_together() -> None:
    short = Trajectory.of({f"q{k}": Constant(0.0) for k in range(3)}, 1.0)
    with pytest.raises(DataError, match="too many samples: 7e\\+06 of 3 coordinates"):
        sample(short, times=np.broadcast_to(0.5, 7_000_000))


def test_blocks_of_samples_are_one_motion() -> None:
    t = np.linspace(0.0, 2.0, 8192 + 5)
    found = sample(Trajectory.of({"q": WAVE}, 2.0), times=t)
    w = np.pi  # of the first harmonic; the second changes fastest
    np.testing.assert_allclose(found.y[:, 0], WAVE.rates(t).position, rtol=0, atol=0)
    np.testing.assert_allclose(
        np.gradient(found.y[:, 0], t)[1:-1], found.yd[1:-1, 0], atol=(2 * w) ** 3 * 1e-7
    )
    np.testing.assert_allclose(
        np.gradient(found.yd[:, 0], t)[1:-1], found.ydd[1:-1, 0], atol=(2 * w) ** 4 * 1e-7
    )


def test_rates_unless_said() -> None:
    # Twenty samples per period of the second harmonic, 1 Hz; or at least one per duration.
    assert usual_rate(Trajectory.of({"q": WAVE}, 2.0)) == pytest.approx(20.0)
    assert usual_rate(Trajectory.of({"q": WAVE}, 2.0), 3.0) == pytest.approx(3.0)
    assert usual_rate(Trajectory.of({"q": WAVE, "r": Sine(1.0, 5.0)}, 2.0)) == pytest.approx(100.0)
    assert usual_rate(Trajectory.of({"q": Sine(1.0, 1e-3)}, 0.5)) == pytest.approx(2.0)
    assert usual_rate(Trajectory.of({"q": Constant(1.0)}, 2.0)) == 100.0
    trajectory = Trajectory.of({"q": WAVE}, 2.0, rate=7.0)
    assert len(sample(trajectory).time) == 15
    assert len(sample(trajectory, rate=3.0).time) == 7


@pytest.mark.parametrize("key", ["duration", "rate"])
@pytest.mark.parametrize("wrong", [0.0, -2.0, np.inf, np.nan])
def test_durations_and_rates_that_are_none(key: str, wrong: float) -> None:
    values = {"duration": 1.0, "rate": 1.0} | {key: wrong}
    with pytest.raises(DataError, match=f"the {key} of a trajectory must be > 0 .*got {wrong:g}"):
        Trajectory(("q",), (Constant(0.0),), values["duration"], values["rate"])


def test_names_and_families_must_fit() -> None:
    for names, families in ((("q",), ()), (("q", "q"), (WAVE, WAVE)), ((), (WAVE,))):
        with pytest.raises(DataError, match=f"one family per coordinate .*got {len(families)}"):
            Trajectory(names, families, 1.0)


def test_times_at_which_nothing_is_defined() -> None:
    chirp = Trajectory.of({"q": Chirp(1.0, 1.0, 2.0, 3.0)}, 3.0)
    sample(chirp, times=np.array([0.0, 3.0 * (1 + 1e-13)]))
    for t in (-0.5, 3.25):
        with pytest.raises(DataError, match=f"q is not defined at t = {t} s, only from 0 s to 3 s"):
            sample(chirp, times=np.array([1.0, t]))
    with pytest.raises(DataError, match="q is not defined at t = 4 s"):
        Trajectory.of({"q": Chirp(1.0, 1.0, 2.0, 3.0)}, 4.0)
    with pytest.raises(DataError, match="exclude each other"):
        sample(chirp, rate=1.0, times=np.zeros(1))
    with pytest.raises(DataError, match="r is not finite"):
        sample(Trajectory.of({"q": WAVE, "r": Constant(np.inf)}, 1.0))


def test_coefficients_go_to_their_coordinates() -> None:
    t = Trajectory.of({"a": WAVE, "b": Constant(1.0), "c": Fourier(1.0, 0.0, (1.0,), (2.0,))}, 2.0)
    assert t.sizes == (5, 0, 3)
    new = np.arange(8.0)
    again = t.with_coefficients(new)
    np.testing.assert_array_equal(again.coefficients, new)
    np.testing.assert_array_equal(again["c"].coefficients, [5.0, 6.0, 7.0])
    assert again["b"] == Constant(1.0)
    for wrong in (new[:-1], new[None]):
        with pytest.raises(DataError, match=r"must have shape \(8,\), got"):
            t.with_coefficients(wrong)
    with pytest.raises(MechidError, match="no coordinate z; choose one of: a, b, c"):
        t["z"]
    assert t.ordered(("c", "a", "b")).names == ("c", "a", "b")
    assert t.ordered(("c", "a", "b"))["a"] == WAVE
    with pytest.raises(DataError, match="does not define d"):
        t.ordered(("a", "b", "c", "d"))
    with pytest.raises(DataError, match="no independent coordinate b, c; choose one of: a"):
        t.ordered(("a",))


# -------------------------------------------------------------------------------- conditions


def test_equations_of_conditions() -> None:
    """y = A0 + a sin ωt + b cos ωt, with conditions by hand."""
    family = Fourier(1 / (2 * np.pi), 0.0, (0.0,), (0.0,))
    A, r, _ = equations(family, [At(0.0, position=2.0, speed=3.0, acceleration=4.0)])
    basis = family.basis(np.array([0.0]))
    np.testing.assert_array_equal(A, np.vstack(basis))
    np.testing.assert_array_equal(r, [2.0, 3.0, 4.0])
    assert len(equations(family, [At(0.0, speed=1.0)])[1]) == 1
    found = reduction(family, [At(0.0, position=2.0), rest(0.0)])
    # Position, speed and acceleration: three equations of three numbers.
    assert found.Z.shape == (3, 0)
    rates = family.with_coefficients(found.c0).rates(np.array([0.0]))
    np.testing.assert_allclose([float(x[0]) for x in rates], [2.0, 0.0, 0.0], atol=1e-12)
    assert rest_at_ends(3.0) == (At(0.0, None, 0.0, 0.0), At(3.0, None, 0.0, 0.0))


def test_reduced_coefficients_are_orthonormal_and_nearest() -> None:
    family = Fourier(1.0, 0.3, (0.1, 0.4), (0.2, -0.3))
    found = reduction(family, rest_at_ends(1.0))
    assert found.Z.shape == (5, 3)  # both ends say the same
    np.testing.assert_allclose(found.Z.T @ found.Z, np.eye(3), atol=1e-14)
    c = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    x = found.nearest(c)
    near = found.coefficients(x)
    # The rest of the way is normal to all that is free; and c0 is the shortest of all.
    np.testing.assert_allclose(found.Z.T @ (c - near), 0.0, atol=1e-12)
    np.testing.assert_allclose(found.Z.T @ found.c0, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.nearest(near), x)


def test_given_signals_and_conditions() -> None:
    line = Tabulated((0.0, 1.0, 2.0), (1.0, 2.0, 3.0))
    assert reduction(line, [At(1.0, position=2.0)]).Z.shape == (0, 0)
    with pytest.raises(DataError, match="q: a given signal does not meet"):
        reduction(line, [At(1.0, position=2.001)], "q")
    with pytest.raises(DataError, match="a given signal does not meet"):
        reduction(line, [Closed(0.0, 2.0)])
    with pytest.raises(DataError, match="no coefficients meet"):
        reduction(WAVE, [At(0.0, position=1.0), At(2.0, position=2.0)])
    # What repeats anyway is no equation.
    assert reduction(WAVE, [Closed(0.0, 2.0)]).Z.shape == (5, 5)
    assert reduction(WAVE, [Closed(0.0, 1.0)]).Z.shape[1] < 5


def test_what_is_held_and_what_does_not_exist() -> None:
    t = Trajectory.of({"a": WAVE, "b": WAVE}, 2.0)
    found = design(t, np.linspace(0, 2, 9), free=["b"])
    assert found.sizes == (0, 5)
    np.testing.assert_allclose(found.start, WAVE.coefficients, atol=1e-14)
    moved = found.sample(found.start + 1.0)
    np.testing.assert_allclose(moved.y[:, 0], WAVE.rates(found.time).position)
    assert not np.allclose(moved.y[:, 1], moved.y[:, 0])
    for options in ({"free": ["c"]}, {"conditions": {"c": ()}}):
        with pytest.raises(DataError, match="no coordinate c; choose one of: a, b"):
            design(t, np.zeros(1), **options)


# ------------------------------------------------------------------------------------ limits


@pytest.mark.parametrize(
    ("lower", "upper", "scale"),
    [(-1.0, 3.0, 4.0), (None, -2.0, 2.0), (0.5, None, 0.5), (None, 0.0, 1.0), (0.0, None, 1.0)],
)
def test_scales_of_limits(lower: float | None, upper: float | None, scale: float) -> None:
    assert scale_of(MotionLimit("position", "q1", lower, upper)) == scale


@pytest.mark.parametrize("n", [1, 5, 6, 7, 13, 24])
def test_worst_samples_of_segments(n: int) -> None:
    rows = np.random.default_rng(n).standard_normal((3, n))
    parts = np.array_split(np.arange(n), min(6, n))
    wanted = [[part[np.argmin(row[part])] for part in parts] for row in rows]
    np.testing.assert_array_equal(_worst_samples(rows), wanted)


def test_no_samples_have_no_worst() -> None:
    found = _worst_samples(np.zeros((2, 0)))
    assert found.shape == (2, 0)
    assert found.dtype == np.int64  # numbers of samples, even if there are none


def test_words_of_limits() -> None:
    assert MotionLimit("position", "q1", 0.1, 0.2).words == "0.1 ≤ position of q1 ≤ 0.2"
    assert MotionLimit("margin", "", lower=0.05).words == "0.05 ≤ margin"
    assert MotionLimit("force", "M1", upper=3.0).words == "force of M1 ≤ 3"


def test_bounds_that_meet_and_points_with_dashes() -> None:
    mechanism = mechanism_of("five_bar")
    tiny = np.nextafter(1.0, 2.0)
    check_limits([MotionLimit("position", "q1", 1.0, tiny)], mechanism)
    named: Any = SimpleNamespace(
        points=[
            SimpleNamespace(body=b, name=n) for b, n in (("a-b", "P"), ("c", "Q-R"), ("a", "P"))
        ]
    )
    first, second = limited_points(MotionLimit("distance", "a-b.P - c.Q-R", 0, 1), named)
    assert (first.body, second.name) == ("a-b", "Q-R")
    with pytest.raises(DataError, match=r"there is no point d\.S; choose one of: a-b\.P, c\.Q-R"):
        limited_points(MotionLimit("distance", "a.P-d.S", 0, 1), named)
    table = mechanism_of("five_bar@table")
    names = table.joint("table").kind.coordinates
    for k, name in enumerate(names):
        assert limited_joint(MotionLimit("joint", f"table.{name}", 0, 1), table) == ("table", k)


def test_the_tighter_of_two_limits_counts() -> None:
    mechanism = mechanism_of("five_bar")
    limits = [
        MotionLimit("position", "q2", -1.0, 2.0),
        MotionLimit("position", "q2", -0.5, 3.0),
        MotionLimit("speed", "q1", upper=4.0),
        MotionLimit("acceleration", "q1", lower=-7.0),
        MotionLimit("force", "M1", -1.0, 1.0),
    ]
    found = own_bounds(limits, mechanism)
    wanted = np.tile([-np.inf, np.inf], (2, 3, 1))
    wanted[1, 0] = [-0.5, 2.0]
    wanted[0, 1, 1] = 4.0
    wanted[0, 2, 0] = -7.0
    np.testing.assert_array_equal(found, wanted)


def test_angles_of_cut_joints_are_those_of_the_first_sample_on() -> None:
    """A joint that is cut counts whole turns from home; the first of several coordinates, too."""
    mechanism = mechanism_of("planar_3rrr")
    problem = problem_of("planar_3rrr")
    home = problem.motion(problem.design.start)
    for name in ("q7", "q8", "q9"):
        values = joint_motion(home, name).coordinates[:, 0]
        motion = solve_motion(mechanism, home.y)
        (found,) = slacks([MotionLimit("joint", name, lower=-100.0)], motion)
        np.testing.assert_allclose(100.0 * found.values - 100.0, values[0], atol=1e-9)


def test_how_much_all_motions_violate_a_limit() -> None:
    """Both coordinates rest at home: the angle is known, and so is what is missing."""
    limit = MotionLimit("position", "q1", 0.5, 1.0)
    problem = problem_of("five_bar", "d", [limit], fixed=("q1", "q2"))
    home = float(problem.motion(problem.design.start).y[0, 0])
    said = str(blocked(problem))
    assert f"all violate it by at least {(0.5 - home) / 0.5:.3g} of its range" in said
    easy = problem_of("five_bar", "d", [MotionLimit("position", "q1", home - 1, home + 2)])
    said = str(blocked(easy))
    assert "no motion was found that keeps all limits" in said
    assert "widen the limits, starting with" in said


def test_sums_of_given_signals() -> None:
    t = np.linspace(0.0, 1.0, 5)
    parts = (Sine(1.0, 2.0), Sine(0.5, 3.0), Constant(4.0), WAVE)
    for k, rate in enumerate(Sum(parts).rates(t)):
        np.testing.assert_allclose(rate, sum(part.rates(t)[k] for part in parts), atol=1e-12)


def test_a_family_is_a_function_of_time_within_its_span() -> None:
    """Also at its ends, and a billionth of its length beyond."""
    chirp = Chirp(2.0, 1.0, 2.0, 4.0, phase=0.3)
    for t in (0.0, 4.0, 4.0 * (1 + 1e-9), -4e-9):
        assert np.isfinite(chirp(t)).all()
    for t in (-5e-9, 4.0 + 5e-9):
        with pytest.raises(
            MechidError, match=r"there is no motion at t = .* it goes from 0 s to 4 s"
        ):
            chirp(t)
