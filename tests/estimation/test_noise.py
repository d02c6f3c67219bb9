"""Noise of the force channels: closed forms, and brute force over what is fitted."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, t

from mechid.errors import DataError
from mechid.estimation.channels import Channels
from mechid.estimation.iteration import _notes, _of_channels, weigh
from mechid.estimation.noise import (
    channel_noise,
    relative_variances,
    root_mean_square,
    rounding_noise,
    settled,
    student_efficiency,
)
from mechid.estimation.regression import Regression

from .problems import regression

EPS = np.finfo(float).eps


def test_noise_by_the_rows_that_parameters_leave() -> None:
    """(3² + 4²)/(1 + 0.25), and with three more rows of zeros; nothing of the other channels."""
    e, leverage = np.array([3.0, 4.0, 5.0]), np.array([0.0, 0.75, 1.0])
    channel = np.array([0, 0, 1])
    found = channel_noise(e, leverage, channel, 3)
    np.testing.assert_allclose(found, [np.sqrt(25 / 1.25), np.nan, np.nan])
    found = channel_noise(e, leverage, channel, 3, np.array([3, 5, 0]))
    np.testing.assert_allclose(found, [np.sqrt(25 / 4.25), np.sqrt(5.0), np.nan])


@pytest.mark.parametrize(("zeros", "bound"), [(0, 300.0), (4, 700.0)])
def test_rows_that_only_rounding_leaves(zeros: int, bound: float) -> None:
    """Up to a hundred roundings of each row."""
    for spare, some in ((1.1 * bound * EPS, True), (0.9 * bound * EPS, False)):
        leverage = np.array([1.0 - spare, 1.0, 1.0])
        other = np.array([0, zeros])
        found = channel_noise(np.ones(3), leverage, np.array([0, 1, 1]), 2, other)
        assert np.isfinite(found[0]) == some


def test_root_mean_squares() -> None:
    rows, channel = np.array([3.0, -1.0, 4.0]), np.array([0, 2, 0])
    np.testing.assert_allclose(root_mean_square(rows, channel, 3), [np.sqrt(12.5), 0.0, 1.0])
    found = root_mean_square(rows, channel, 3, np.array([3, 0, 3]))
    np.testing.assert_allclose(found, [np.sqrt(5.0), 0.0, 0.5])


@pytest.mark.parametrize("slope", [0.0, 0.3, 3.0])
def test_noise_that_grows_with_the_force(slope: float) -> None:
    """Most probable of all slopes that are tried: 1 + (κ F)², F in units of its usual size."""
    rng = np.random.default_rng(1)
    forces = np.concatenate([rng.normal(size=300), 50.0 * rng.normal(size=200), np.zeros(20)])
    channel = np.repeat([0, 1, 3], [300, 200, 20])
    size = np.array(
        [np.sqrt(np.mean(forces[channel == j] ** 2)) if j != 2 else 1 for j in range(4)]
    )
    F = forces / np.where(size > 0, size, 1.0)[channel]
    e = np.array([0.1, 2.0, 0.0, 1.0])[channel] * rng.normal(size=520) * np.hypot(1, slope * F)
    e[F == 0] = 0.0
    variance = relative_variances(e, forces, channel, 4)
    np.testing.assert_array_equal(variance[F == 0], 1.0)

    def likelihood(own: Any, v: Any) -> float:
        scale = np.sqrt(np.mean(e[own] ** 2 / v) * v)
        return float(np.sum(norm.logpdf(e[own], scale=scale)))

    for j in (0, 1):
        own = channel == j
        kappa = np.sqrt((variance[own] - 1) / F[own] ** 2)
        np.testing.assert_allclose(kappa, kappa[0], rtol=1e-6)
        assert kappa[0] == pytest.approx(slope, rel=0.5, abs=0.15)
        best = likelihood(own, variance[own])
        for other in (0.0, 0.1, 10**-0.875, 0.1 * 10**0.5, 1.0, 10**0.5, 100.0):
            assert best >= likelihood(own, 1 + (other * F[own]) ** 2) - 1e-9


@pytest.mark.parametrize("tails", [3.0, 4.0, 10.0])
def test_what_a_row_with_heavy_tails_is_worth(tails: float) -> None:
    """(ν + 1)/(ν + 3) of Student's own noise; of normal noise by its integrals; at least 0.1."""
    q = (np.arange(20_000) + 0.5) / 20_000
    u = np.concatenate([t.ppf(q, tails), norm.ppf(q), np.full(5, 20.0), np.zeros(5)])
    channel = np.repeat([0, 1, 2, 3], [20_000, 20_000, 5, 5])
    weight = (tails + 1) / (tails + u**2)
    found = student_efficiency(u, weight, tails, channel, 5)

    def psi(x: float) -> float:
        return (tails + 1) * x / (tails + x * x)

    def mean(f: Any) -> float:
        return float(quad(lambda x: f(x) * norm.pdf(x), -12, 12)[0])

    h = 1e-5
    slope = mean(lambda x: (psi(x + h) - psi(x - h)) / (2 * h))
    normal = slope**2 / mean(lambda x: psi(x) ** 2)
    wanted = [(tails + 1) / (tails + 3), normal, 0.1, 1.0, 1.0]
    np.testing.assert_allclose(found, wanted, rtol=2e-3)


def test_what_rounding_leaves() -> None:
    A, x, y = np.array([[3.0, -4.0], [1.0, 1.0]]), np.array([-1.0, 2.0]), np.array([-5.0, 0.0])
    channel = np.array([0, 1])
    sizes = np.array([5.0 + 3.0 + 8.0, 1.0 + 2.0])
    np.testing.assert_allclose(rounding_noise(A, x, y, channel, 3), [*(2 * EPS * sizes), 1.0])
    found = rounding_noise(A, x, y, channel, 3, np.array([3, 0, 0]))
    np.testing.assert_allclose(found, [5 * EPS * sizes[0] / 2, 5 * EPS * sizes[1], 1.0])
    wide = rounding_noise(A[:1], x, y[:1], channel[:1], 1)
    np.testing.assert_allclose(wide, 2 * EPS * sizes[:1])


def test_noise_as_weight() -> None:
    """Not less than declared, nor than rounding; none without rows."""
    found, declared = np.array([2.0, 0.5, 1e-9, np.nan, np.nan]), np.array([1.0, 1.0, 0, 3.0, 0])
    channel, names = np.array([0, 1, 2, 3]), ("a", "b", "c", "d", "e")
    noise = settled(found, declared, np.full(5, 1e-3), channel, names)
    np.testing.assert_array_equal(noise, [2.0, 1.0, 1e-3, 3.0, np.nan])
    with pytest.raises(DataError, match="force d has too few measured values"):
        settled(found, 0 * declared, np.full(5, 1e-3), channel, names)


@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_notes_on_declared_noise(unit: float) -> None:
    """Twice as large or half as large as declared is not far yet, in whatever unit."""
    names = ("a", "b", "c", "d", "e", "f")
    found = unit * np.array([0.99, 1.01, 3.99, 4.01, 9.0, np.nan])
    declared = unit * np.array([2.0, 2.0, 2.0, 2.0, 0.0, 1.0])
    said = _notes(names, found, declared, True)
    assert len(said) == 2
    assert said[0].startswith("the residuals of force a are much smaller than its declared error")
    assert said[1].startswith("the residuals of force d are much larger than its declared error")
    (said_also,) = _notes(names, found, 0 * declared, False)
    assert said_also == "noise and values did not converge in 60 iterations"


def test_noise_of_a_channel_in_several_logs() -> None:
    """Mean squares over all samples: two of log 1, six of log 2; the third force only in log 2."""
    series = np.repeat([0, 1, 3, 4, 5], [2, 2, 6, 6, 4])
    noise = np.array([1.0, 2.0, np.nan, 3.0, 4.0, 5.0])
    channels = SimpleNamespace(regression=SimpleNamespace(channels=("a", "b", "c")), series=series)
    fit = SimpleNamespace(noise=noise)
    found = _of_channels(cast(Any, fit), cast(Any, channels))
    wanted = [np.sqrt((2 * 1 + 6 * 9) / 8), np.sqrt((2 * 4 + 6 * 16) / 8), 5.0]
    np.testing.assert_allclose(found, wanted)
    fit = SimpleNamespace(noise=noise[:3])
    channels.series = series[:4]
    found = _of_channels(cast(Any, fit), cast(Any, channels))
    np.testing.assert_allclose(found, [1.0, 2.0, np.nan])


def test_rows_in_units_of_the_noise_that_least_squares_leaves() -> None:
    """A parameter for each force: each by itself. A force that is used up counts by its size."""
    W = np.zeros((6, 4, 4))
    rng = np.random.default_rng(2)
    W[:, range(4), range(4)] = rng.normal(size=(6, 4))
    tau = rng.normal(size=(6, 4)) * np.array([1.0, 10.0, 0.1, 7.0])
    valid = np.ones((6, 4), dtype=bool)
    valid[1:, 3] = False
    base = regression(rng, np.ones(4), n=6, n_d=4)
    r: Regression = replace(
        base, W=W, tau=tau, valid=valid, known=0 * tau, noise=np.array([0.0, 99.0, 0.0, 0.0])
    )
    left = []
    for j in range(3):
        a, y = W[:, j, j], tau[:, j]
        left.append(np.sqrt(np.sum((y - a * (a @ y) / (a @ a)) ** 2) / 5))
    noise = np.array([left[0], 99.0, left[2], abs(tau[0, 3])])
    rows, target = weigh(Channels(r))
    channel = r.stacked()[2]
    np.testing.assert_allclose(rows, W[valid] / noise[channel, None])
    np.testing.assert_allclose(target, tau[valid] / noise[channel])
    declared = replace(r, noise=np.arange(1.0, 5.0))
    rows, target = weigh(Channels(declared), "declared")
    np.testing.assert_allclose(rows, W[valid] / (1.0 + channel)[:, None])
    zero = replace(r, tau=0 * tau, noise=None)
    assert np.all(np.isfinite(weigh(Channels(zero))[0]))
