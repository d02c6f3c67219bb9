"""Measurements of another motion drift on: their intervals contain it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.estimate import predict
from mechid.estimation.posterior.estimator import JointPosterior

from .problems import likely
from .test_channel_errors import PRIOR, measured

N = 400


def walks(seed: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random walks (number, N, 3) through a log, and on through the next."""
    steps = np.random.default_rng(seed).standard_normal((number, 2 * N, 3))
    both = np.cumsum(steps, axis=1) / np.sqrt(N)
    return both[:, :N], both[:, N:]


def test_a_walk_goes_on() -> None:
    """Variance about the mean of the first log, in units of that in a log: 1/6 and 2/3 + 1/6."""
    first, second = walks(0, 2000)
    within = np.mean(np.var(first, axis=1))
    mean = first.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(np.mean((second - mean) ** 2) / within, 5.0, rtol=0.05)


def test_it_is_in_measured_forces_and_not_in_forces() -> None:
    found = JointPosterior()(measured(0), PRIOR)
    assert found.errors is not None
    wide = replace(found, errors=replace(found.errors, drift=np.array([0.3, 0.1, 0.0])))
    narrow = replace(found, errors=replace(found.errors, drift=None))
    a, b = (predict(x, measured(0)) for x in (wide, narrow))
    np.testing.assert_allclose(a.sigma, b.sigma)
    more = np.broadcast_to([0.45, 0.05, 0.0], a.total.shape)
    np.testing.assert_allclose(a.total**2 - b.total**2, more, atol=1e-12)
    own = predict(wide, measured(0), own_log=True)
    np.testing.assert_allclose(own.total**2 - b.total**2, more / 5, atol=1e-12)


@pytest.mark.slow
def test_intervals_of_the_next_log_contain_it() -> None:
    """Not to 95 %, since one walk shows its size roughly: most of it is in its first wave or two.
    Of 40 seeds 86 % are inside, and 22 % without the drift."""
    inside, named = [], 0
    for seed in range(8):
        r = measured(seed)
        n = len(r.time)
        (first,), (second,) = walks(seed, 1)
        at = np.linspace(0, N - 1, n).astype(int)
        found = JointPosterior()(replace(r, tau=r.tau + first[at]), PRIOR)
        named += len({f"drift of f{j}" for j in range(3)} & set(likely(found)))
        other = measured(100 + seed)
        told = predict(found, other)
        inside.append(np.abs(other.tau + second[at] - told.forces) < 1.96 * told.total)
    # A walk may stay within the noise, and be told from an offset hardly.
    assert named >= 22
    assert 0.75 < np.mean(inside) < 0.99
