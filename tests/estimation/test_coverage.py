"""Deviations are honest: over many seeds, errors in units of their deviation spread by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, chi2

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimator import Estimator
from mechid.estimation.huber import Huber
from mechid.estimation.instrumental import InstrumentalVariables
from mechid.estimation.least_squares import OrdinaryLeastSquares, WeightedLeastSquares
from mechid.estimation.posterior.estimator import JointPosterior

from .problems import Case, case

pytestmark = pytest.mark.slow

SEEDS = 60
NOISE = np.array([0.1, 1.0, 3.0])
AUTO_SEEDS = 6  # of the posterior, which takes longer
CALIBRATED = JointPosterior("gains")
AR = (1.2, -0.5)
M = MaximumAPosteriori


def heavy(seed: int) -> Case:
    """Return a problem with Student's noise of four degrees of freedom, of scale `NOISE`."""
    made = case(seed, 0.0, n=300)
    rng = np.random.default_rng([seed, 1])
    noise = NOISE * rng.standard_t(4, made.regression.tau.shape)
    return replace(made, regression=replace(made.regression, tau=made.regression.tau + noise))


def spoiled(seed: int) -> Case:
    """Return a problem with normal noise and one value in twenty far off: no Student's law."""
    made = case(seed, NOISE, n=300)
    rng = np.random.default_rng([seed, 1])
    shape = made.regression.tau.shape
    off = 20 * NOISE * rng.standard_normal(shape) * (rng.random(shape) < 0.05)
    return replace(made, regression=replace(made.regression, tau=made.regression.tau + off))


HONEST: dict[str, tuple[Estimator, Callable[[int], Case]]] = {
    "ols": (OrdinaryLeastSquares(), lambda s: case(s, NOISE)),
    "weighted": (WeightedLeastSquares(), lambda s: case(s, NOISE)),
    "weighted, gaps": (WeightedLeastSquares(), lambda s: case(s, NOISE, missing=0.3)),
    "weighted, coloured": (
        WeightedLeastSquares(whiten=True), lambda s: case(s, NOISE, n=300, ar=AR)),
    "weighted, coloured, gaps": (
        WeightedLeastSquares(whiten=True), lambda s: case(s, NOISE, n=300, ar=AR, missing=0.1)),
    "weighted, white but whitened": (
        WeightedLeastSquares(whiten=True), lambda s: case(s, NOISE, n=300)),
    "huber": (Huber(), lambda s: case(s, NOISE, n=300)),
    "iv": (InstrumentalVariables(), lambda s: case(s, NOISE, n=300, blur=0.3)),
    "map, diagonal": (M(scale=1.0), lambda s: case(s, NOISE)),
    "map, full": (M(prior="full", scale=1.0), lambda s: case(s, NOISE, correlated=True)),
    "map, scaled": (M(), lambda s: case(s, NOISE, wrong=4.0)),
    "map, coloured": (M(whiten=True), lambda s: case(s, NOISE, n=300, ar=AR)),
    "map, offsets": (
        M(scale=1.0, offsets=0.1, whiten=True), lambda s: case(s, NOISE, n=200, offset=0.1, ar=AR)),
    "auto, white": (CALIBRATED, lambda s: case(s, NOISE, n=200, correlated=True)),
    "auto, coloured": (CALIBRATED, lambda s: case(s, NOISE, n=300, ar=AR)),
    "auto, heavy tails": (CALIBRATED, heavy),
    "auto, outliers": (CALIBRATED, spoiled),
    "auto, CAD values worse than declared": (
        CALIBRATED, lambda s: case(s, NOISE, n=200, wrong=4.0)),
    "auto, gains and offsets": (
        JointPosterior(), lambda s: case(s, NOISE, n=200, gain=0.05, offset=0.1)),
}  # fmt: skip

# The same data without the remedy: what the warnings are for.
DISHONEST: dict[str, tuple[Estimator, Callable[[int], Case]]] = {
    "coloured": (WeightedLeastSquares(), lambda s: case(s, NOISE, n=300, ar=AR)),
    "blurred": (WeightedLeastSquares(), lambda s: case(s, NOISE, n=300, blur=0.3)),
    "gains": (M(scale=1.0), lambda s: case(s, NOISE, n=200, gain=0.05)),
    "too narrow a prior": (M(scale=1.0), lambda s: case(s, 10 * NOISE, wrong=4.0)),
    "auto, gains that are said not to be there": (
        CALIBRATED,
        lambda s: case(s, NOISE, n=200, gain=0.05),
    ),
}


def scores(estimator: Estimator, make: Callable[[int], Case]) -> np.ndarray:
    """Return (value - truth)/σ, (seeds, b)."""
    found = []
    for seed in range(AUTO_SEEDS if isinstance(estimator, JointPosterior) else SEEDS):
        made = make(seed)
        e = estimator(made.regression, made.prior)
        found.append((e.values - made.phi) / e.sigma)
    return np.array(found)


@pytest.mark.parametrize("name", HONEST)
def test_intervals_cover_as_often_as_they_claim(name: str) -> None:
    z = scores(*HONEST[name])
    # Parameters of one problem are hardly correlated: about as many independent trials as numbers.
    n = z.size
    inside = np.count_nonzero(np.abs(z) < 1.96)
    # Noise that is estimated from few rows, or with many options, costs up to two percent.
    assert binom.ppf(1e-4, n, 0.93) <= inside <= binom.ppf(1 - 1e-4, n, 0.97)
    low, high = np.sqrt(chi2.ppf([1e-4, 1 - 1e-4], n) / n)
    assert 0.95 * low < np.sqrt(np.mean(z**2)) < 1.07 * high
    assert np.abs(np.mean(z)) < 4 / np.sqrt(n)


@pytest.mark.parametrize("name", DISHONEST)
def test_without_the_remedy_they_do_not(name: str) -> None:
    z = scores(*DISHONEST[name])
    assert np.count_nonzero(np.abs(z) < 1.96) < binom.ppf(1e-4, z.size, 0.93)
