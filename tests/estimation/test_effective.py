"""How many samples residuals are worth, for columns and residuals with known spectra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from mechid.estimation.effective import (
    _autocorrelation,
    _period,
    correlation_factors,
)

PERIODS, AGAIN = 10, 50


def factor(frequency: int, noise: float = 0.2) -> float:
    """Return by what samples of a line count too much; columns have one and two lines a period."""
    rng = np.random.default_rng(0)
    n = PERIODS * AGAIN
    t = 2 * np.pi * np.arange(n) / AGAIN
    columns = np.column_stack([wave(k * t) for k in (1, 2) for wave in (np.cos, np.sin)])
    e = np.sqrt(2) * np.cos(frequency * t + 0.4) + noise * rng.standard_normal(n)
    (found,) = correlation_factors(e, columns, ((np.arange(n),),))
    return float(found)


def test_errors_that_repeat_with_the_motion_count_once() -> None:
    """A line among those of the columns: all samples together are a handful of numbers."""
    assert factor(2) > PERIODS


@pytest.mark.parametrize("frequency", [12, 20])
def test_a_hum_beside_the_band_of_the_motion_does_no_harm(frequency: int) -> None:
    """Orthogonal to all columns, whether or not its phase is that of the motion."""
    assert factor(frequency) == pytest.approx(1.0, abs=0.3)


def direct(parts: list[np.ndarray], longest: int) -> np.ndarray:
    """Return autocorrelations by their definition: means over all pairs of a lag."""
    products: list[list[float]] = [[] for _ in range(longest)]
    for x in parts:
        for k in range(len(x)):
            for j in range(k, len(x)):
                products[j - k].append(float(x[k] @ x[j]))
    return np.array([np.mean(p) for p in products]) / np.mean(products[0])


def test_autocorrelation_of_stretches() -> None:
    rng = np.random.default_rng(1)
    parts = [rng.normal(size=(n, 2)) + 1.0 for n in (9, 4, 1)]
    np.testing.assert_allclose(_autocorrelation(parts, 9), direct(parts, 9), atol=1e-12)
    np.testing.assert_array_equal(_autocorrelation([np.zeros((3, 2))], 3), [1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("rho", "again"),
    [
        ([1.0, 0.95, 0.91, 0.99, 0.99, 0.95, 1.0, 1.0, 1.0], None),  # never another motion
        ([1.0, 0.5, 0.89, 0.97, 0.98, 0.9, 0.0, 0.0, 0.0], None),  # never quite the same
        ([1.0, 0.89, 0.95, 0.981, 0.97, 0.9, 0.0, 0.0, 0.0], 3),
        ([1.0, 0.89, 0.981, 0.985, 0.99, 0.9, 0.0, 0.0, 0.0], 4),  # the top
        ([1.0, 0.0, 0.0, 0.0, 0.99, 1.0, 0.0, 0.0, 0.0], 4),  # up to half of the samples
        ([1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 0.0, 0.0], None),
        ([1.0, 0.99, 0.0, 0.99, 0.0, 0.0, 0.0, 0.0, 0.0], 3),
    ],
)
def test_the_top_of_the_first_peak(rho: list[float], again: int | None) -> None:
    assert _period(np.array(rho)) == again


@pytest.mark.parametrize(("a", "b"), [(0.8, 0.9), (0.5, 0.5), (0.6, -0.9)])
def test_factor_of_two_correlated_processes(a: float, b: float) -> None:
    """Residuals with a^l, columns with b^l: (1 + a b)/(1 - a b), but not less than one."""
    rng = np.random.default_rng(6)
    n = 40_000
    e = lfilter([1.0], [1.0, -a], rng.normal(size=n))
    columns = lfilter([1.0], [1.0, -b], rng.normal(size=(n, 30)), axis=0)
    (found,) = correlation_factors(e, columns, ((np.arange(n),),))
    assert found == pytest.approx(max(1.0, (1 + a * b) / (1 - a * b)), rel=0.1)


def test_factor_of_errors_that_repeat() -> None:
    """Weighted sums of cosines up to half a period, times what nine more periods add."""
    lags = np.arange(1, AGAIN // 2)
    step = 2 * np.pi / AGAIN
    rho_w = (np.cos(step * lags) + np.cos(2 * step * lags)) / 2
    once = 1 + 2 * np.sum((1 - lags / (AGAIN // 2)) * np.cos(2 * step * lags) * rho_w)
    again = 1 + (PERIODS - 1) * (1 - 2 / np.sqrt(PERIODS * AGAIN))
    assert factor(2, 1e-3) == pytest.approx(once * again, rel=0.01)


def test_few_or_white_residuals_count_once() -> None:
    e = np.arange(1.0, 21.0)
    assert correlation_factors(e, e[:, None], ((np.arange(7),), (np.arange(20),)))[0] == 1.0
    assert correlation_factors(e, e[:, None], ((np.arange(20),),))[0] > 2.0
    white = np.random.default_rng(7).normal(size=300)
    assert correlation_factors(white, np.ones((300, 1)), ((np.arange(300),),))[0] == 1.0
