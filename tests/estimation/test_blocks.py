"""Blocks of samples, and standard deviations from what becomes of an estimate without them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import norm, t

from mechid.estimation.blocks import parts_of_motion, time_blocks
from mechid.estimation.channels import Channels
from mechid.estimation.jackknife import with_jackknife
from mechid.estimation.map_posterior import HeldOut
from mechid.estimation.ols import OrdinaryLeastSquares

from .problems import prior, regression


def test_blocks_of_time() -> None:
    """Seven samples in three blocks, in the order of their times; the second log goes on."""
    r = regression(np.random.default_rng(0), [1.0], n=9)
    order = np.array([3, 0, 6, 1, 2, 5, 4])
    r = replace(r, time=np.append(0.1 * order, [0.0, 0.1]), log=np.repeat([4, 9], [7, 2]))
    np.testing.assert_array_equal(time_blocks(r, 3)[:7], np.array([0, 0, 0, 1, 1, 2, 2])[order])
    np.testing.assert_array_equal(time_blocks(r, 3)[7:], [3, 4])


def test_parts_of_a_motion_that_repeats_itself() -> None:
    """Quarters of a period of eight samples in the first log, of time in the second."""
    rng = np.random.default_rng(1)
    r = regression(rng, [1.0], n=64, n_d=2)
    r = replace(r, log=np.repeat([0, 1], 32))
    phase = 2 * np.pi * np.arange(32) / 8
    W = rng.normal(size=(64, 2, 1))
    W[:32, 0, 0], W[:32, 1, 0] = np.sin(phase), np.cos(phase)
    columns = W.reshape(128, 1)
    found = parts_of_motion(r, columns, 4)
    np.testing.assert_array_equal(found[:32], np.tile([0, 0, 1, 1, 2, 2, 3, 3], 4))
    np.testing.assert_array_equal(found[32:], np.repeat([4, 5, 6, 7], 8))
    # Phases go on after a gap: eleven samples are missing.
    gap = replace(
        r, time=np.where(np.arange(64) < 16, r.time, r.time + 11 * (r.time[1] - r.time[0]))
    )
    again = np.roll(np.tile([0, 0, 1, 1, 2, 2, 3, 3], 2), -3)
    np.testing.assert_array_equal(parts_of_motion(gap, columns, 4)[16:32], again)
    # One force that does not repeat itself: the motion does not.
    columns[1:64:2] = rng.normal(size=(32, 1))
    np.testing.assert_array_equal(parts_of_motion(r, columns, 4)[:32], np.repeat([0, 1, 2, 3], 8))


@pytest.mark.parametrize(("noise", "parts"), [(True, 10), (False, 4)])
@pytest.mark.parametrize("logs", [1, 2])
def test_deviations_by_leaving_out(noise: bool, parts: int, logs: int) -> None:
    """(B - 1)/B Σ Δ², as wide as Student's interval; whole logs as they are. Never narrower."""
    rng = np.random.default_rng(2)
    r = regression(rng, [1.0, 2.0, 3.0], 0.1, n=40)
    log = np.repeat([0, 1], 20)
    r = replace(r, log=log if logs == 2 else None)
    shifts = np.outer(np.arange(1.0, 21.0), [1.0, 0.0, 1e-9, 5.0])
    by_log = np.array([[0.0, 30.0, 0.0, 0.0], [0.0, -40.0, 0.0, 0.0]])

    def held_out(block: np.ndarray) -> HeldOut:
        numbers = np.unique(block)
        found = by_log if np.array_equal(block, log) else shifts[: len(numbers)]
        return HeldOut(block, np.zeros(0), found)

    posterior = SimpleNamespace(
        channels=Channels(r),
        prior=prior([1.0, 2.0, 3.0], np.eye(3)),
        held_out=held_out,
    )
    before = OrdinaryLeastSquares()(r)
    found = with_jackknife(before, cast(Any, posterior), noise)
    B = parts * logs
    wide = np.sqrt((B - 1) / B * np.sum(np.arange(1, B + 1) ** 2)) * (
        t.ppf(0.975, B - 1) / norm.ppf(0.975)
    )
    whole = np.sqrt(0.5 * (30**2 + 40**2)) if logs == 2 else before.sigma[1]
    np.testing.assert_allclose(found.sigma, [wide, whole, before.sigma[2]], rtol=1e-9)
    size = np.outer(before.sigma, before.sigma), np.outer(found.sigma, found.sigma)
    np.testing.assert_allclose(found.covariance / size[1], before.covariance / size[0], atol=1e-12)


def test_one_block_says_nothing() -> None:
    r = regression(np.random.default_rng(3), [1.0], 0.1, n=5)
    posterior = SimpleNamespace(
        channels=Channels(r),
        prior=prior([1.0], np.eye(1)),
        held_out=lambda block: HeldOut(block, np.zeros(0), np.ones((1, 1))),
    )
    before = OrdinaryLeastSquares()(r)
    assert with_jackknife(before, cast(Any, posterior), True) is before
    two = SimpleNamespace(
        **vars(posterior) | {"held_out": lambda b: HeldOut(b, b, np.ones((2, 1)))}
    )
    assert with_jackknife(before, cast(Any, two), True) is not before
