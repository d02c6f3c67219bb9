"""Force that the model does not describe: its size, intervals that contain it, and a warning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from mechid.estimation.automatic import Automatic
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import predict
from mechid.estimation.regression import Floats
from mechid.estimation.unmodelled import unmodelled_forces

from .test_channel_errors import PRIOR, TIME, columns, measured

SIZES = np.array([0.4, 0.0, 0.8])
PLAIN = MaximumAPosteriori("full", effective=True)


def missing(time: Floats) -> Floats:
    """Return dry friction that the model lacks, in two of three forces."""
    return np.sign(np.sin(2 * np.pi * time + 0.4))[:, None] * SIZES


def test_what_repeats_with_the_motion() -> None:
    """Columns of W explain a part of a square wave: at least what is left of its harmonics from
    the fifth on, at most all of it."""
    r = measured(noise=0.05)
    found = unmodelled_forces(PLAIN.posterior(replace(r, tau=r.tau + missing(TIME)), PRIOR))
    left = np.sqrt(1 - 8 / np.pi**2 * (1 + 1 / 9))
    assert np.all(found[SIZES > 0] > left * SIZES[SIZES > 0])
    assert np.all(found[SIZES > 0] < 1.1 * SIZES[SIZES > 0])
    assert found[1] < 0.3 * SIZES[0]


def test_what_repeats_with_the_motion_also_after_gaps() -> None:
    """A log with a gap every 2.63 s: phases are those of the motion, not of what is left of it.

    The sign of the error is random from sample to sample, and the same in each period.
    """
    r = measured(noise=0.4)
    sign = np.tile(np.random.default_rng(1).choice([-1.0, 1.0], 50), 10)
    kept = np.flatnonzero(TIME % 2.63 < 2.2)
    wrong = replace(r, tau=r.tau + sign[:, None] * SIZES).part(kept)
    found = unmodelled_forces(PLAIN.posterior(wrong, PRIOR))
    np.testing.assert_allclose(found, SIZES, rtol=0.2, atol=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_none_of_it(seed: int) -> None:
    found = unmodelled_forces(PLAIN.posterior(measured(seed, noise=0.3), PRIOR))
    np.testing.assert_array_less(found, 0.1)


@pytest.mark.parametrize("samples", [8, 12, 20, 30])
def test_few_samples_of_noise_are_none_of_it(samples: int) -> None:
    for seed in range(10):
        r = measured(seed, noise=0.3).part(slice(0, samples))
        np.testing.assert_array_equal(unmodelled_forces(PLAIN.posterior(r, PRIOR)), 0.0)


def test_what_is_correlated_in_time() -> None:
    """A force that does not repeat itself: a slow wave is predicted by its past, white noise not.

    Taken as coloured noise it is noise, because the motion repeats itself.
    """
    r = measured(noise=0.05)
    slow = 0.5 * np.sin(2 * np.pi * np.sqrt(0.2) * TIME)[:, None] * np.array([1.0, 0.0, 0.0])
    wrong = replace(r, tau=r.tau + slow)
    found = unmodelled_forces(PLAIN.posterior(wrong, PRIOR))
    assert found[0] == pytest.approx(0.5 / np.sqrt(2), rel=0.15)
    white = replace(PLAIN, whiten=True)
    assert unmodelled_forces(white.posterior(wrong, PRIOR))[0] < 0.1


@pytest.mark.parametrize(("time", "told"), [(TIME, False), (TIME**1.3, True)])
def test_colour_of_a_motion_that_does_not_repeat_itself(time: Floats, told: bool) -> None:
    """It may be noise with a memory or an error of the model, and nothing tells which."""
    rng = np.random.default_rng(3)
    noise = lfilter([0.2], [1.0, -0.9], rng.standard_normal((len(time), 3)), axis=0)
    W = columns(time)
    r = replace(measured(noise=0.05), W=W, tau=W @ np.array([2.0, -1.0, 0.5, 3.0]) + noise)
    found = Automatic()(r, PRIOR)
    assert any(text.startswith("colour taken") for text in found.known)
    assert any("measure the motion twice in a row" in word for word in found.warnings) == told
    assert found.unmodelled is not None
    size = np.std(noise, axis=0)
    assert np.all(found.unmodelled > 0.7 * size) if told else np.all(found.unmodelled < 0.2 * size)


def test_what_repeats_beside_colour_is_no_question() -> None:
    """The motion was measured ten times in a row: what repeats itself is the model."""
    rng = np.random.default_rng(0)
    noise = lfilter([0.2], [1.0, -0.8], rng.standard_normal((len(TIME), 3)), axis=0)
    r = measured(noise=0.0)
    found = Automatic()(replace(r, tau=r.tau + noise + 0.2 * missing(TIME)), PRIOR)
    assert any(text.startswith("colour taken") for text in found.known)
    assert found.unmodelled is not None
    assert np.any(found.unmodelled > 0.1)
    assert not [word for word in found.warnings if "measure the motion twice" in word]


def test_intervals_of_other_motions_contain_it() -> None:
    r = measured(noise=0.05)
    found = Automatic()(replace(r, tau=r.tau + missing(TIME)), PRIOR)
    time = 0.77 * TIME
    other = replace(r, W=columns(time))
    exact = columns(time) @ np.array([2.0, -1.0, 0.5, 3.0]) + missing(time)
    told = predict(found, other)
    inside = np.mean(np.abs(told.forces - exact) < 1.96 * told.sigma, axis=0)
    assert np.all(inside >= 0.8)
    without = predict(replace(found, unmodelled=None), other)
    assert np.mean(np.abs(without.forces - exact) < 1.96 * without.sigma) < 0.8
    assert found.unmodelled is not None
    np.testing.assert_allclose(told.sigma**2 - without.sigma**2, found.unmodelled**2 + 0 * exact)
    np.testing.assert_allclose(
        told.total**2 - without.sigma**2,
        np.maximum(found.noise, found.unmodelled) ** 2 + 0 * exact,
    )
    (said,) = [w for w in found.warnings if "not noise" in w]
    assert "f0 " in said
    assert "f1 " not in said
    assert "f2 " in said


def test_small_forces_are_no_matter() -> None:
    """Half a percent of a force is contained in the intervals, and not worth a warning."""
    r = measured(noise=0.001)
    found = Automatic()(replace(r, tau=r.tau + 0.02 * missing(TIME)), PRIOR)
    assert found.unmodelled is not None
    assert found.unmodelled[2] > 0.005
    assert not [w for w in found.warnings if "not noise" in w]
