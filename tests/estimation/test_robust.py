"""Huber against a general optimiser; instrumental variables against the bias of least squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from mechid.errors import DataError
from mechid.estimation.huber import Huber
from mechid.estimation.instrumental import InstrumentalVariables, strength
from mechid.estimation.weighted import WeightedLeastSquares

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
