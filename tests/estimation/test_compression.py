"""Compressed problems give what all rows give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.compression import Compression, compressible
from mechid.estimation.estimator import Estimator
from mechid.estimation.least_squares import OrdinaryLeastSquares, WeightedLeastSquares
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression

from .problems import regression

PHI = np.array([1.0, -2.0, 0.5, 3.0])
ESTIMATORS = (
    OrdinaryLeastSquares(),
    WeightedLeastSquares(),
    MaximumAPosteriori(scale=1.0),
    MaximumAPosteriori(prior="full", scale=1.0),
    MaximumAPosteriori(),
)


def problem(missing: float = 0.0) -> Regression:
    rng = np.random.default_rng(0)
    return regression(rng, PHI, [0.1, 1.0, 0.3], n=200, known=0.5, missing=missing)


def histories(r: Regression, k: int = 3) -> Floats:
    rng = np.random.default_rng(1)
    return r.tau + rng.normal(size=(k, *r.tau.shape)) * np.array([0.1, 1.0, 0.3])


def prior() -> Prior:
    L = np.tril(np.random.default_rng(2).normal(size=(4, 4)))
    names = tuple(f"p{i}" for i in range(4))
    return Prior(names, names, np.eye(4), PHI + 0.3, 0.1 * L @ L.T)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_same_as_all_rows(estimator: Estimator, missing: float) -> None:
    r = problem(missing)
    tau = histories(r)
    small = Compression.of(r)
    assert small is not None
    for each, compressed in zip(tau, small.problems(tau), strict=True):
        assert compressed.W.shape == (5, 3, 4)
        one = estimator(replace(r, tau=each), prior())
        two = estimator(compressed, prior())
        np.testing.assert_allclose(two.values, one.values, rtol=1e-9)
        np.testing.assert_allclose(two.covariance, one.covariance, rtol=1e-8, atol=1e-14)
        np.testing.assert_allclose(two.noise, one.noise, rtol=1e-9)
        np.testing.assert_allclose(two.condition, one.condition, rtol=1e-9)


def test_declared_noise_is_kept() -> None:
    r = replace(problem(), noise=np.array([0.5, 2.0, 1.0]))
    small = Compression.of(r)
    assert small is not None
    estimator = WeightedLeastSquares(noise="declared")
    (compressed,) = small.problems(r.tau[None])
    np.testing.assert_allclose(estimator(compressed).values, estimator(r).values, rtol=1e-9)


def test_too_few_rows_are_not_compressed() -> None:
    assert Compression.of(problem().part(slice(0, 5))) is None


def test_forces_must_be_finite() -> None:
    r = problem()
    small = Compression.of(r)
    assert small is not None
    with pytest.raises(DataError, match="f1 is not finite"):
        list(small.problems(np.where(np.arange(3) == 1, np.nan, r.tau)[None]))


def test_what_needs_the_order_in_time() -> None:
    assert all(compressible(e) for e in ESTIMATORS)
    assert not any(
        compressible(e)
        for e in (
            JointPosterior(),
            OrdinaryLeastSquares(offsets="estimated"),
            WeightedLeastSquares(whiten=True),
            MaximumAPosteriori(offsets="estimated"),
            MaximumAPosteriori(whiten=True),
        )
    )
