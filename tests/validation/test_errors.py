"""Errors of forces against numbers computed by hand, and identities."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechid.errors import DataError
from mechid.estimation.regression import Regression
from mechid.validation.errors import force_errors, prediction_error

from .problems import problem


def by_hand(tau: np.ndarray, valid: np.ndarray | None = None) -> Regression:
    n, n_d = tau.shape
    return Regression(
        np.zeros((n, n_d, 1)),
        tau,
        np.zeros((n, n_d)),
        np.arange(n, dtype=float),
        ("p",),
        tuple(f"F{j}" for j in range(n_d)),
        ("N",) * n_d,
        np.ones((n, n_d), dtype=bool) if valid is None else valid,
    )


def test_by_hand() -> None:
    # First force 3, 5 → mean 4; predicted 3, 1: error 0, -4. Second -1, 1; predicted 0, 0.
    r = by_hand(np.array([[3.0, -1.0], [5.0, 1.0]]))
    e = force_errors(np.array([[3.0, 0.0], [1.0, 0.0]]), r)
    np.testing.assert_allclose(e.rms, [np.sqrt(8.0), 1.0])
    np.testing.assert_allclose(e.prediction, [4 / np.sqrt(34.0), 1.0])
    assert e.total == pytest.approx(4 / np.sqrt(34.0) + 1)
    np.testing.assert_allclose(e.absolute, [4 / 2, 2 / 2])
    np.testing.assert_allclose(e.r2, [1 - 16 / 2, 1 - 2 / 2])
    # Both forces: ‖(0, -4, 1, -1)‖/‖(3, 5, -1, 1)‖.
    assert e.overall == {"N": pytest.approx(np.sqrt(18 / 36))}
    # All rows together: mean 2, |τ - mean| = 1, 3, 3, 1; errors 0, 4, 1, 1.
    assert e.stacked_absolute == pytest.approx(6 / 8)


def test_overall_errors_keep_units_apart() -> None:
    """A force that is hardly used does not dominate: 158 % and 2 % are 2 % overall."""
    r = by_hand(np.array([[100.0, 0.01, 3.0], [-100.0, 0.01, 4.0]]))
    r = replace(r, units=("N", "N", "N m"))
    e = force_errors(r.tau + np.array([[2.0, 0.0158, 0.0], [-2.0, 0.0158, 1.0]]), r)
    assert e.prediction[1] == pytest.approx(1.58)
    assert e.overall["N"] == pytest.approx(0.02, rel=1e-4)
    assert e.overall["N m"] == pytest.approx(1 / 5)


def test_what_is_not_valid_is_not_read() -> None:
    valid = np.array([[True, False], [True, False], [False, False]])
    r = by_hand(np.array([[3.0, np.nan], [4.0, np.nan], [np.inf, 1.0]]), valid)
    e = force_errors(np.array([[3.0, 0.0], [5.0, 0.0], [9.0, 9.0]]), r)
    assert e.prediction[0] == pytest.approx(1 / 5)
    assert e.rms[0] == pytest.approx(np.sqrt(0.5))
    for row in (e.prediction, e.rms, e.absolute, e.r2):
        assert np.isnan(row[1])
    assert e.total == pytest.approx(1 / 5)


def test_exact_forces_have_no_error() -> None:
    x = np.array([1.0, -2.0, 0.5])
    r = problem(x, known=3.0)
    e = force_errors(r.W @ x + r.known, r)
    assert e.total == 0
    assert e.stacked_absolute == 0
    np.testing.assert_array_equal(e.r2, 1.0)


def test_nothing_predicted_is_all_missed() -> None:
    r = problem(np.array([1.0, 2.0]))
    np.testing.assert_allclose(force_errors(np.zeros_like(r.tau), r).prediction, 1.0)
    mean = np.broadcast_to(r.tau.mean(axis=0), r.tau.shape)
    e = force_errors(mean, r)
    np.testing.assert_allclose(e.r2, 0.0, atol=1e-12)
    np.testing.assert_allclose(e.absolute, 1.0)


def test_a_force_of_zeros() -> None:
    r = by_hand(np.zeros((3, 1)))
    assert force_errors(np.zeros((3, 1)), r).total == 0
    assert force_errors(np.ones((3, 1)), r).total == np.inf


@given(st.integers(0, 10_000), st.floats(1e-3, 1e3))
def test_units_of_a_force_do_not_matter(seed: int, unit: float) -> None:
    r = problem(np.array([1.0, 2.0]), noise=1.0, seed=seed)
    forces = r.W @ np.array([1.1, 1.7])
    scaled = replace(r, tau=r.tau * np.array([1.0, unit]))
    a, b = force_errors(forces, r), force_errors(forces * np.array([1.0, unit]), scaled)
    np.testing.assert_allclose(a.prediction, b.prediction)
    np.testing.assert_allclose(a.absolute, b.absolute)
    np.testing.assert_allclose(a.r2, b.r2)


def test_several_models_at_once() -> None:
    r = problem(np.array([1.0, 2.0]), noise=0.3)
    many = np.stack([r.W @ np.array([1.0, k]) for k in (1.0, 2.0, 3.0)])
    each = [prediction_error(forces, r.tau, r.valid) for forces in many]
    np.testing.assert_allclose(prediction_error(many, r.tau, r.valid), each)


def test_other_shapes_are_refused() -> None:
    r = problem(np.array([1.0]))
    with pytest.raises(DataError, match="must have shape"):
        force_errors(r.tau[:-1], r)
