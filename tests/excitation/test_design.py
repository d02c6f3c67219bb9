"""Trajectories and what is free in them: sampling, conditions, the chain rule."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.excitation.conditions import At, Closed, reduction, rest, rest_at_ends
from mechid.excitation.design import design
from mechid.excitation.families import BSpline, Constant, Family, Fourier, Scaled, Sine, Sum
from mechid.excitation.trajectory import Trajectory, sample, usual_rate

RNG = np.random.default_rng(5)


def fourier(n: int = 4, f: float = 0.5) -> Fourier:
    return Fourier.zeros(f, n).with_coefficients(RNG.normal(size=2 * n + 1))


def made() -> Trajectory:
    return Trajectory.of(
        {"lift": fourier(), "rack": BSpline(4.0, tuple(RNG.normal(size=9)), 5, "free"),
         "wheel": Sine(50.0, 0.25)},
        4.0,
    )  # fmt: skip


def test_sampling_at_a_rate() -> None:
    trajectory = made()
    found = sample(trajectory, rate=10.0)
    assert found.time == pytest.approx(np.arange(41) / 10)
    assert found.y.shape == found.yd.shape == found.ydd.shape == (41, 3)
    np.testing.assert_array_equal(found.y[:, 0], trajectory["lift"].rates(found.time).position)
    np.testing.assert_array_equal(found.ydd[:, 2], trajectory["wheel"].rates(found.time)[2])
    again = sample(trajectory, times=found.time)
    np.testing.assert_array_equal(again.yd, found.yd)


def test_a_rate_that_does_not_divide_the_duration_stops_before_the_end() -> None:
    assert sample(made(), rate=0.7).time == pytest.approx(np.arange(3) / 0.7)
    assert len(sample(Trajectory.of({"a": Constant(0.0)}, 0.3), rate=10.0).time) == 4


def test_usual_rate_follows_the_highest_frequency() -> None:
    assert usual_rate(Trajectory.of({"a": fourier(5, 2.0)}, 1.0)) == pytest.approx(200.0)
    assert usual_rate(Trajectory.of({"a": Constant(1.0)}, 1.0)) == pytest.approx(100.0)


def test_period_is_that_of_all_coordinates() -> None:
    both = {"a": fourier(2, 0.5), "b": Sine(50.0, 0.25), "c": Constant(1.0)}
    assert Trajectory.of(both, 8.0).period == pytest.approx(4.0)
    assert made().period is None


def test_trajectories_are_values() -> None:
    trajectory = made()
    assert pickle.loads(pickle.dumps(trajectory)) == trajectory
    assert trajectory.with_coefficients(trajectory.coefficients) == trajectory
    turned = trajectory.ordered(["wheel", "lift", "rack"])
    assert turned.names == ("wheel", "lift", "rack")
    assert turned["lift"] == trajectory["lift"]


@pytest.mark.parametrize(
    ("family", "conditions"),
    [
        (fourier(), rest_at_ends(2.0)),
        (fourier(), rest_at_ends(3.3)),
        (fourier(), (At(0.0, position=0.17, speed=0.0, acceleration=0.0), At(1.0, position=0.2))),
        (fourier(), (Closed(0.0, 3.1),)),
        (BSpline(3.0, tuple(RNG.normal(size=12)), 5, "free"), rest_at_ends(3.0)),
        (BSpline(3.0, tuple(RNG.normal(size=12)), 5, "free"), (Closed(0.0, 3.0),)),
        (Sum((fourier(3), Sine(0.1, 1.7, 0.4))), rest_at_ends(3.3)),
        (Sum((Scaled(Sine(1.0, 1.0)), Scaled(Sine(1.0, 2.0)), Scaled(Sine(1.0, 3.0)))),
         (rest(0.0),)),
    ],
)  # fmt: skip
def test_every_x_meets_the_conditions(family: Family, conditions: tuple[At | Closed, ...]) -> None:
    r = reduction(family, conditions)
    np.testing.assert_allclose(r.Z.T @ r.Z, np.eye(r.Z.shape[1]), atol=1e-13)
    for _ in range(3):
        moved = family.with_coefficients(r.coefficients(RNG.normal(size=r.Z.shape[1])))
        for condition in conditions:
            if isinstance(condition, Closed):
                for a in moved.rates(np.array([condition.first, condition.last])):
                    assert a[0] == pytest.approx(a[1], abs=1e-11)
                continue
            found = moved.rates(np.array([condition.time]))
            wanted = (condition.position, condition.speed, condition.acceleration)
            for value, target, size in zip(found, wanted, (1.0, 10.0, 100.0), strict=True):
                if target is not None:
                    assert value[0] == pytest.approx(target, abs=1e-13 * size)


def test_no_more_is_projected_out_than_asked() -> None:
    family = fourier(4, 0.5)
    assert reduction(family, ()).Z.shape == (9, 9)
    # Rest at both ends of a period is one condition of speed and one of acceleration.
    assert reduction(family, rest_at_ends(2.0)).Z.shape == (9, 7)
    assert reduction(family, rest_at_ends(1.3)).Z.shape == (9, 5)
    # A series closes over its period by itself.
    assert reduction(family, (Closed(0.0, 2.0),)).Z.shape == (9, 9)


def test_projection_keeps_what_complies() -> None:
    family = fourier()
    r = reduction(family, rest_at_ends(2.0))
    c = r.coefficients(RNG.normal(size=r.Z.shape[1]))
    np.testing.assert_allclose(r.coefficients(r.nearest(c)), c, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("family", "conditions"),
    [
        (Sine(50.0, 0.25), (rest(0.0),)),
        (Fourier.zeros(1.0, 3), (At(0.0, position=0.0), At(1.0, position=0.1))),
    ],
)
def test_conditions_that_cannot_be_met_are_refused(
    family: Family, conditions: tuple[At, ...]
) -> None:
    with pytest.raises(DataError, match=r"wheel: .* meet the start and end conditions"):
        reduction(family, conditions, "wheel")


def test_a_given_signal_that_complies_is_not_refused() -> None:
    cosine = Sine(1.0, 0.5, np.pi / 2)
    found = reduction(cosine, (At(0.0, speed=0.0), At(4.0, speed=0.0), Closed(0.0, 2.0)))
    assert found.Z.shape == (0, 0)


def test_design_is_the_trajectory_of_x() -> None:
    trajectory = made()
    times = np.linspace(0.0, 4.0, 30)
    found = design(trajectory, times, conditions={"lift": rest_at_ends(4.0)})
    assert found.sizes == (7, 9, 0)
    x = RNG.normal(size=16)
    for a, b in zip(found.sample(x), sample(found.at(x), times=times), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)
    free = design(trajectory, times)
    assert free.at(free.start).coefficients == pytest.approx(trajectory.coefficients, abs=1e-12)


def test_held_coordinates_keep_their_coefficients() -> None:
    trajectory = made()
    found = design(trajectory, np.linspace(0.0, 4.0, 5), free=["rack"])
    assert found.sizes == (0, 9, 0)
    moved = found.at(RNG.normal(size=9))
    assert moved["lift"] == trajectory["lift"]
    assert moved["rack"] != trajectory["rack"]


def test_chain_rule_against_finite_differences() -> None:
    times = np.linspace(0.0, 4.0, 25)
    found = design(made(), times, conditions={"lift": rest_at_ends(4.0)})
    weights = RNG.normal(size=(3, 25, 3))

    def value(x: np.ndarray) -> float:
        s = found.sample(x)
        return float(sum(np.sum(w * np.sin(r)) for w, r in zip(weights, s[1:], strict=True)))

    x = 0.1 * RNG.normal(size=16)
    s = found.sample(x)
    gradient = found.gradient(*(w * np.cos(r) for w, r in zip(weights, s[1:], strict=True)))
    h = 1e-6
    differences = [(value(x + h * e) - value(x - h * e)) / (2 * h) for e in np.eye(16)]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-6)


def test_wrong_trajectories_are_refused() -> None:
    trajectory = made()
    with pytest.raises(DataError, match="rack is not defined at t = 5 s"):
        Trajectory.of({"rack": trajectory["rack"]}, 5.0)
    with pytest.raises(DataError, match="rack is not defined"):
        sample(trajectory, times=np.array([0.0, 4.5]))
    with pytest.raises(DataError, match="rate and times exclude each other"):
        sample(trajectory, rate=1.0, times=np.zeros(1))
    with pytest.raises(DataError, match="does not define q"):
        trajectory.ordered(["q", "lift", "rack", "wheel"])
    with pytest.raises(DataError, match="no independent coordinate wheel"):
        trajectory.ordered(["lift", "rack"])
    with pytest.raises(DataError, match="no coordinate nothing"):
        design(trajectory, np.zeros(1), free=["nothing"])
    with pytest.raises(DataError, match="duration"):
        Trajectory.of({}, 0.0)
    with pytest.raises(DataError, match=r"coefficients must have shape \(18,\), got"):
        trajectory.with_coefficients(np.zeros(3))
