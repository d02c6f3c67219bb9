"""Huber against a general optimiser; instrumental variables against the bias of least squares;
truncation and ridge by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from mechid.errors import DataError
from mechid.estimation.huber import Huber, median_noise
from mechid.estimation.instrumental import InstrumentalVariables, strength
from mechid.estimation.least_squares import Ridge, Truncated, WeightedLeastSquares, truncated

from .problems import case

NOISE = np.array([0.1, 1.0, 3.0])


def test_huber_is_the_minimum_of_its_loss() -> None:
    r = case(1, NOISE).regression
    found = Huber(threshold=1.2)(r)
    A, t, channel = r.stacked()
    scale = found.noise[channel]
    best = least_squares(
        lambda x: (t - A @ x) / scale, np.zeros(5), loss="huber", f_scale=1.2,
        xtol=1e-14, ftol=1e-14, gtol=1e-12,
    )  # fmt: skip
    np.testing.assert_allclose((found.values - best.x) / found.sigma, 0.0, atol=5e-3)
    e = t - A @ found.values
    for j in range(3):
        own = channel == j
        median = np.median(np.abs(e[own])) / 0.67449
        # But for a factor near one, for what the parameters took.
        assert 1.0 <= found.noise[j] / median < 1.1


def test_outliers_do_not_matter_much() -> None:
    made = case(2, NOISE, n=200)
    tau = made.regression.tau.copy()
    tau[::20] += 40.0
    spoilt = replace(made.regression, tau=tau)
    huber, plain = Huber()(spoilt), WeightedLeastSquares()(spoilt)
    np.testing.assert_allclose(huber.noise, NOISE, rtol=0.3)
    assert np.all(np.abs(huber.values - made.phi) < 4 * huber.sigma)
    assert np.all(huber.sigma < 0.5 * plain.sigma)
    assert "measured values were treated as outliers" in huber.known[0]


def test_without_outliers_huber_is_least_squares() -> None:
    r = case(3, NOISE).regression
    found = Huber(threshold=1e6)(r)
    again = WeightedLeastSquares(noise="declared")(replace(r, noise=found.noise))
    np.testing.assert_allclose(found.values, again.values, rtol=1e-6)


def test_instruments_take_the_bias_away() -> None:
    ratio = []
    for seed in range(40):
        made = case(seed, 0.1 * NOISE, n=300, blur=0.4)
        plain = WeightedLeastSquares()(made.regression)
        iv = InstrumentalVariables()(made.regression)
        ratio.append([plain.values[:4] / made.phi[:4], iv.values[:4] / made.phi[:4]])
    mean = np.mean(ratio, axis=0)
    # Columns of variance one with errors of variance 0.16: attenuation by 1/1.16.
    assert np.mean(mean[0]) == pytest.approx(1 / 1.16, abs=0.03)
    assert np.mean(mean[1]) == pytest.approx(1.0, abs=0.01)


def test_instruments_against_their_defining_equation() -> None:
    made = case(4, NOISE, blur=0.3)
    found = InstrumentalVariables()(made.regression)
    r = made.regression
    assert r.instruments is not None
    A, t, channel = r.stacked()
    Z = r.instruments[r.valid] / found.noise[channel, None]
    A, t = A / found.noise[channel, None], t / found.noise[channel]
    inverse = np.linalg.inv(Z.T @ A)
    np.testing.assert_allclose(found.values, inverse @ Z.T @ t, rtol=1e-5)
    np.testing.assert_allclose(found.covariance, inverse @ Z.T @ Z @ inverse.T, rtol=1e-4)


def test_weak_instruments_are_named() -> None:
    made = case(5, NOISE)
    r = made.regression
    noise = np.random.default_rng(0).normal(size=r.W.shape)
    weak = replace(r, instruments=0.05 * r.W + noise)
    assert any("instruments are weak" in w for w in InstrumentalVariables()(weak).warnings)
    assert not any("weak" in w for w in InstrumentalVariables()(r).warnings)


def test_strength_is_the_usual_f_of_one_regressor() -> None:
    rng = np.random.default_rng(6)
    z = rng.normal(size=(50, 1))
    a = 0.4 * z + rng.normal(size=(50, 1))
    fitted = z * (z.T @ a) / (z.T @ z)
    F = float(np.sum(fitted**2) / (np.sum((a - fitted) ** 2) / 49))
    assert strength(a, z) == pytest.approx(F)
    assert strength(np.eye(5)[:, :2], np.eye(5)[:, :2]) == np.inf  # they say everything


def test_no_instruments_no_estimate() -> None:
    r = replace(case(7, NOISE).regression, instruments=None)
    with pytest.raises(DataError, match=r"need a second observation matrix.*second measurement"):
        InstrumentalVariables()(r)


def test_covariance_of_huber_is_the_asymptotic_one() -> None:
    """(AᵀDA)⁻¹ AᵀVA (AᵀDA)⁻¹ with the means of ψ' and ψ² of each force, times m/(m - b)."""
    r = case(8, NOISE).regression
    found = Huber(threshold=1.2)(r)
    A, t, channel = r.stacked()
    A, u = A / found.noise[channel, None], (t - A @ found.values) / found.noise[channel]
    D, V = (
        np.array([np.mean(x[channel == j]) for j in range(3)])[channel]
        for x in (np.abs(u) <= 1.2, np.clip(u, -1.2, 1.2) ** 2)
    )
    inner = np.linalg.inv((A.T * D) @ A)
    wanted = inner @ (A.T * V) @ A @ inner * len(u) / (len(u) - 5)
    np.testing.assert_allclose(found.covariance, wanted, rtol=1e-3, atol=1e-9)
    far = np.count_nonzero(np.abs(u) > 1.2)
    assert found.known == (f"{far} of {len(u)} measured values were treated as outliers",)


def test_scale_by_medians() -> None:
    """Median of |e| by that of unit noise, times √(rows/spare rows); none without rows to spare."""
    e, channel = np.array([1.0, -5.0, 2.0, 7.0, 3.0]), np.array([0, 0, 0, 2, 3])
    leverage = np.array([0.5, 0.25, 0.0, 1.0, 0.0])
    found = median_noise(e, leverage, channel, 4)
    unit = 0.6744897501960817
    np.testing.assert_allclose(found, [2 / unit * np.sqrt(3 / 2.25), np.nan, np.nan, 3 / unit])


def directions(first: float, second: float) -> tuple[np.ndarray, np.ndarray]:
    """Return two columns with correlation 0.6, and what has these parts along their directions.

    Singular values of unit columns are √1.6 and √0.4, along their sum and their difference.
    """
    A = np.array([[3.0, 0.6], [0.0, 0.8], [0.0, 0.0]])
    plus, minus = np.array([1.6, 0.8, 0]) / np.sqrt(3.2), np.array([0.4, -0.8, 0]) / np.sqrt(0.8)
    return A, first * plus + second * minus + np.array([0.0, 0.0, 5.0])


@pytest.mark.parametrize(
    ("options", "parts", "rank"),
    [
        ({"condition": 1.99}, (0.0, 0.0), 1),
        ({"condition": 2.01}, (0.0, 0.0), 2),
        ({"condition": 1.0}, (0.0, 0.0), 1),
        ({"rank": 1}, (9.0, 9.0), 1),
        ({"rank": 2}, (9.0, 0.0), 2),
        # Squares less two each: the largest sum, and at least one direction.
        ({}, (3.0, 1.4), 1),
        ({}, (3.0, 1.5), 2),
        ({}, (1.0, 2.0), 2),
        ({}, (1.0, 1.7), 1),
        ({}, (0.0, 0.0), 1),
    ],
)
def test_directions_that_are_kept(
    options: dict[str, float], parts: tuple[float, float], rank: int
) -> None:
    A, t = directions(*parts)
    assert Truncated(**options)._rank(A, t) == rank  # type: ignore[arg-type]
    same = A[:, [0, 0]]
    assert Truncated(rank=2)._rank(same, t) == 1  # the second shows nothing new


def test_solution_in_the_first_direction() -> None:
    """Along the sum of unit columns, x₁/|a₁| = x₂/|a₂|, and its length by least squares."""
    A, t = directions(2.0, 7.0)
    found = truncated(A, t, 1)
    fitted = A @ found.x
    np.testing.assert_allclose(found.x * [3.0, 1.0], found.x[1], rtol=1e-12)
    np.testing.assert_allclose(fitted[:2], 2.0 * np.array([1.6, 0.8]) / np.sqrt(3.2), rtol=1e-12)
    np.testing.assert_allclose(np.sum(found.leverage), 1.0)
    np.testing.assert_allclose(found.covariance[1, 1], 0.5 / 1.6)


def test_no_penalty_is_least_squares() -> None:
    r = replace(case(9, NOISE).regression, noise=NOISE)
    free, plain = Ridge(0.0, noise="declared")(r), WeightedLeastSquares("declared")(r)
    np.testing.assert_allclose(free.values, plain.values, rtol=1e-12)
    assert free.known == ("penalty 0 (given), towards zero",)
    assert "generalised cross-validation" in Ridge()(r).known[0]
