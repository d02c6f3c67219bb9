"""W between samples: of motions that turn far from one sample to the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.estimate import ChannelErrors
from mechid.estimation.late import beside_jumps, late, resolution
from mechid.estimation.regression import Floats, Regression, joined
from mechid.estimation.sensed import sensed

RATE, N = 50, 200
TIME = np.arange(N) / RATE
# Hz: slow, and two beyond the 25 Hz that 50 samples a second can show.
FREQUENCIES = np.array([1.3, 31.0, 44.0])
PHASES = np.array([0.0, 1.0])[:, None]


def both(time: Floats) -> Floats:
    """Return W of three parameters and two forces, and a known force, (…, 2, 4)."""
    w = 2 * np.pi * FREQUENCIES
    W = np.cos(w * time[..., None, None] + PHASES)
    known = np.sin(40 * time)[..., None, None] * np.array([1.0, 2.0])[:, None]
    return np.concatenate([W, known], axis=-1)


class Counted:
    """W between samples, and how often it was asked for."""

    def __init__(self, time: Floats = TIME) -> None:
        self.time, self.asked = time, 0

    def __call__(self, fractions: Floats) -> tuple[Floats, Floats]:
        self.asked += 1
        time = self.time[:, None] + fractions / RATE
        return time, both(time)


def problem(between: Counted | None = None) -> Regression:
    x = both(TIME)
    return Regression(
        W=x[..., :3],
        tau=np.zeros((N, 2)),
        known=x[..., 3],
        time=TIME,
        parameters=("a", "b", "c"),
        channels=("f", "g"),
        units=("N", "N m"),
        valid=np.ones((N, 2), dtype=bool),
        between=between,
    )


DELAY = np.array([0.004, -0.0123])
INNER = slice(5, -5)  # ends are held


def expected(delay: Floats = DELAY) -> Floats:
    return np.stack([both(TIME - d)[:, j] for j, d in enumerate(delay)], axis=1)


def test_columns_that_samples_do_not_show() -> None:
    found = late(problem(Counted()), DELAY)
    np.testing.assert_allclose(found.W[INNER], expected()[INNER, :, :3], atol=2e-4)
    np.testing.assert_allclose(found.known[INNER], expected()[INNER, :, 3], atol=2e-4)
    h = 1e-6
    rate = (expected(DELAY - h) - expected(DELAY + h))[INNER] / (2 * h)
    np.testing.assert_allclose(found.W_rate[INNER], rate[..., :3], atol=0.2)  # of 276/s
    np.testing.assert_allclose(found.known_rate[INNER], rate[..., 3], atol=0.02)
    alone = late(problem(), DELAY)  # nothing tells what is between the samples
    np.testing.assert_allclose(alone.W[INNER, :, 0], expected()[INNER, :, 0], atol=1e-4)
    assert np.max(np.abs(alone.W - expected()[..., :3])[INNER, :, 1:]) > 1


def test_no_delay_is_the_samples() -> None:
    found = late(problem(Counted()), np.zeros(2))
    np.testing.assert_allclose(found.W, problem().W, atol=1e-12)
    np.testing.assert_allclose(found.known, problem().known, atol=1e-12)


def test_some_samples() -> None:
    samples = np.array([20, 21, 50, 120])
    r = problem(Counted())
    whole, some = late(r, DELAY), late(r, DELAY, samples)
    for x, y in zip(whole, some, strict=True):
        np.testing.assert_array_equal(x[samples], y)


def test_smooth_columns_need_few_points() -> None:
    fast = Counted()
    assert problem(fast).pieces
    slow = Counted()
    assert problem(slow).select(["a"]).pieces
    assert slow.asked < fast.asked <= 7


def turning(time: Floats) -> Floats:
    """Return a column of dry friction, one that does not jump, and both as a known force."""
    sign, smooth = np.sign(np.sin(3 * time)), np.cos(5 * time)
    return np.repeat(np.stack([sign, smooth, sign + smooth], axis=-1)[..., None, :], 2, axis=-2)


@pytest.mark.parametrize("told", [True, False])
def test_columns_that_jump_do_not_oscillate(told: bool) -> None:
    asked = 0

    def between(fractions: Floats) -> tuple[Floats, Floats]:
        nonlocal asked
        asked += 1
        time = TIME[:, None] + fractions / RATE
        return time, turning(time)

    x = turning(TIME)
    r = replace(
        problem(),
        W=x[..., :2],
        known=x[..., 2],
        parameters=("dry", "smooth"),
        between=between if told else None,
    )
    found = late(r, DELAY)
    assert asked <= 70
    for j, d in enumerate(DELAY):
        want = turning(TIME - d)[:, j]
        # Straight lines connect points on both sides of a jump: of samples, or of a 64th of them.
        near = 1 / RATE / (64 if told else 1)
        past = (3 * (TIME - d) + np.pi / 2) % np.pi - np.pi / 2
        clear = np.abs(past) > 3 * near
        assert np.mean(clear) > 0.8
        clear[:5] = clear[-5:] = False
        np.testing.assert_allclose(found.W[clear, j], want[clear, :2], atol=1e-6)
        np.testing.assert_allclose(found.known[clear, j], want[clear, 2], atol=2e-3)
        assert np.max(np.abs(found.W[:, j, 0])) <= 1.0


def test_samples_beside_a_jump_do_not_count() -> None:
    """Samples that a delay leaves within an eighth of a step of a jump do not tell its side."""
    x = turning(TIME)

    def between(fractions: Floats) -> tuple[Floats, Floats]:
        time = TIME[:, None] + fractions / RATE
        return time, turning(time)

    dry = replace(problem(), W=x[..., :2], known=0 * x[..., 2], parameters=("dry", "smooth"))
    r = replace(dry, between=between)
    found = beside_jumps(r, DELAY)
    for j, d in enumerate(DELAY):
        times = TIME - d
        turns = np.arange(1, 3 * TIME[-1] / np.pi) * np.pi / 3
        away = np.min(np.abs(times[:, None] - turns), axis=1) * RATE  # in samples
        assert found[(away < 0.1) & (times > 0), j].all()
        inside = slice(5, -5)
        assert not found[inside, j][away[inside] > 0.15].any()
        assert found[:, j].any()
    none = np.zeros(2)
    shown = sensed(r, ChannelErrors(none, none, none, none, delay=DELAY))
    assert not (shown.valid & found).any()
    smooth = replace(r, W=x[..., 1:2], parameters=("smooth",), between=None)
    assert not beside_jumps(smooth, DELAY).any()


def test_rounding_errors_are_no_jumps() -> None:
    """Of a column that is zero, but for rounding at some samples: no sample is left out for it."""
    rng = np.random.default_rng(0)
    r = problem()
    W = np.concatenate([r.W, 1e-17 * (rng.random((N, 2, 1)) < 0.04)], axis=-1)
    r = replace(r, W=W, parameters=("a", "b", "c", "zero"))
    one_sample = np.full(2, 1 / RATE)
    assert not beside_jumps(r, one_sample).any()
    larger = replace(r, W=W * [1.0, 1.0, 1.0, 1e17])
    assert beside_jumps(larger, one_sample).any()


@pytest.mark.parametrize("told", [True, False])
def test_jumps_are_known_to_within_a_point(told: bool) -> None:
    """A 64th of a step where W between samples can be asked for, and a step where not."""
    x = turning(TIME)

    def between(fractions: Floats) -> tuple[Floats, Floats]:
        time = TIME[:, None] + fractions / RATE
        return time, turning(time)

    r = replace(
        problem(),
        W=x[..., :2],
        known=0 * x[..., 2],
        parameters=("dry", "smooth"),
        between=between if told else None,
    )
    np.testing.assert_allclose(resolution(r), 1 / RATE / (64 if told else 1), rtol=1e-9)
    smooth = replace(r, W=x[..., 1:2], parameters=("smooth",), between=None)
    np.testing.assert_array_equal(resolution(smooth), 0.0)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_part_that_is_too_fast_for_the_samples_is_looked_for(share: float) -> None:
    """70 Hz: 100 samples a second, twice as many as there are, do not show it better."""

    def column(time: Floats) -> Floats:
        x = np.cos(2 * np.pi * 1.3 * time) + share * np.cos(2 * np.pi * 70.0 * time + 0.4)
        return np.repeat(np.stack([x, 0 * x], axis=-1)[..., None, :], 2, axis=-2)

    def between(fractions: Floats) -> tuple[Floats, Floats]:
        time = TIME[:, None] + fractions / RATE
        return time, column(time)

    x = column(TIME)
    r = replace(problem(), W=x[..., :1], known=x[..., 1], parameters=("a",), between=between)
    wanted = np.stack([column(TIME - d)[:, j, :1] for j, d in enumerate(DELAY)], axis=1)
    np.testing.assert_allclose(late(r, DELAY).W[INNER], wanted[INNER], atol=2e-2 * share)


def test_choices_of_columns_forces_samples_and_logs_keep_what_is_between() -> None:
    r = problem(Counted())
    want = expected()
    np.testing.assert_allclose(
        late(r.select(["c", "a"]), DELAY).W[INNER], want[INNER][..., [2, 0]], atol=2e-4
    )
    one = late(r.of_channels([1]), DELAY[1:])
    np.testing.assert_allclose(one.W[INNER], want[INNER, 1:, :3], atol=2e-4)
    part = late(r.part(slice(60, 140)), DELAY)
    np.testing.assert_allclose(part.W[INNER], want[60:140][INNER][..., :3], atol=2e-4)
    values = np.array([0.0, 2.0, 0.0])
    more = late(r.select(["a", "c"]).with_known(r, values), DELAY)
    np.testing.assert_allclose(
        more.known[INNER], (want[..., 3] + 2 * want[..., 1])[INNER], atol=1e-3
    )
    logs = late(joined([r, r.part(slice(0, 100))]), DELAY)
    np.testing.assert_allclose(logs.W[:N][INNER], want[INNER][..., :3], atol=2e-4)
    np.testing.assert_allclose(logs.W[N:][INNER], want[:100][INNER][..., :3], atol=2e-4)
    assert joined([r, problem()]).between is None


@pytest.mark.parametrize("gap", [80, 81])
def test_gaps_are_not_bridged(gap: int) -> None:
    r = problem(Counted())
    known = r.known.copy()
    known[gap], valid = np.nan, r.valid.copy()
    valid[gap] = False
    found = late(replace(r, known=known, valid=valid), DELAY)
    np.testing.assert_allclose(found.W[5 : gap - 5], expected()[5 : gap - 5, :, :3], atol=2e-4)
    np.testing.assert_allclose(found.W[gap + 6 : -5], expected()[gap + 6 : -5, :, :3], atol=2e-4)


def test_forces_as_sensors_show_them() -> None:
    gain = np.array([0.1, -0.2])
    errors = ChannelErrors(gain, 0 * gain, 0 * gain, 0 * gain, delay=DELAY)
    phi = np.array([2.0, -1.0, 0.5])
    found = sensed(problem(Counted()), errors)
    shown = (1 + gain) * (expected()[..., :3] @ phi + expected()[..., 3])
    here = found.valid
    np.testing.assert_allclose((found.W @ phi + found.known)[here], shown[here], atol=2e-3)
    # 4 ms before the first sample, and 12.3 ms after the last, nothing is known.
    assert here.sum(axis=0).tolist() == [N - 1, N - 1]
    assert sensed(found, None) is found
