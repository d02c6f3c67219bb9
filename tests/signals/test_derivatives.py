"""Speeds and accelerations of noisy positions, against signals in closed form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import make_smoothing_spline

from mechid.errors import DataError
from mechid.modelfile import load
from mechid.signals.lowpass import dropped, low_pass
from mechid.signals.prepare import prepare
from mechid.signals.record import Measurement, Preparation
from mechid.signals.spline import choose_penalty, smooth_spline

from .signals import measured, motion, rms

FOUR_BAR = load("four_bar")
T = np.arange(10_000) / 1000.0


def errors(method: str, sigma: float, seed: int = 0) -> tuple[float, float]:
    """Relative errors (rms) of speed and acceleration."""
    m = measured(FOUR_BAR, T, sigma=sigma, seed=seed)
    p = prepare(m, FOUR_BAR, Preparation(method, period=2.0))  # type: ignore[arg-type]
    _, yd, ydd = motion(p.time)
    return rms(p.yd[:, 0] - yd) / rms(yd), rms(p.ydd[:, 0] - ydd) / rms(ydd)


@pytest.mark.parametrize(
    ("method", "speed", "acceleration"),
    [("low-pass", 5e-4, 3e-3), ("fourier", 6e-5, 1e-4), ("spline", 4e-3, 0.08)],
)
def test_errors_at_a_noise_of_a_ten_thousandth(
    method: str, speed: float, acceleration: float
) -> None:
    found = errors(method, 1e-4)
    assert found[0] < speed
    assert found[1] < acceleration


def test_without_a_noise_floor_nothing_is_filtered() -> None:
    p = prepare(measured(FOUR_BAR, T), FOUR_BAR)
    assert p.method == "interpolate"
    assert any("no noise floor" in note for note in p.notes)
    assert p.decimation == 1
    assert errors("auto", 0.0)[1] < 1e-7


@pytest.mark.parametrize("per", [5, 8, 16])
@pytest.mark.parametrize("speeds", [False, True])
def test_ends_of_a_spline_are_dropped(per: int, speeds: bool) -> None:
    """The worst acceleration of a sine with few samples per period is not that at the ends."""
    w = 2 * np.pi / per
    m = measured(FOUR_BAR, np.arange(200.0))
    y, yd = (np.stack([f(w * m.time + 0.3)], axis=1) for f in (np.sin, np.cos))
    m = replace(m, y=y, yd=w * yd if speeds else None)
    p = prepare(m, FOUR_BAR, Preparation("interpolate"))
    e = np.abs(p.ydd[:, 0] + w**2 * np.sin(w * p.time + 0.3))
    assert e.max() < 2 * e[40:-40].max()
    assert len(p.time) > 180
    assert p.tau.shape == (len(p.time), 1)
    assert len(prepare(replace(m, **part(m, 40)), FOUR_BAR, Preparation("interpolate")).time) == 40


def part(m: Measurement, n: int) -> dict[str, Any]:
    """Return the first n samples."""
    names = ("time", "y", "yd", "tau", "valid")
    return {x: None if getattr(m, x) is None else getattr(m, x)[:n] for x in names}


def test_central_differences_are_of_fourth_order() -> None:
    worst = []
    for rate in (100.0, 200.0):
        t = np.arange(0.0, 10.0, 1 / rate)
        y, yd, ydd = low_pass(np.sin(6 * t)[:, None], rate, 0.35 * rate)
        inner = t[dropped(rate, 0.35 * rate) : len(t) - dropped(rate, 0.35 * rate)]
        half = slice(len(inner) // 4, -len(inner) // 4)
        worst.append(np.abs(ydd[half, 0] + 36 * np.sin(6 * inner[half])).max())
        assert yd[half, 0] == pytest.approx(6 * np.cos(6 * inner[half]), abs=1e-3)
        assert y.shape == yd.shape == ydd.shape == (len(inner), 1)
    assert worst[0] / worst[1] == pytest.approx(16, rel=0.1)


@pytest.mark.parametrize("frequency", [2.0, 5.0, 8.0])
def test_gain_of_the_zero_phase_filter(frequency: float) -> None:
    t = np.arange(0.0, 20.0, 0.001)
    y, _, _ = low_pass(np.sin(2 * np.pi * frequency * t)[:, None], 1000.0, 5.0)
    inner = t[dropped(1000.0, 5.0) : len(t) - dropped(1000.0, 5.0)]
    middle = slice(len(inner) // 4, -len(inner) // 4)
    expected = np.sin(2 * np.pi * frequency * inner) / (1 + (frequency / 5.0) ** 8)
    # The bilinear transform warps frequencies by (π f/fs)²/3.
    assert y[middle, 0] == pytest.approx(expected[middle], abs=5e-3)


def test_smoothing_spline_is_that_of_scipy() -> None:
    y = np.random.default_rng(4).standard_normal((300, 2)).cumsum(axis=0)
    f, fd, fdd = smooth_spline(y, 2.0, 37.0)
    x = np.arange(300.0)
    for j in range(2):
        spline = make_smoothing_spline(x, y[:, j], lam=37.0)
        assert f[:, j] == pytest.approx(spline(x), abs=1e-9)
        assert fd[:, j] == pytest.approx(2 * spline(x, nu=1), abs=1e-9)
        assert fdd[:, j] == pytest.approx(4 * spline(x, nu=2), abs=1e-9)


def test_cross_validation_agrees_with_scipy() -> None:
    # Few samples per period, so that the best penalty lies where SciPy looks for it.
    t = np.arange(400.0)
    y = np.sin(2 * np.pi * t / 40) + 0.1 * np.random.default_rng(5).standard_normal(400)
    ours = smooth_spline(y[:, None], 1.0, choose_penalty(y[:, None]))[0][:, 0]
    theirs = make_smoothing_spline(t, y)(t)
    truth = np.sin(2 * np.pi * t / 40)
    assert rms(ours - truth) == pytest.approx(rms(theirs - truth), rel=0.1)


def test_measured_speeds_need_one_differentiation_less() -> None:
    m = measured(FOUR_BAR, T, sigma=1e-3)
    _, yd, _ = motion(T)
    noisy = (yd + 1e-3 * np.random.default_rng(1).standard_normal(len(T)))[:, None]
    p = prepare(replace(m, yd=noisy), FOUR_BAR)
    _, _, ydd = motion(p.time)
    assert p.method == "low-pass"
    assert any(note.startswith("speeds low-pass filtered") for note in p.notes)
    assert rms(p.ydd[:, 0] - ydd) < 0.5 * errors("low-pass", 1e-3)[1] * rms(ydd)


def test_given_derivatives_are_used_as_they_are() -> None:
    y, yd, ydd = (x[:, None] for x in motion(T))
    p = prepare(replace(measured(FOUR_BAR, T), yd=yd, ydd=ydd), FOUR_BAR)
    assert p.method == "given"
    assert np.array_equal(p.y, y)
    assert np.array_equal(p.yd, yd)
    assert np.array_equal(p.ydd, ydd)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (Preparation("given"), "speeds and accelerations are not measured"),
        (Preparation("fourier"), "a Fourier series needs a period"),
        (Preparation("fourier", period=20.0), "the record of 10 s is shorter than the period"),
        (Preparation("fourier", period=0.005), "a period of 0.005 s has only 5 samples"),
        (Preparation("fourier", period=2.0, harmonics=1200), "do not determine 1200 harmonics"),
        (Preparation("low-pass", cutoff=600.0), "the cut-off must be between 0 and .* got 600"),
        (Preparation("low-pass", cutoff=0.2), "10000 samples are too few for a cut-off of 0.2 Hz"),
        (Preparation("low-pass", cutoff=5.0, decimation=6000), "are too few to decimate by 6000"),
    ],
)
def test_options_that_do_not_suit_the_data(options: Preparation, what: str) -> None:
    with pytest.raises(DataError, match=what):
        prepare(replace(measured(FOUR_BAR, T, sigma=1e-3), source="log.csv"), FOUR_BAR, options)


@pytest.mark.parametrize("n", [2, 3, 10, 17])
def test_a_few_samples(n: int) -> None:
    m = measured(FOUR_BAR, T[:n])
    assert prepare(m, FOUR_BAR).method == "interpolate"
    with pytest.raises(DataError, match=f"{n} samples are too few to smooth"):
        prepare(m, FOUR_BAR, Preparation("spline"))
    with pytest.raises(DataError, match="too few"):
        prepare(m, FOUR_BAR, Preparation("low-pass", cutoff=10.0))
