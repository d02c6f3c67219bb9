"""Measurements with known truth: errors have the law and the size that was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import cad_parameters
from mechid.errors import DataError
from mechid.kinematics.motion import solve_motion
from mechid.modelfile.api import load
from mechid.options import Level, NoiseLevels, SynthesiseOptions, changed
from mechid.options.synthesise import NOISE_KINDS
from mechid.signals.errors import coloured
from mechid.spatial.inertia import pseudo_inertia
from mechid.tables.motion import MotionTable
from mechid.tasks.synthesise import synthesise

N = 4000
FIVE = load("five_bar")


def motion(n: int = N) -> MotionTable:
    t = np.linspace(0, 4, n)
    w = 2 * np.pi * np.array([1.0, 1.5])
    y = 0.3 * np.sin(np.outer(t, w))
    return MotionTable(t, y, 0.3 * w * np.cos(np.outer(t, w)), -(w**2) * y)


MOVED = motion()
EXACT = inverse_dynamics(solve_motion(FIVE, MOVED.y, MOVED.yd, MOVED.ydd, time=MOVED.time)).tau


def errors_of(kind: str, noise: object, **words: object) -> np.ndarray:
    made = synthesise(FIVE, MOVED, noise=noise, noise_kind=kind, **words)
    # To rounding: where long motions are cut into parts depends on the number of threads.
    np.testing.assert_allclose(made.exact, EXACT, rtol=1e-10, atol=1e-12)
    return made.tau - made.exact


def test_without_errors_it_is_inverse_dynamics():
    made = synthesise(FIVE, MOVED)
    np.testing.assert_allclose(made.tau, EXACT, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(made.y, MOVED.y)
    np.testing.assert_array_equal(made.phi, cad_parameters(dynamic_model(FIVE)))
    assert list(made.table()) == ["time", "q1", "q1.d", "q1.dd", "q2", "q2.d", "q2.dd", "M1", "M2"]
    alone = synthesise(FIVE, MOVED, positions_only=True)
    assert list(alone.table()) == ["time", "q1", "q2", "M1", "M2"]
    assert alone.measurement.yd is None


def test_white_noise():
    e = errors_of("white", 0.05)
    rms = np.sqrt(np.mean(EXACT**2, axis=0))
    # Standard error of a deviation from N samples: 1/√(2N) = 1.1 %.
    np.testing.assert_allclose(e.std(axis=0), 0.05 * rms, rtol=0.05)
    assert np.abs(np.mean(e[1:] * e[:-1], axis=0) / e.var(axis=0)).max() < 0.06
    assert abs(np.corrcoef(e.T)[0, 1]) < 0.06


def test_proportional_noise():
    e = errors_of("proportional", 0.05)
    np.testing.assert_allclose((e / EXACT).std(axis=0), 0.05, rtol=0.05)


@pytest.mark.parametrize("correlation", [0.9, 0.0, -0.5])
def test_coloured_noise(correlation):
    e = errors_of("coloured", 0.05, correlation=correlation)
    rms = np.sqrt(np.mean(EXACT**2, axis=0))
    # AR(1): N (1 - a²)/(1 + a²) samples count.
    np.testing.assert_allclose(e.std(axis=0), 0.05 * rms, rtol=0.12)
    for lag in (1, 2):
        found = np.mean(e[lag:] * e[:-lag], axis=0) / e.var(axis=0)
        np.testing.assert_allclose(found, correlation**lag, atol=0.06)


def test_coloured_noise_is_stationary_from_the_start():
    deviates = np.random.default_rng(0).standard_normal((40, 20000))
    found = coloured(deviates, 0.9)
    np.testing.assert_allclose(found.std(axis=1), 1.0, rtol=0.03)


def test_time_constant():
    dt = MOVED.time[1]
    e = errors_of("coloured", 0.1, time_constant=10 * dt)
    f = errors_of("coloured", 0.1, correlation=float(np.exp(-0.1)))
    np.testing.assert_allclose(e, f, rtol=1e-9)


@pytest.mark.slow
def test_gain_errors_are_constant_factors():
    factors = []
    for seed in range(300):
        made = synthesise(FIVE, motion(20), noise=0.05, noise_kind="gain", seed=seed)
        ratio = made.tau / made.exact - 1
        np.testing.assert_allclose(ratio, ratio[:1] + 0 * ratio, rtol=1e-9)
        factors.append(ratio[0])
    np.testing.assert_allclose(np.std(factors), 0.05, rtol=0.1)
    assert abs(np.mean(factors)) < 0.008


def test_single_forces():
    e = errors_of("white", {"M2": 0.7})
    assert not e[:, 0].any()
    np.testing.assert_allclose(e[:, 1].std(), 0.7, rtol=0.05)
    e = errors_of("gain", {"M1": "10%"})
    assert e[:, 0].any()
    assert not e[:, 1].any()


def test_position_noise():
    made = synthesise(FIVE, MOVED, position_noise=[1e-3, "q2=1%"])
    e = made.y - MOVED.y
    wanted = [1e-3, 0.01 * MOVED.y[:, 1].std()]
    np.testing.assert_allclose(e.std(axis=0), wanted, rtol=0.05)
    np.testing.assert_allclose(made.tau, EXACT, rtol=1e-10, atol=1e-12)


def test_truth_is_possible_and_about_cad():
    cad = cad_parameters(dynamic_model(FIVE))
    drawn = np.array([synthesise(FIVE, motion(3), cad_error=0.2, seed=s).phi for s in range(40)])
    for phi in drawn.reshape(-1, 10):
        assert np.linalg.eigvalsh(pseudo_inertia(phi))[0] > 0
    masses = drawn[:, ::10] / cad[::10]
    np.testing.assert_allclose(np.log(masses).std(), 0.2, rtol=0.25)


def test_truth_of_another_model():
    suspension, other = load("sla_suspension"), load("sla_suspension@measured")
    t = np.linspace(0, 1, 12)
    home = solve_motion(suspension, np.zeros((0, 5))).model.home_y
    moved = MotionTable(t, home + 0 * t[:, None], np.zeros((12, 5)), np.ones((12, 5)))
    made = synthesise(suspension, moved, truth=other)
    np.testing.assert_array_equal(made.phi, cad_parameters(dynamic_model(other)))
    assert np.abs(made.phi - cad_parameters(dynamic_model(suspension))).max() > 1e-3
    with pytest.raises(DataError, match="other coordinates"):
        synthesise(suspension, moved, truth=FIVE)
    with pytest.raises(DataError, match="other parameters"):
        synthesise(suspension, moved, truth=load("sla_suspension@struts"))
    with pytest.raises(DataError, match="not both"):
        synthesise(suspension, moved, cad_error=0.1, truth=other)


@pytest.mark.parametrize("kind", NOISE_KINDS)
def test_one_seed_one_result(kind):
    errors = changed(
        SynthesiseOptions(noise_kind=kind, cad_error=0.2), {"noise": 0.05, "position_noise": "1%"}
    )
    first, again = (synthesise(FIVE, motion(30), errors, seed=7) for _ in range(2))
    np.testing.assert_array_equal(first.tau, again.tau)
    np.testing.assert_array_equal(first.y, again.y)
    np.testing.assert_array_equal(first.phi, again.phi)
    other = synthesise(FIVE, motion(30), errors, seed=8)
    assert np.all(other.tau != first.tau)
    # Another noise does not mean another truth.
    np.testing.assert_array_equal(first.phi, synthesise(FIVE, MOVED, cad_error=0.2, seed=7).phi)


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ({"noise_kind": "pink"}, "noise_kind must be one of: white, .*, got 'pink'"),
        ({"noise": -0.1}, "noise must be ≥ 0, got -0.1"),
        ({"noise": {"M1": np.nan}}, "noise must be ≥ 0, got nan"),
        ({"noise": {"F": 1}}, "there is no force F; choose one of: M1, M2"),
        ({"noise_kind": "gain", "noise": {"M1": 1}}, "in percent"),
        ({"position_noise": {"x": 1}}, "there is no coordinate x"),
        ({"position_noise": -1}, "position_noise must be ≥ 0, got -1"),
        ({"noise_kind": "coloured", "correlation": 1.0}, "correlation must be between -1 and 1"),
        ({"noise_kind": "coloured", "time_constant": 0.0}, "time_constant must be > 0, got 0 s"),
        ({"correlation": 0.5}, "choose the noise kind coloured"),
        ({"noise_kind": "coloured", "time_constant": 1.0, "correlation": 0.5}, "give one"),
        ({"cad_error": -0.1}, "cad_error must be ≥ 0, got -0.1"),
        ({"cad_error": 2}, "cad_error must be between 0 and 1, got 2"),
        ({"seed": -1}, "seed must be ≥ 0, got -1"),
        ({"nois": 1}, "there is no option nois; did you mean noise?"),
        ({"truth": 3}, "truth must be a Mechanism, a Truth, .*, got int"),
    ],
)
def test_wrong_errors(errors, words):
    with pytest.raises(DataError, match=words):
        synthesise(FIVE, motion(5), **errors)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (SynthesiseOptions(noise_kind="pink"), "noise_kind must be one of: white"),  # type: ignore[arg-type]
        (SynthesiseOptions(noise=NoiseLevels(Level(-0.1))), "noise must be ≥ 0, got -0.1"),
        (SynthesiseOptions(noise=NoiseLevels(channels={"M1": Level(np.nan)})), "noise of M1 must"),
        (SynthesiseOptions(cad_error=-0.1), "cad_error must be ≥ 0, got -0.1"),
        (SynthesiseOptions(seed=-1), "seed must be ≥ 0, got -1"),
    ],
)
def test_wrong_records(options, words):
    with pytest.raises(DataError, match=words):
        synthesise(FIVE, motion(5), options)
