"""Independent coordinates from whatever was measured, against known motions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError, MechidError
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.quantities import quantity_motion, quantity_partials
from mechid.measurementfile.mapping import find_quantity
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load
from mechid.signals.prepare import prepare
from mechid.signals.project import project
from mechid.signals.record import Measurement, Preparation

from .signals import rms

T = np.arange(400) / 200.0
SUSPENSION = ("slider_r", "ground.N_l-strut_bottom_l.L_l", "upright_r.H_upright_r.x", "K_r", "K_l")
AMPLITUDES = {"four_bar": [0.25], "sla_suspension": [0.03, 0.03, 0.02, 4.0, 4.0]}


def known(name: str, t: np.ndarray = T, size: float = 1.0) -> Motion:
    """A motion about the home pose."""
    mechanism = load(name)
    a = size * np.array(AMPLITUDES[name])
    w = 2 * np.pi * (0.5 + 0.3 * np.arange(len(a)))
    x = w * t[:, None] + np.arange(len(a))
    y = kinematic_model(mechanism).home_y + a * np.sin(x)
    return solve_motion(mechanism, y, a * w * np.cos(x), -a * w**2 * np.sin(x), time=t)


def seen(motion: Motion, names: tuple[str, ...]) -> list[np.ndarray]:
    """Values, rates and accelerations of named quantities, (N, m) each."""
    quantities = [find_quantity(motion.model.mechanism, name) for name in names]
    parts = [quantity_motion(motion, q) for q in quantities]
    return [np.stack([p[k] for p in parts], axis=1) for k in range(3)]


def quantities(mechanism: Mechanism, names: tuple[str, ...]) -> tuple:  # type: ignore[type-arg]
    return tuple(find_quantity(mechanism, name) for name in names)


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("four_bar", ("q3",)),
        ("four_bar", ("bar_2.B.x", "q4")),
        ("sla_suspension", SUSPENSION),
        ("sla_suspension", (*SUSPENSION, "z_r", "E_r", "rack_guide")),
    ],
)
def test_exact_quantities_give_the_motion_back(model: str, names: tuple[str, ...]) -> None:
    motion = known(model)
    mechanism = motion.model.mechanism
    s, sd, sdd = seen(motion, names)
    found = project(
        mechanism, quantities(mechanism, names), s, speeds=sd, accelerations=sdd, time=T
    )
    assert found.free == len(names) - motion.y.shape[1]
    assert found.y == pytest.approx(motion.y, abs=1e-9)
    assert found.yd == pytest.approx(motion.yd, abs=1e-7)
    assert found.ydd == pytest.approx(motion.ydd, abs=1e-5)
    assert found.misfit.max() < 1e-9


@pytest.mark.parametrize("name", [*SUSPENSION, "A_l", "upright_l.O3_l.z"])
def test_rates_and_partials_are_those_of_differences(name: str) -> None:
    motion = known("sla_suspension")
    s, sd, sdd = (x[:, 0] for x in seen(motion, (name,)))
    h = T[1] - T[0]
    assert (s[2:] - s[:-2]) / (2 * h) == pytest.approx(sd[1:-1], abs=2e-3 * np.ptp(sd) + 1e-12)
    assert (sd[2:] - sd[:-2]) / (2 * h) == pytest.approx(sdd[1:-1], abs=2e-3 * np.ptp(sdd) + 1e-12)
    quantity = find_quantity(motion.model.mechanism, name)
    J = quantity_partials(motion, [quantity])[:, 0]
    assert np.einsum("nj,nj->n", J, motion.yd) == pytest.approx(sd, abs=1e-12 * np.ptp(sd))


def test_what_is_measured_twice_is_averaged_by_its_deviation() -> None:
    motion = known("four_bar")
    mechanism = motion.model.mechanism
    rng = np.random.default_rng(1)
    names = ("q1", "q3", "q4")
    sigma = np.array([1e-3, 1e-2, 2e-3])
    noisy = seen(motion, names)[0] + sigma * rng.standard_normal((len(T), 3))
    found = project(mechanism, quantities(mechanism, names), noisy, sigma=sigma, time=T)
    J = quantity_partials(motion, quantities(mechanism, names))[:, :, 0]
    # The best linear estimate has the variance 1 / Σ (∂s/∂y)²/σ².
    expected = np.sqrt(np.mean(1 / np.sum((J / sigma) ** 2, axis=1)))
    assert rms(found.y - motion.y) == pytest.approx(expected, rel=0.1)
    assert expected < 1e-3


def test_angles_may_be_off_by_turns() -> None:
    motion = known("four_bar")
    mechanism = motion.model.mechanism
    s = seen(motion, ("q3",))[0]
    wrapped = np.mod(s, 2 * np.pi)
    assert project(mechanism, quantities(mechanism, ("q3",)), wrapped).y == pytest.approx(
        motion.y, abs=1e-9
    )


def test_too_few_quantities() -> None:
    mechanism = load("sla_suspension")
    with pytest.raises(DataError, match="2 measured quantities do not determine 5 independent"):
        project(mechanism, quantities(mechanism, ("E_r", "A_r")), np.zeros((3, 2)))


def test_quantities_that_say_the_same() -> None:
    motion = known("sla_suspension", T[:3])
    names = ("slider_r", "E_r", "z_l", "K_r", "K_l")  # nothing tells where the rack is
    mechanism = motion.model.mechanism
    with pytest.raises(DataError, match="do not determine the independent coordinate rack"):
        project(mechanism, quantities(mechanism, names), seen(motion, names)[0], time=T[:3])


@pytest.mark.parametrize("rate", [200.0, 1000.0])
def test_a_quantity_that_turns_back_on_the_way(rate: float) -> None:
    t = np.arange(0.0, 2.0, 1 / rate)
    motion = known("four_bar", t, size=1.6)
    mechanism = motion.model.mechanism
    s, sd, _ = seen(motion, ("q3",))
    turn = t[1:][np.diff(np.sign(sd[:, 0] / motion.yd[:, 0])) != 0]
    assert turn.size
    with pytest.raises(
        DataError, match="do not determine the independent coordinate q1 in this pose"
    ) as refused:
        project(mechanism, quantities(mechanism, ("q3",)), s, time=t)
    told = float(refused.value.where.removeprefix("t = ").removesuffix(" s"))
    assert np.abs(told - turn).min() < 0.05
    # With another quantity that does not turn there, all is well.
    both = project(mechanism, quantities(mechanism, ("q3", "q4")), seen(motion, ("q3", "q4"))[0])
    assert both.y == pytest.approx(motion.y, abs=1e-9)


def test_values_that_no_pose_has() -> None:
    mechanism = load("slider_crank")
    guide = quantities(mechanism, ("guide",))
    with pytest.raises(MechidError, match=r"t = 0 s|sample"):
        project(mechanism, guide, np.full((3, 1), 5.0), time=T[:3])


def test_preparing_projects_first() -> None:
    t = np.arange(2000) / 500.0
    motion = known("four_bar", t)
    mechanism = motion.model.mechanism
    s = seen(motion, ("q3", "q4"))[0]
    m = Measurement(
        t, quantities(mechanism, ("q3", "q4")), s, ("M_1",), np.zeros((2000, 1)),
        np.ones((2000, 1), dtype=bool),
    )  # fmt: skip
    p = prepare(m, mechanism, Preparation("interpolate"))
    inner = slice(6, -6)  # the spline is unsure of the ends
    assert p.y == pytest.approx(motion.y[inner], abs=1e-9)
    assert p.ydd == pytest.approx(motion.ydd[inner], abs=1e-4)
    assert any("projected from q3, q4" in note for note in p.notes)
    with pytest.raises(DataError, match="sigma is given for some measured quantities only"):
        prepare(replace(m, sigma=(1e-3, None)), mechanism)


def test_independent_coordinates_in_another_order_are_taken_as_they_are() -> None:
    motion = known("sla_suspension")
    mechanism = motion.model.mechanism
    order = [3, 1, 4, 0, 2]
    m = Measurement(
        T,
        tuple(mechanism.coordinates[i] for i in order),
        motion.y[:, order],
        (),
        np.zeros((len(T), 0)),
        np.zeros((len(T), 0), dtype=bool),
        yd=motion.yd[:, order],
        ydd=motion.ydd[:, order],
    )
    p = prepare(m, mechanism)
    assert np.array_equal(p.y, motion.y)
    assert np.array_equal(p.yd, motion.yd)
    assert np.array_equal(p.ydd, motion.ydd)
    assert p.notes == ("speeds and accelerations as given",)
