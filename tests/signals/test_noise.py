"""Estimated noise against the noise that was added, and what it does to derivatives and forces."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics.inverse import inverse_dynamics
from mechid.kinematics.motion import solve_motion
from mechid.modelfile import load
from mechid.signals.noise import force_errors
from mechid.signals.prepare import prepare
from mechid.signals.record import Noise, Preparation
from mechid.signals.spectrum import choose_cutoff, motion_band, spectrum

from .signals import measured, motion, rms

FOUR_BAR = load("four_bar")
T = np.arange(10_000) / 1000.0


@pytest.mark.parametrize("method", ["low-pass", "fourier"])
@pytest.mark.parametrize("sigma", [1e-5, 1e-3])
def test_noise_levels_are_found(method: str, sigma: float) -> None:
    m = measured(FOUR_BAR, T, sigma=sigma, sigma_tau=2.0, seed=7)
    p = prepare(m, FOUR_BAR, Preparation(method, period=2.0))  # type: ignore[arg-type]
    assert p.noise is not None
    # 8000 differences between periods: 1 %. The spectrum: a median over some thousand bins.
    tolerance = 0.03 if method == "fourier" else 0.1
    assert p.noise.y[0] == pytest.approx(sigma, rel=tolerance)
    averaged = 5 if method == "fourier" else 1
    assert p.noise.tau[0] == pytest.approx(2.0 / np.sqrt(averaged), rel=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["low-pass", "fourier", "spline", "interpolate"])
def test_predicted_deviations_of_derivatives_are_those_seen(method: str) -> None:
    seen, said = [], []
    whole = method == "fourier"  # a series has few free numbers, and no ends
    for seed in range(40 if whole else 8):
        p = prepare(
            measured(FOUR_BAR, T, sigma=1e-3, seed=seed),
            FOUR_BAR,
            Preparation(method, cutoff=20.0, period=2.0),  # type: ignore[arg-type]
        )
        _, yd, ydd = motion(p.time)
        assert p.noise is not None
        middle = slice(None) if whole else slice(len(p.time) // 4, -len(p.time) // 4)
        seen.append([rms((p.yd[:, 0] - yd)[middle]) ** 2, rms((p.ydd[:, 0] - ydd)[middle]) ** 2])
        said.append([p.noise.yd[0] ** 2, p.noise.ydd[0] ** 2])
    ratio = np.sqrt(np.mean(seen, axis=0) / np.mean(said, axis=0))
    assert ratio == pytest.approx([1, 1], rel=0.1)


def test_a_stray_line_far_above_the_motion_does_not_count() -> None:
    y, _, _ = motion(T)
    rng = np.random.default_rng(3)
    quiet = y + 1e-3 * rng.standard_normal(len(T))
    hum = quiet + 3e-4 * np.sin(2 * np.pi * 310 * T)
    plain, lined = (choose_cutoff([spectrum(x)], 2) for x in (quiet, hum))
    assert plain is not None
    assert lined == pytest.approx(plain, rel=0.1)


def test_a_fast_part_that_matters_stays() -> None:
    y, _, _ = motion(T)
    fast = y + 0.01 * np.sin(2 * np.pi * 60 * T)  # ten times the noise, most of the acceleration
    fast += 1e-3 * np.random.default_rng(3).standard_normal(len(T))
    found = choose_cutoff([spectrum(fast)], 2)
    assert found is not None
    assert found * 1000 > 60


def test_band_of_the_motion() -> None:
    y, _, _ = motion(T)
    band = motion_band([spectrum(y + 1e-3 * np.random.default_rng(3).standard_normal(len(T)))])
    assert band is not None
    assert 3.5 < band * 1000 < 5.5  # 3.5 Hz, and the width of the window: 9 of 0.2 Hz


def test_warning_when_noise_is_a_large_part() -> None:
    quiet = prepare(measured(FOUR_BAR, T, sigma=1e-4), FOUR_BAR)
    assert quiet.warnings == ()
    m = measured(FOUR_BAR, T, sigma=1e-4)
    loud = prepare(m, FOUR_BAR, Preparation("low-pass", cutoff=100.0, decimation=1))
    assert any("of the acceleration of q1" in w for w in loud.warnings)
    filtered = prepare(m, FOUR_BAR, Preparation("low-pass", cutoff=100.0))
    assert filtered.decimation > 1
    assert filtered.warnings == ()


def test_attenuation_is_as_large_as_the_warning_says() -> None:
    m = measured(FOUR_BAR, T, sigma=3e-3, seed=5)
    p = prepare(m, FOUR_BAR, Preparation("low-pass", cutoff=30.0, decimation=1))
    assert p.noise is not None
    part = p.noise.ydd[0] / rms(p.ydd)  # of what was measured, noise included
    # The force is three times the acceleration: the slope that least squares find.
    slope = float(p.tau[:, 0] @ p.ydd[:, 0] / (p.ydd[:, 0] @ p.ydd[:, 0]))
    assert 0.1 < part**2 < 0.5
    assert slope / 3 == pytest.approx(1 - part**2, abs=0.03)


def test_force_errors_of_position_noise() -> None:
    p = prepare(measured(FOUR_BAR, T, sigma=1e-3), FOUR_BAR)
    assert p.noise is not None
    moved = solve_motion(FOUR_BAR, p.y, p.yd, p.ydd)
    found = force_errors(moved, p.noise)
    # With noise of the accelerations only, its part is the mass matrix times it.
    still = Noise(p.noise.y, 0 * p.noise.yd, p.noise.ydd, p.noise.tau)
    zero = np.zeros_like(p.y)
    one = inverse_dynamics(solve_motion(FOUR_BAR, p.y, zero, zero + 1)).tau
    mass = one - inverse_dynamics(solve_motion(FOUR_BAR, p.y, zero, zero)).tau
    of_acceleration = force_errors(moved, still)
    assert found is not None
    assert of_acceleration is not None
    assert of_acceleration[0] == pytest.approx(rms(mass) * p.noise.ydd[0], rel=0.05)
    assert found[0] >= of_acceleration[0]
    assert force_errors(moved, None) is None


@pytest.mark.parametrize("n", [100, 300, 5000])
def test_rounding_is_no_noise(n: int) -> None:
    t = np.arange(n) / 100.0
    for y in (np.sin(t), motion(t)[0], np.round(motion(t)[0], 15)):
        assert choose_cutoff([spectrum(y)], 2) is None
