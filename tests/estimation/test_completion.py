"""All parameters from base values, where exact values contradict them."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.completion import complete
from mechid.estimation.prior import Prior


def coefficients(matrix: object, values: object, P: object) -> Prior:
    B = np.atleast_2d(np.asarray(matrix, dtype=float))
    names = tuple(f"k{i}" for i in range(B.shape[1]))
    base = tuple(f"b{i}" for i in range(len(B)))
    return Prior(names, base, B, np.asarray(values, dtype=float), np.asarray(P, dtype=float))


def test_the_uncertain_ones_move() -> None:
    """a + b = 10 where 1 + 3 is declared, with variances 0.04 and 0.08: 2 and 4 of the 6."""
    known = coefficients([1.0, 1.0], [1.0, 3.0], np.diag([0.04, 0.08]))
    found = complete(known, np.array([10.0]))
    np.testing.assert_allclose(found.phi, [3.0, 7.0])
    np.testing.assert_allclose(found.gain, [[1 / 3], [2 / 3]])
    # Of a - b nothing is said: covariance of a given the sum is 0.04 · 0.08/0.12.
    np.testing.assert_allclose(found.rest @ found.rest.T, 0.08 / 3 * np.array([[1, -1], [-1, 1]]))
    T = found.root(np.array([[0.09]]), 2.0)
    np.testing.assert_allclose(
        T @ T.T, 0.01 * np.array([[1, 2], [2, 4]]) + 0.32 / 3 * np.array([[1, -1], [-1, 1]])
    )
    assert found.warnings == ()


def test_exact_values_that_contradict_are_relaxed() -> None:
    """By 20 % of those without a standard deviation: the others keep theirs."""
    known = coefficients(np.eye(2), [5.0, 3.0], np.diag([0.0, 0.01]))
    found = complete(known, np.array([5.5, 3.2]))
    np.testing.assert_allclose(found.phi, [5.5, 3.2])
    assert "relaxed" in found.warnings[0]
    both = coefficients([[1.0, 1.0], [1.0, 1.0]], [5.0, 3.0], np.diag([0.0, 0.25]))
    found = complete(both, np.array([9.0, 9.0]))
    assert found.warnings == ()
    np.testing.assert_allclose(found.phi, [5.0, 4.0])


def test_correlated_values_that_contradict_are_relaxed_slightly() -> None:
    """Both move together as declared, and by 0.2 % of their values as the data say."""
    known = coefficients(np.eye(2), [5.0, 3.0], np.ones((2, 2)))
    found = complete(known, np.array([6.0, 2.0]))
    np.testing.assert_allclose(found.phi, [6.0, 2.0], rtol=1e-6)
    assert "relaxed" in found.warnings[0]
    one = coefficients([[1.0, -1.0]], [5.0, 3.0], np.ones((2, 2)))
    found = complete(one, np.array([3.0]))
    # Errors of 0.002 of 5 and of 3: 25 to 9 of the change of one.
    np.testing.assert_allclose(found.phi, [5 + 25 / 34, 3 - 9 / 34], atol=1e-6)


def test_base_values_that_nothing_has() -> None:
    known = coefficients(np.eye(2), [0.0, 3.0], np.zeros((2, 2)))
    with pytest.raises(DataError, match="no parameters of the model have these base values"):
        complete(known, np.array([1.0, 3.0]))
    with pytest.raises(DataError, match=r"base values must have shape \(2,\), got \(3,\)"):
        complete(known, np.zeros(3))
    with pytest.raises(DataError, match="the base value of b1 must be finite"):
        complete(known, np.array([0.0, np.nan]))
