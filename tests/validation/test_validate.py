"""Validation of one model, comparison of several, tables of parameters."""

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.estimate import predict
from mechid.estimation.ols import OrdinaryLeastSquares
from mechid.validation.compare import cad_estimate, compare
from mechid.validation.parameters import parameter_table
from mechid.validation.validate import coverage, validate

from .problems import knowing, problem

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


def test_models_on_motions() -> None:
    r = problem(X, noise=0.1, seed=1, samples=200)
    motions = {"used": r, "other": problem(X, seed=2)}
    prior = knowing(1.2 * X, 0.1)
    models = {"ols": OLS(r), "cad": cad_estimate(r, prior)}
    found = compare(models, motions)
    assert found.total.shape == (2, 2)
    assert found.sizes == (3, 3)
    assert found.best("other") == "ols"
    # All CAD values are 20 % too large, so are the forces.
    np.testing.assert_allclose(found.prediction[1, 1], 0.2)
    forces = predict(models["ols"], r).forces
    e = np.linalg.norm(forces - r.tau, axis=0) / np.linalg.norm(r.tau, axis=0)
    np.testing.assert_allclose(found.prediction[0, 0], e)
    with pytest.raises(DataError, match="no motion third"):
        found.best("third")


def test_cad_values_are_a_model() -> None:
    r = problem(X, noise=0.1, seed=1, samples=300)
    found = cad_estimate(r, knowing(X, 0.2))
    np.testing.assert_array_equal(found.values, X)
    np.testing.assert_allclose(found.sigma, 0.2)
    np.testing.assert_allclose(found.noise, 0.1, rtol=0.15)
    np.testing.assert_allclose(found.residuals, r.tau - r.W @ X)


def test_nothing_to_compare() -> None:
    r = problem(X)
    with pytest.raises(DataError, match="nothing to compare"):
        compare({}, {"used": r})
    with pytest.raises(DataError, match="same forces"):
        compare({"ols": OLS(r)}, {"a": r, "b": problem(X, channels=1)})


def test_parameter_table() -> None:
    r = problem(X, noise=0.1, seed=1)
    estimate = OLS(r)
    table = parameter_table(estimate, knowing(1.1 * X), {"p00": 2.0, "p02": 0.5})
    np.testing.assert_allclose(table.cad, 1.1 * X)
    np.testing.assert_array_equal(table.true, [2.0, np.nan, 0.5])
    np.testing.assert_allclose(table.z[0], (estimate.values[0] - 2.0) / estimate.sigma[0])
    assert np.isnan(table.z[1])
    np.testing.assert_allclose(table.relative, 100 * estimate.sigma / np.abs(estimate.values))
    with pytest.raises(DataError, match="no true value"):
        parameter_table(estimate).covered()


def test_intervals_of_parameters_cover_the_truth() -> None:
    true = {f"p{i:02d}": x for i, x in enumerate(X)}
    inside = [
        parameter_table(OLS(problem(X, noise=0.3, seed=seed)), true=true).covered(0.9)
        for seed in range(300)
    ]
    # 900 intervals of 90 %: the standard deviation of the part that holds is 0.01.
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)
