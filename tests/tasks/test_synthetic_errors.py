"""Errors of machines and sensors in synthetic measurements."""

from __future__ import annotations

from dataclasses import fields, replace
from importlib.resources import files

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import mechid
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.joint_friction import joint_sliding
from mechid.errors import DataError
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.altered import movable_joints
from mechid.modelfile.api import load, loads
from mechid.options import SynthesiseOptions
from mechid.options.error_kinds import ERROR_KINDS
from mechid.runs.truth import read_truth
from mechid.signals.errors import rms
from mechid.tables.motion import MotionTable
from mechid.tasks.linear import regression
from mechid.tasks.synthesise import save_measurement, synthesise
from mechid.tasks.synthetic_errors import LINE, RECORDER, SENSOR

FIVE = load("five_bar")
FORCES = [kind.name for kind in ERROR_KINDS if kind.of == "force" and not kind.machine]


def motion(n: int = 400, frequency: float = 1.0) -> MotionTable:
    t = np.linspace(0, 2, n)
    w = 2 * np.pi * frequency * np.array([1.0, 1.5])
    y = 0.3 * np.sin(np.outer(t, w))
    return MotionTable(t, y, 0.3 * w * np.cos(np.outer(t, w)), -(w**2) * y)


MOVED = motion()
EXACT = inverse_dynamics(solve_motion(FIVE, MOVED.y, MOVED.yd, MOVED.ydd, time=MOVED.time)).tau


def test_every_kind_is_an_option_and_every_step_a_kind():
    options = {f.name for f in fields(SynthesiseOptions)}
    assert {kind.name for kind in ERROR_KINDS} <= options
    assert [*LINE, *SENSOR, *RECORDER] == FORCES  # in the order in which they act


@pytest.mark.parametrize("name", FORCES)
def test_each_kind_has_a_stream_of_its_own(name):
    """Another error changes neither the truth nor what other errors draw."""
    size = {"clipping": "70%", "lowpass": 20.0}.get(name, "5%")
    alone = synthesise(FIVE, MOVED, cad_error=0.2, seed=3, **{name: size})
    others = {other: "3%" for other in FORCES if other not in (name, "clipping", *LINE)}
    both = synthesise(FIVE, MOVED, cad_error=0.2, noise=0.01, seed=3, **others, **{name: size})
    np.testing.assert_array_equal(alone.phi, both.phi)
    if name == "crosstalk":  # of signals with other errors it has another size
        signs = [np.sign(list(x.errors[name].values())) for x in (alone, both)]
        np.testing.assert_array_equal(*signs)
    else:
        assert alone.errors[name] == both.errors[name]
    again = synthesise(FIVE, MOVED, cad_error=0.2, seed=3, **{name: size})
    np.testing.assert_array_equal(alone.tau, again.tau)
    assert np.any(alone.tau != alone.exact)


def test_late_forces_of_a_wheel_that_turns_far_between_samples():
    """What a sensor shows is the force at an earlier time, also where samples do not show it."""
    model = load("sla_suspension")
    names, home = [c.name for c in model.coordinates], kinematic_model(model).home_y

    def at(t):
        """Return wheels that turn by 3 rad from sample to sample while the suspension moves."""
        w = np.array([150.0 if "spin" in name else 4.0 for name in names])
        turn = np.array(["spin" in name for name in names])
        phase = np.outer(t, w)
        y = home + np.where(turn, phase, 0.02 * np.sin(phase))
        yd = np.where(turn, w, 0.02 * w * np.cos(phase))
        return MotionTable(t, y, yd, np.where(turn, 0.0, -0.02 * w**2 * np.sin(phase)))

    time = np.arange(60) / 50.0
    made = synthesise(model, at(time), delay=0.004, cad_error="20%")  # wheels are unbalanced
    exact = synthesise(model, at(time - 0.004), truth=made.truth).exact
    np.testing.assert_allclose(
        made.tau[3:-3], exact[3:-3], atol=1e-4 * np.abs(exact).max(), rtol=1e-3
    )
    # The samples alone do not tell: forces change by more than a tenth from spline to truth.
    assert (
        np.max(np.abs(CubicSpline(time, made.exact)(time - 0.004) - exact)[3:-3] / rms(exact)) > 0.1
    )


def test_sizes_in_percent_and_in_units():
    made = synthesise(FIVE, MOVED, offset=["5%", "M2=0.3"])
    np.testing.assert_allclose(made.tau - EXACT, [made.errors["offset"][m] for m in ("M1", "M2")]
                               + 0 * EXACT, atol=1e-9)  # fmt: skip
    assert abs(made.errors["offset"]["M1"]) == pytest.approx(0.05 * rms(EXACT)[0])
    assert abs(made.errors["offset"]["M2"]) == pytest.approx(0.3)
    made = synthesise(FIVE, MOVED, delay="100%")  # of the sampling interval
    np.testing.assert_allclose(made.tau[1:], EXACT[:-1], atol=1e-9)
    made = synthesise(FIVE, MOVED, clipping={"M1": "50%"})
    assert np.abs(made.tau[:, 0]).max() == pytest.approx(np.abs(EXACT[:, 0]).max() / 2)
    np.testing.assert_array_equal(made.tau[:, 1], made.exact[:, 1])
    assert synthesise(FIVE, MOVED, gain=0.1).errors == synthesise(FIVE, MOVED, gain="10%").errors


def test_quantised_positions():
    made = synthesise(FIVE, MOVED, position_quantisation=[1e-3, "q2=1%"])
    assert made.measurement.yd is None
    step = made.errors["position_quantisation"]
    assert step == pytest.approx({"q1": 1e-3, "q2": 0.01 * MOVED.y[:, 1].std()})
    steps = made.y / list(step.values())
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)
    np.testing.assert_array_equal(made.tau, made.exact)


def test_units():
    made = synthesise(FIVE, MOVED, units=["q1=deg", "M2=N mm"])
    np.testing.assert_allclose(made.y[:, 0], np.degrees(MOVED.y[:, 0]))
    np.testing.assert_allclose(made.ydd[:, 0], np.degrees(MOVED.ydd[:, 0]))
    np.testing.assert_array_equal(made.y[:, 1], MOVED.y[:, 1])
    np.testing.assert_allclose(made.tau, made.exact * [1, 1000])


def test_elasticity():
    made = synthesise(FIVE, MOVED, elasticity=["1%", "q2=1e-3"])
    assert made.measurement.yd is None
    compliance = made.errors["elasticity"]
    np.testing.assert_allclose(made.y - MOVED.y, EXACT * list(compliance.values()), atol=1e-12)
    # Root mean square of the deflection: 1 % of the motion, 1e-3 rad.
    np.testing.assert_allclose(rms(made.y - MOVED.y), [0.01 * MOVED.y[:, 0].std(), 1e-3])


def test_elasticity_at_one_frequency_is_a_larger_inertia():
    """τ = I θ̈ and θ + c τ at the motor, smaller than θ by 0.1 %: I/(1 - 0.001), nothing left."""
    wheel = replace(load("pendulum"), gravity=(0.0, 0.0, 0.0))
    t, w = np.arange(2000) / 200, 2 * np.pi
    y, yd, ydd = (x[:, None] for x in (np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)))
    log = synthesise(wheel, MotionTable(t, y, yd, ydd), elasticity="0.1%")
    problem = regression(wheel, log)
    A, b, _ = problem.stacked()
    assert problem.parameters == ("Iyy_1",)
    x, *_ = np.linalg.lstsq(A, b, rcond=None)
    truth = 0.019 + 1.2 * (0.5**2 + 0.012**2)
    assert x[0] == pytest.approx(truth / (1 - 0.001), rel=1e-7)
    assert rms(A @ x - b) < 1e-7 * rms(b)


def wave(time, frequency: float = 1.0) -> MotionTable:
    w = 2 * np.pi * frequency * np.array([1.0, 1.5])
    y = 0.3 * np.sin(np.outer(time, w))
    return MotionTable(time, y, 0.3 * w * np.cos(np.outer(time, w)), -(w**2) * y)


def forces(table: MotionTable):
    return inverse_dynamics(solve_motion(FIVE, table.y, table.yd, table.ydd, time=table.time)).tau


@pytest.mark.parametrize("late", [0.0, 0.003])
def test_jitter_is_positions_and_forces_of_other_instants(late):
    made = synthesise(FIVE, MOVED, jitter=1e-3, delay=late, seed=2)
    assert made.measurement.yd is None
    assert made.errors["jitter"] == {"log": 1e-3}
    shift = np.arcsin(made.y[:, 0] / 0.3) - np.arcsin(MOVED.y[:, 0] / 0.3)
    inner = np.abs(MOVED.y[:, 0]) < 0.2  # where the angle tells the time
    found = (shift * np.sign(np.cos(2 * np.pi * MOVED.time)))[inner] / (2 * np.pi)
    assert np.std(found) == pytest.approx(1e-3, rel=0.15)
    time = MOVED.time[inner] + found
    inside = (time > 0.01) & (time < 1.99)
    np.testing.assert_allclose(made.y[inner], wave(time).y, atol=1e-7)
    scale = np.abs(EXACT).max()
    # What arrives is the force of that instant, less what the sensor is late.
    exact = np.stack([CubicSpline(MOVED.time, x)(time - late) for x in EXACT.T], axis=1)
    np.testing.assert_allclose(made.tau[inner][inside], exact[inside], atol=1e-4 * scale)
    np.testing.assert_array_equal(made.exact, EXACT)
    in_percent = synthesise(FIVE, MOVED, jitter="20%")
    assert in_percent.errors["jitter"]["log"] == pytest.approx(0.2 * (MOVED.time[1]))


def test_a_low_pass_acts_after_the_delay():
    """Of slow forces it is another delay, √2/ω, but for terms of third order."""
    slow = wave(np.linspace(0, 4, 400), 0.25)
    exact = forces(slow)
    made = synthesise(FIVE, slow, lowpass=[20.0, "M2=50%"], delay=0.01)
    assert made.errors["lowpass"] == {"M1": 20.0, "M2": pytest.approx(0.5 * 399 / 4)}
    cutoff = np.array(list(made.errors["lowpass"].values()))
    late = 0.01 + np.sqrt(2) / (2 * np.pi * cutoff)
    later = np.stack([CubicSpline(slow.time, x)(slow.time - t)
                      for x, t in zip(exact.T, late, strict=True)], axis=1)  # fmt: skip
    size = np.abs(exact).max()
    np.testing.assert_allclose(made.tau[50:], later[50:], atol=1e-3 * size)
    assert np.max(np.abs(made.tau - exact)[50:]) > 0.01 * size
    np.testing.assert_allclose(made.tau[0], exact[0], atol=1e-9)
    np.testing.assert_array_equal(made.exact, exact)


def test_crosstalk_in_percent():
    made = synthesise(FIVE, MOVED, crosstalk=["3%", "M2=0.2"])
    error = made.tau - EXACT
    np.testing.assert_allclose(rms(error), [0.03 * rms(EXACT)[0], 0.2])
    np.testing.assert_allclose(error[:, 0] / EXACT[:, 1], made.errors["crosstalk"]["M1"][1])
    np.testing.assert_allclose(error[:, 1] / EXACT[:, 0], made.errors["crosstalk"]["M2"][0])
    with pytest.raises(DataError, match="pendulum: crosstalk needs two forces or more"):
        synthesise("pendulum", MotionTable(*(np.zeros((4, 1)),) * 4), crosstalk="3%")


def test_eccentricity():
    made = synthesise(FIVE, MOVED, eccentricity=[1e-3, "q2=1%"], seed=1)
    assert made.measurement.yd is None
    size = made.errors["eccentricity"]
    assert size == pytest.approx({"q1": 1e-3, "q2": 0.01 * MOVED.y[:, 1].std()})
    for q, y, e in zip(MOVED.y.T, made.y.T, size.values(), strict=True):
        parts = np.linalg.lstsq(np.stack([np.sin(q), np.cos(q)], axis=1), y - q)[0]
        assert np.linalg.norm(parts) == pytest.approx(e)
    np.testing.assert_array_equal(made.tau, EXACT)
    # Of a model with both, what slides is left alone, and refused by name.
    suspension = load("sla_suspension")
    slides = [c.unit == "m" for c in suspension.coordinates]
    home = kinematic_model(suspension).home_y
    t = np.linspace(0, 1, 20)
    table = MotionTable(t, home + 0 * t[:, None], *(np.zeros((2, 20, len(slides)))))
    error = np.ptp(synthesise(suspension, table, eccentricity=1e-3).y - table.y, axis=0)
    assert not error[slides].any()
    assert 0 < slides.count(True) < len(slides)
    name = suspension.coordinates[slides.index(True)].name
    with pytest.raises(DataError, match=f"{name} slides: only angles have eccentricity"):
        synthesise(suspension, table, eccentricity={name: 1e-3})
    with pytest.raises(DataError, match=r"slides: only angles .*leave eccentricity out"):
        synthesise("stewart_platform", MOVED, eccentricity=1e-3)


def test_backlash():
    """The motor is on the side from which it pushes, half of the play away."""
    made = synthesise(FIVE, MOVED, backlash=["1%", "q2=1e-3"])
    assert made.measurement.yd is None
    play = made.errors["backlash"]
    assert play == pytest.approx({"q1": 0.01 * MOVED.y[:, 0].std(), "q2": 1e-3})
    np.testing.assert_allclose(
        made.y - MOVED.y, np.sign(EXACT) * np.array(list(play.values())) / 2, atol=1e-12
    )
    # Springs behind the play, and the same machine once more.
    both = synthesise(FIVE, MOVED, backlash=1e-3, elasticity=1e-3)
    compliance = np.array(list(both.errors["elasticity"].values()))
    np.testing.assert_allclose(
        both.y - MOVED.y, compliance * EXACT + np.sign(EXACT) * 5e-4, atol=1e-12
    )
    again = synthesise(FIVE, MOVED, truth=both.truth)
    assert again.measurement.yd is None
    np.testing.assert_allclose(again.y, both.y, atol=1e-15)


# ------------------------------------------------------------------------------- hardpoints


def test_hardpoints_are_those_of_a_model_with_other_points():
    made = synthesise(FIVE, MOVED, hardpoints={"C": 0.002, "A2": 0.001}, seed=5)
    shift = {name: np.array(v) for name, v in made.errors["hardpoints"].items()}
    assert {name: np.linalg.norm(v) for name, v in shift.items()} == pytest.approx(
        {"C": 0.002, "A2": 0.001}
    )
    text = files("mechid.modelfile").joinpath("zoo/five_bar.yaml").read_text(encoding="utf-8")
    for name in shift:
        place = (np.array(_world(FIVE, name)) + shift[name]).tolist()
        assert text.count(f"at: {name}, axis: y") == (2 if name == "C" else 1)
        text = text.replace(f"at: {name}, axis: y", f"at: {place}, axis: y")
    other = loads(text)
    solved = solve_motion(other, MOVED.y, MOVED.yd, MOVED.ydd, time=MOVED.time)
    np.testing.assert_allclose(made.tau, inverse_dynamics(solved).tau, rtol=1e-9, atol=1e-10)
    assert np.abs(made.tau - EXACT).max() > 1e-3


def _world(mechanism, joint):
    frame_a = mechanism.joint(joint).frame_a
    body = mechanism.body(mechanism.joint(joint).body_a).frame
    return np.array(body.origin) + np.array(body.rotation) @ np.array(frame_a.origin)


def test_hardpoints_of_a_suspension():
    """All of them off: loops close, and forces change in the first order of the distance."""
    suspension = load("sla_suspension")
    assert set(movable_joints(suspension)) < {j.name for j in suspension.joints}
    home = solve_motion(suspension, np.zeros((0, 5))).model.home_y
    t = np.linspace(0, 1, 20)
    y = home + 0.01 * np.sin(2 * np.pi * t)[:, None]
    moved = MotionTable(t, y, 0 * y, 1 + 0 * y)
    exact, little, more = (
        synthesise(suspension, moved, hardpoints=size).exact for size in (0.0, 1e-4, 2e-4)
    )
    change = np.abs(little - exact).max(axis=0)
    assert change.max() > 0
    np.testing.assert_allclose(more - exact, 2 * (little - exact), atol=0.02 * change.max())


def test_joints_that_lose_their_mobility_get_a_clear_error():
    t = np.linspace(0, 1, 20)
    bricard = load("bricard")
    home = solve_motion(bricard, np.zeros((0, 1))).model.home_y
    y = home + 0.3 * np.sin(2 * np.pi * t)[:, None]
    with pytest.raises(DataError, match=r"with moved joints does not .*give smaller hardpoints"):
        synthesise(bricard, MotionTable(t, y, 0 * y, 0 * y), hardpoints=0.02)


# ------------------------------------------------------------------------------- friction


@pytest.mark.parametrize("name", ["five_bar@isostatic", "sla_suspension", "screw_press"])
def test_friction_is_the_gradient_of_the_dissipated_power(name):
    """Σ ∂|speed|/∂ẏ by differences of solved motions: universal and spherical joints, too."""
    mechanism = load(name)
    rng = np.random.default_rng(1)
    n_i = len(mechanism.coordinates)
    home = solve_motion(mechanism, np.zeros((0, n_i))).model.home_y
    y = home + 1e-3 * rng.standard_normal((3, n_i))
    yd = rng.standard_normal((3, n_i))

    def speeds(rates):
        solved = solve_motion(mechanism, y, rates, ordered=False)
        return {s.joint: s.speeds for s in joint_sliding(solved)}

    found = joint_sliding(solve_motion(mechanism, y, yd, ordered=False))
    for j in range(n_i):
        h = 1e-6 * np.eye(n_i)[j]
        above, below = speeds(yd + h), speeds(yd - h)
        for sliding in found:
            wanted = (above[sliding.joint] - below[sliding.joint]) / 2e-6
            np.testing.assert_allclose(sliding.partials[..., j], wanted, rtol=1e-5, atol=1e-7)


def test_friction_of_a_joint_with_a_ball():
    """Its speed is the absolute value of the relative angular velocity of its bodies."""
    mechanism = load("five_bar@isostatic")
    solved = solve_motion(mechanism, MOVED.y, MOVED.yd, MOVED.ydd, time=MOVED.time)
    omega = dict(zip([b.name for b in mechanism.bodies],
                     solved.bodies().omega.transpose(1, 0, 2), strict=True))  # fmt: skip
    found = {s.joint: s for s in joint_sliding(solved)}
    wanted = np.linalg.norm(omega["coupler_2"] - omega["coupler_1"], axis=1)
    np.testing.assert_allclose(found["C"].speeds[:, 0], wanted, atol=1e-12)
    assert found["B2"].speeds.shape[1] == 2


def test_coulomb_viscous_and_stribeck_friction_of_driven_joints():
    still = dict.fromkeys(("B1", "B2", "C"), 0.0)
    made = synthesise(FIVE, MOVED, friction={"A1": 0.4, "A2": 0.1, **still})
    np.testing.assert_allclose(made.exact - EXACT, np.sign(MOVED.yd) * [0.4, 0.1], atol=1e-9)
    made = synthesise(FIVE, MOVED, viscous_friction={"A1": 0.4})
    speed = rms(MOVED.yd)
    wanted = 0.4 / speed[0] * MOVED.yd * [1, 0]
    np.testing.assert_allclose(made.exact - EXACT, wanted, atol=1e-9)
    assert made.errors["viscous_friction"]["A1"] == pytest.approx(0.4 / speed[0])
    made = synthesise(FIVE, MOVED, stribeck={"A1": 0.4}, stribeck_speed="20%")
    wanted = 0.4 * np.sign(MOVED.yd) * np.exp(-((MOVED.yd / (0.2 * speed[0])) ** 2)) * [1, 0]
    np.testing.assert_allclose(made.exact - EXACT, wanted, atol=1e-9)


def test_friction_in_percent_is_that_of_the_force_it_acts_on_most():
    made = synthesise(FIVE, MOVED, friction="5%")
    solved = solve_motion(FIVE, MOVED.y, MOVED.yd, MOVED.ydd, time=MOVED.time)
    total = np.zeros_like(EXACT)
    for sliding in joint_sliding(solved):
        part = made.errors["friction"][sliding.joint] * sliding.forces(np.ones_like(sliding.speeds))
        assert np.max(rms(part) / rms(EXACT)) == pytest.approx(0.05)
        total += part
    np.testing.assert_allclose(made.exact - EXACT, total, atol=1e-9)
    # Power of friction: coefficient times the speed of each joint.
    power = sum(
        c * np.abs(joint_motion(solved, joint).speeds).sum(axis=1)
        for joint, c in made.errors["friction"].items()
    )
    np.testing.assert_allclose(np.sum((made.exact - EXACT) * MOVED.yd, axis=1), power, atol=1e-9)


def test_friction_that_fades():
    """By a share from start to end; its mean is that of other motions."""
    made = synthesise(FIVE, MOVED, friction="5%", viscous_friction="3%", friction_fade="40%")
    full = synthesise(FIVE, MOVED, friction="5%", viscous_friction="3%")
    assert made.errors == full.errors
    falls = np.linspace(1.25, 0.75, len(MOVED.time))[:, None]  # 0.75 = (1 - 0.4) 1.25, mean 1
    np.testing.assert_allclose(made.exact - EXACT, falls * (full.exact - EXACT), atol=1e-9)
    again = synthesise(FIVE, MOVED, truth=made.truth)
    np.testing.assert_allclose(again.exact, full.exact, atol=1e-12)
    fading = synthesise(FIVE, MOVED, truth=made.truth, friction_fade=0.4)
    np.testing.assert_allclose(fading.exact, made.exact, atol=1e-12)
    # Forces that come late are those of the friction of that time.
    late = synthesise(FIVE, MOVED, viscous_friction="3%", friction_fade="40%", delay="100%")
    np.testing.assert_allclose(late.tau[1:], late.exact[:-1], atol=1e-9)


def test_hysteresis_dissipates_and_is_bounded():
    made = synthesise(FIVE, MOVED, hysteresis="10%")
    force = made.exact - EXACT
    assert np.all(np.abs(force).max(axis=0) <= 0.1 * rms(EXACT) + 1e-9)
    assert np.all(np.sum(force * MOVED.yd, axis=0) > 0)


def test_friction_of_drives_by_load():
    """More while a drive feeds power in, less while it takes power up."""
    made = synthesise(FIVE, MOVED, load_friction=["10%", "M2=0.3"])
    assert made.errors["load_friction"] == {"M1": 0.1, "M2": 0.3}
    power = np.sign(EXACT * MOVED.yd)
    np.testing.assert_allclose(made.exact, EXACT * (1 + np.array([0.1, 0.3]) * power), atol=1e-9)


# ------------------------------------------------------------------------------- the truth


def test_another_motion_of_the_same_machine(tmp_path):
    """Geometry, friction, hysteresis and springs are those of the truth; sensors are others."""
    words = {"hardpoints": 0.001, "friction": "5%", "viscous_friction": "3%", "stribeck": "5%",
             "hysteresis": "4%", "load_friction": "3%", "elasticity": "0.1%",
             "backlash": "0.1%"}  # fmt: skip
    made = synthesise(FIVE, MOVED, cad_error=0.1, offset="5%", seed=4, **words)
    *_, path = save_measurement(made, tmp_path / "log.csv")
    truth = read_truth(path)
    assert truth.errors == made.errors
    same = synthesise(FIVE, MOVED, truth=truth)
    np.testing.assert_allclose(same.exact, made.exact, rtol=1e-12)
    np.testing.assert_array_equal(same.tau, same.exact)
    assert same.measurement.yd is None
    np.testing.assert_allclose(same.y, made.y, rtol=1e-12)
    other = synthesise(FIVE, motion(frequency=0.5), truth=path)
    assert other.errors == {name: made.errors[name] for name in other.errors}
    assert set(made.errors) - set(other.errors) == {"offset"}
    with pytest.raises(DataError, match="friction is given, and the truth has its own"):
        synthesise(FIVE, MOVED, truth=truth, friction="5%")


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ({"offset": -1}, "offset must be ≥ 0, got -1"),
        ({"offset": {"F": 1}}, "there is no force F; choose one of: M1, M2"),
        ({"gain": 1.5}, "gain must be between 0 and 1, got 1.5"),
        ({"outliers": "120%"}, "outliers must be between 0 and 1, got 1.2"),
        ({"hardpoints": 2.0}, "hardpoints must be between 0 and 1, got 2"),
        ({"hardpoints": {"X": 0.001}}, "there is no joint X for hardpoints; choose one of"),
        ({"friction": {"q1": 1}}, "there is no joint q1 for friction; choose one of: A1, A2"),
        ({"elasticity": {"M1": 1}}, "there is no coordinate M1; choose one of: q1, q2"),
        ({"hum_frequency": 0}, "hum_frequency must be > 0, got 0"),
        ({"jitter": 0.1}, r"jitter must be less than the sampling interval, 0.005\d* s, got 0.1 s"),
        ({"jitter": {"M1": 1e-4}}, "jitter is the same for all channels, got one of M1; give one"),
        ({"lowpass": -1}, "lowpass must be ≥ 0, got -1"),
        ({"lowpass": {"q1": 10}}, "there is no force q1; choose one of: M1, M2"),
        ({"crosstalk": {"q1": 1}}, "there is no force q1; choose one of: M1, M2"),
        ({"eccentricity": {"M1": 1}}, "there is no coordinate M1; choose one of: q1, q2"),
        ({"eccentricity": -1}, "eccentricity must be ≥ 0, got -1"),
        ({"backlash": {"M1": 1}}, "there is no coordinate M1; choose one of: q1, q2"),
        ({"backlash": -1}, "backlash must be ≥ 0, got -1"),
        ({"friction": 1, "friction_fade": "120%"}, "friction_fade must be between 0 and 1"),
        ({"friction_fade": 0.3}, "there is no friction that could fade; give friction, viscous_fr"),
        ({"stribeck_speed": -1}, "stribeck_speed must be > 0, got -1"),
        ({"units": {"q1": "mm"}}, "q1 is not measured in mm; give a unit of the same quantity"),
        ({"units": ["q9=deg"]}, "there is no channel q9; choose one of: q1, q2, M1, M2"),
        ({"units": "q1=furlong"}, 'unknown unit "furlong"'),
        ({"units": "deg"}, "expected NAME=VALUE"),
        ({"delay": "late"}, 'delay: "late" is not a number'),
        ({"delay": 3.0}, "delay must be less than the duration, 2 s, got 3 s"),
    ],
)  # fmt: skip
def test_wrong_errors(errors, words):
    with pytest.raises(DataError, match=words):
        synthesise(FIVE, MOVED, **errors)


def test_more_of_the_friction_that_a_model_has_is_in_the_true_parameters():
    """Forces of these parameters are those of the machine, on this motion and on others."""
    arm = load("puma560")
    motion, other = (mechid.excite(arm, random=2, starts=0, seed=seed) for seed in (0, 1))
    plain = synthesise(arm, motion, cad_error="20%")
    words = {"friction": "2%", "viscous_friction": {"q2": 3.0}}
    made = synthesise(arm, motion, cad_error="20%", **words)
    more = dict(zip((c.name for c in made.columns), made.phi - plain.phi, strict=True))
    speed = np.sqrt(np.mean(made.yd[:, 1] ** 2))
    assert more["viscous_friction_2"] == pytest.approx(3.0 / speed)
    coulomb = [more[f"coulomb_friction_{k}"] for k in range(1, 7)]
    np.testing.assert_allclose(coulomb, 0.02 * np.sqrt(np.mean(plain.exact**2, axis=0)), rtol=1e-9)
    assert sum(1 for x in more.values() if x) == 7
    assert made.errors["friction"] == made.errors["viscous_friction"] == {}
    for log in (made, synthesise(arm, other, truth=made.truth)):
        forces = inverse_dynamics(solve_motion(arm, log.y, log.yd, log.ydd), made.phi).tau
        np.testing.assert_allclose(log.exact, forces, atol=1e-9 * np.abs(forces).max())


def test_friction_of_a_joint_at_rest_is_no_parameter():
    """It adds no force, as many columns of zeros do; in another motion it will."""
    arm = load("puma560")
    t = np.linspace(0, 1, 40)
    y, w = np.zeros((40, 6)), 2 * np.pi
    y[:, 0] = np.sin(w * t)
    yd, ydd = w * np.cos(w * t)[:, None] * np.eye(6)[0], -(w**2) * y
    made = synthesise(arm, MotionTable(t, y, yd, ydd), friction={"q6": 0.5, "q1": 2.0})
    more = made.phi - synthesise(arm, MotionTable(t, y, yd, ydd)).phi
    assert {c.name: x for c, x in zip(made.columns, more, strict=True) if x} == pytest.approx(
        {"coulomb_friction_1": 2.0}
    )
    assert made.errors["friction"]["q6"] == 0.5


def test_friction_that_a_model_lacks_stays_an_error_of_the_machine():
    made = synthesise(FIVE, MOVED, friction="5%")
    assert made.phi.tolist() == synthesise(FIVE, MOVED).phi.tolist()
    assert sorted(made.errors["friction"]) == ["A1", "A2", "B1", "B2", "C"]
