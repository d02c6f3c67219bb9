"""Validation of one model on another motion, and the intervals of its parameters."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from mechid.errors import DataError
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.validation.validate import coverage, validate

from .problems import problem

X = np.array([2.0, -1.0, 0.5])
OLS = OrdinaryLeastSquares()


def test_another_motion() -> None:
    estimate = OLS(problem(X, noise=0.1, seed=1, samples=400))
    other = problem(X, noise=0.1, seed=2, samples=300)
    found = validate(estimate, other)
    # Only noise is left: E_p is noise over force, and 95 % of the forces lie in the intervals.
    expected = 0.1 / np.sqrt(np.mean(other.tau**2, axis=0))
    np.testing.assert_allclose(found.errors.prediction, expected, rtol=0.15)
    np.testing.assert_allclose(found.coverage, 0.95, atol=0.04)
    assert (found.whiteness.p > 1e-3).all()
    A = other.W.reshape(-1, 3)
    A = A / np.linalg.norm(A, axis=0)
    assert found.condition == pytest.approx(np.linalg.cond(A))


def test_a_missing_parameter_is_seen_in_the_residuals() -> None:
    r = problem(X, noise=0.1, seed=1, samples=400)
    slow = np.sin(np.linspace(0, 20, 400))[:, None]
    r = replace(r, tau=r.tau + slow)
    found = validate(OLS(r), r)
    assert (found.whiteness.p < 1e-6).all()


def test_coverage_by_hand() -> None:
    e = np.array([[0.0, np.nan], [1.9, np.nan], [-2.1, np.nan]])
    found = coverage(e, np.ones((3, 2)), 0.95)
    assert found[0] == pytest.approx(2 / 3)
    assert np.isnan(found[1])
    np.testing.assert_array_equal(coverage(e[:, :1], np.full((3, 1), np.nan)), 0.0)
    with pytest.raises(DataError, match="level"):
        coverage(e, np.ones((3, 2)), 95)


def test_intervals_of_parameters_cover_the_truth() -> None:
    estimates = [OLS(problem(X, noise=0.3, seed=seed)) for seed in range(300)]
    inside = [np.abs(e.values - X) <= norm.ppf(0.95) * e.sigma for e in estimates]
    # 900 intervals of 90 %: the standard deviation of the part that holds is 0.01.
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)
