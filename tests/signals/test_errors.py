"""Errors of sensors against what they are by definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.signals.errors import (
    Sensing,
    clipping,
    crosstalk,
    delay,
    drift,
    eccentricity,
    gain,
    hum,
    hysteresis,
    jittered,
    lowpass,
    offset,
    outliers,
    quantisation,
    random_walk,
    rms,
    sampled,
)

TIME = np.arange(2000) / 400.0
X = np.stack([3 * np.sin(7 * TIME) + np.cos(3 * TIME), 5 * np.cos(4 * TIME + 1)], axis=1)
ALL = (
    delay, lowpass, crosstalk, gain, offset, drift, random_walk, hum, outliers, clipping,
    quantisation, eccentricity,
)  # fmt: skip


def sensing(seed: int = 0) -> Sensing:
    return Sensing(TIME, rms(X), np.random.default_rng(seed))


@pytest.mark.parametrize("error", ALL)
def test_no_size_no_error_and_channels_are_independent(error):
    unchanged, _ = error(X, np.zeros(2), sensing())
    np.testing.assert_array_equal(unchanged, X)
    both, drawn = error(X, np.array([0.2, 0.3]), sensing())
    one, only = error(X, np.array([0.0, 0.3]), sensing())
    assert np.abs(both[:, 0] - X[:, 0]).max() > 0
    np.testing.assert_array_equal(one[:, 0], X[:, 0])
    np.testing.assert_array_equal(one[:, 1], both[:, 1])
    np.testing.assert_array_equal(only[1], drawn[1])


def test_delay_is_the_signal_at_an_earlier_time():
    late, _ = delay(X, np.array([1 / 400, 0.0123]), sensing())
    np.testing.assert_allclose(late[1:, 0], X[:-1, 0], atol=1e-12)
    t = TIME[40:] - 0.0123
    np.testing.assert_allclose(late[40:, 1], 5 * np.cos(4 * t + 1), atol=1e-7)
    np.testing.assert_allclose(late[0], X[0])


def test_a_late_force_does_not_oscillate_where_it_jumps():
    def force(t):
        return np.stack([np.sign(np.sin(5 * t)), np.cos(60 * t)], axis=1)

    fine = np.arange(32 * len(TIME) - 31) / (32 * 400.0)
    by = replace(sensing(), time=fine, dense=True)
    late = delay(force(fine), np.full(2, 0.0011), by)[0][::32]
    t = TIME[1:] - 0.0011
    assert np.max(np.abs(late[:, 0])) <= 1.0
    clear = np.abs(np.sin(5 * t)) > 0.002  # farther than two points from a jump
    np.testing.assert_allclose(late[1:][clear, 0], force(t)[clear, 0], atol=1e-12)
    np.testing.assert_allclose(late[1:, 1], force(t)[:, 1], atol=1e-5)


def test_a_low_pass_has_the_response_of_its_transfer_function():
    """Amplitude and phase of a sine wave; a step as the closed form has it; no start-up."""
    t = np.arange(64000) / 6400.0
    by = replace(sensing(), time=t, dense=True)
    w, f = 2 * np.pi * 9.0, np.array([12.0, 25.0])
    s = 1j * w / (2 * np.pi * f)
    response = 1 / (s**2 + np.sqrt(2) * s + 1)
    found, drawn = lowpass(np.stack([np.cos(w * t)] * 2, axis=1), f, by)
    np.testing.assert_array_equal(drawn, f)
    wanted = np.real(response * np.exp(1j * w * t[:, None]))
    np.testing.assert_allclose(found[t > 1], wanted[t > 1], atol=2e-5)
    corner = lowpass(np.cos(2 * np.pi * 12.0 * t)[:, None], f[:1], by)[0]
    assert rms(corner[t > 1])[0] == pytest.approx(0.5, rel=1e-3)  # -3 dB of 1/√2
    np.testing.assert_allclose(lowpass(0 * X + 3.0, f, sensing())[0], 3.0, rtol=1e-12)
    step = np.where(t > 0, 1.0, 0.0)[:, None]  # a steep ramp from the first sample on
    a = 2 * np.pi * 12.0 / np.sqrt(2) * (t - t[1] / 2)
    np.testing.assert_allclose(
        lowpass(step, f[:1], by)[0][1:, 0],
        (1 - np.exp(-a) * (np.cos(a) + np.sin(a)))[1:],
        atol=1e-5,
    )


def test_a_low_pass_of_samples_that_are_not_regular():
    t = np.sort(np.random.default_rng(0).uniform(0, 2, 20000))
    by = replace(sensing(), time=t)
    found, _ = lowpass(t[:, None], np.array([5.0]), by)
    late = np.sqrt(2) / (2 * np.pi * 5.0)  # of a ramp
    np.testing.assert_allclose(found[t > 1, 0], t[t > 1] - late, atol=1e-9)


def test_instants_of_sampling():
    instants = jittered(TIME, 2e-4, np.random.default_rng(0))
    assert np.std(instants - TIME) == pytest.approx(2e-4, rel=0.05)
    assert instants.min() >= TIME[0]
    assert instants.max() <= TIME[-1]
    found = sampled(X, instants, sensing())
    wanted = np.stack([3 * np.sin(7 * instants) + np.cos(3 * instants),
                       5 * np.cos(4 * instants + 1)], axis=1)  # fmt: skip
    np.testing.assert_allclose(found, wanted, atol=1e-7)


def test_crosstalk_is_a_constant_part_of_the_others():
    x = np.column_stack([X, np.sin(11 * TIME), 0 * TIME])
    by = replace(sensing(3), rms=rms(x))
    found, factor = crosstalk(x, np.array([0.5, 0.0, 0.7, 0.2]), by)
    np.testing.assert_allclose(rms(found - x), [0.5, 0.0, 0.7, 0.2], rtol=1e-12)
    np.testing.assert_allclose(found - x, x @ factor.T, atol=1e-12)
    np.testing.assert_array_equal(np.diag(factor), 0.0)
    np.testing.assert_array_equal(factor[:, 3], 0.0)  # nothing comes from a force of zero
    # The others are as large a part each.
    np.testing.assert_allclose(*np.abs(factor[0, 1:3] * rms(x)[1:3]))


def test_eccentricity_is_a_wave_of_the_angle():
    found, drawn = eccentricity(X, np.array([0.01, 0.02]), sensing())
    np.testing.assert_array_equal(drawn, [0.01, 0.02])
    waves = [np.stack([np.sin(x), np.cos(x)], axis=1) for x in X.T]
    for wave, e, size in zip(waves, (found - X).T, drawn, strict=True):
        parts = np.linalg.lstsq(wave, e)[0]
        assert np.linalg.norm(parts) == pytest.approx(size)
        np.testing.assert_allclose(wave @ parts, e, atol=1e-12)


def test_gain_and_offset_are_what_was_drawn():
    found, drawn = gain(X, np.array([0.1, 0.2]), sensing())
    np.testing.assert_allclose(np.abs(drawn), [0.1, 0.2])
    np.testing.assert_allclose(found / X - 1, drawn + 0 * X)
    found, drawn = offset(X, np.array([1.5, 2.5]), sensing())
    np.testing.assert_allclose(np.abs(drawn), [1.5, 2.5])
    np.testing.assert_allclose(found - X, drawn + 0 * X, atol=1e-12)
    signs = [np.sign(offset(X, np.ones(2), sensing(seed))[1]) for seed in range(200)]
    assert np.abs(np.mean(signs, axis=0)).max() < 0.3  # 4 standard deviations of 200 signs


def test_drift_is_two_slow_waves():
    e = drift(X, np.array([0.5, 0.7]), sensing())[0] - X
    np.testing.assert_allclose(rms(e), [0.5, 0.7])
    phase = np.pi * (TIME - TIME[0]) / (TIME[-1] - TIME[0])
    waves = np.stack([f(k * phase) for f in (np.sin, np.cos) for k in (1, 2)], axis=1)
    left = e - waves @ np.linalg.lstsq(waves, e)[0]
    assert np.abs(left).max() < 1e-12


def test_random_walk_has_independent_steps():
    e = random_walk(X, np.array([0.5, 0.7]), sensing())[0] - X
    np.testing.assert_allclose(rms(e), [0.5, 0.7])
    np.testing.assert_allclose(e[0], 0, atol=1e-15)
    steps = np.diff(e, axis=0)
    # Correlations of 2000 independent steps: standard deviation 0.022.
    assert np.abs(np.mean(steps[1:] * steps[:-1], axis=0) / steps.var(axis=0)).max() < 0.1


def test_hum_has_its_frequency_and_amplitude():
    e = hum(X, np.array([0.5, 0.7]), sensing())[0] - X
    wave = np.stack([f(2 * np.pi * 50 * TIME) for f in (np.sin, np.cos)], axis=1)
    parts = np.linalg.lstsq(wave, e)[0]
    np.testing.assert_allclose(np.linalg.norm(parts, axis=0), [0.5, 0.7], rtol=1e-9)
    np.testing.assert_allclose(wave @ parts, e, atol=1e-9)


def test_outliers_are_few_and_large():
    found, drawn = outliers(X, np.array([0.01, 0.2]), sensing())
    hit = found != X
    np.testing.assert_array_equal(hit.mean(axis=0), drawn)
    # Binomial: 4 standard deviations of 2000 samples.
    np.testing.assert_allclose(drawn, [0.01, 0.2], atol=4 * np.sqrt(0.2 * 0.8 / 2000))
    sizes = (found - X)[:, 1][hit[:, 1]]
    np.testing.assert_allclose(sizes.std(), 3 * rms(X)[1], rtol=0.2)


def test_clipping_and_quantisation():
    found, _ = clipping(X, np.array([2.0, 0.0]), sensing())
    np.testing.assert_array_equal(found[:, 1], X[:, 1])
    assert np.abs(found[:, 0]).max() == 2.0
    inside = np.abs(X[:, 0]) <= 2.0
    np.testing.assert_array_equal(found[inside, 0], X[inside, 0])
    found, _ = quantisation(X, np.array([0.25, 0.1]), sensing())
    steps = found / [0.25, 0.1]
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)
    assert np.all(np.abs(found - X) <= np.array([0.25, 0.1]) / 2 + 1e-12)


def test_hysteresis_of_one_direction_and_of_a_cycle():
    y = np.linspace(0, 1, 100)[:, None]
    force = hysteresis(y, np.array([2.0]), np.array([0.2]))
    np.testing.assert_allclose(force, 2 * (1 - np.exp(-y / 0.2)))
    np.testing.assert_allclose(hysteresis(-y, np.array([2.0]), np.array([0.2])), -force)
    # In a steady cycle of amplitude A the force at a reversal is size · tanh(A / width).
    cycle = np.interp(np.arange(4001) % 400, [0, 100, 300, 400], [0, 0.3, -0.3, 0])[:, None]
    steady = hysteresis(cycle, np.array([2.0]), np.array([0.2]))[-400:]
    np.testing.assert_allclose(steady.max(), 2 * np.tanh(0.3 / 0.2), rtol=1e-9)
    assert not hysteresis(0 * y, np.array([2.0]), np.array([0.0])).any()
