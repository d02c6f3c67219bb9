"""All parameters from base values, where exact values contradict them; mixtures of estimates."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.completion import complete
from mechid.estimation.gaussian_prior import CAD_BELIEF, GaussianPrior, with_root
from mechid.estimation.linear import reduced, with_prior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats
from mechid.estimation.uncertain_scales import _grid, _mixture, _scaled, _with_kinds


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


def test_a_mixture_of_estimates() -> None:
    """Mean of the covariances, and the spread of the means, of two with weights 1/4 and 3/4."""
    rng = np.random.default_rng(0)
    parts = [(rng.normal(size=3), rng.normal(size=(3, 3))) for _ in range(2)]
    weights = np.array([0.25, 0.75])
    found = _mixture(parts, weights)
    mean = 0.25 * parts[0][0] + 0.75 * parts[1][0]
    np.testing.assert_allclose(found.x, mean)
    wanted = sum(
        w * (T @ T.T + np.outer(x - mean, x - mean))
        for w, (x, T) in zip(weights, parts, strict=True)
    )
    np.testing.assert_allclose(found.covariance, wanted)


def test_scaled_kinds_of_error() -> None:
    """exp(2 u) on the covariance of each kind; errors of channels stay as they were scaled."""
    kinds = {"a": np.array([[1.0], [2.0]]), "b": np.array([[0.5, 0.0], [0.0, 3.0]])}
    declared = np.hstack(list(kinds.values()))
    P = declared @ declared.T
    F = np.zeros((3, 3))
    F[:2, :2], F[2, 2] = np.linalg.cholesky(P), 0.1
    before = GaussianPrior(
        np.arange(3.0), F, 2, np.array([0, 0, 1]), np.array([5.0, 7.0]), (CAD_BELIEF,) * 2
    )
    u = np.array([0.3, 0.9])
    wide = _scaled(_with_kinds(before, kinds), u)
    wanted = np.zeros((3, 3))
    wanted[:2, :2] = sum(np.exp(2 * s) * G @ G.T for s, G in zip(u, kinds.values(), strict=True))
    wanted[2, 2] = 0.7**2
    np.testing.assert_allclose(wide.factor @ wide.factor.T, wanted)
    rng = np.random.default_rng(1)
    A, t = rng.normal(size=(9, 3)), rng.normal(size=9)
    x, T = with_root(reduced(A, t, wide.mean), wide)
    again = with_prior(A, t, wide.mean, wide.factor)
    np.testing.assert_allclose(x, again.x)
    np.testing.assert_allclose(T @ T.T, again.covariance)


@pytest.mark.parametrize("middle", [0.6, 1.5])
def test_a_grid_integrates_a_gaussian(middle: float) -> None:
    """Two independent scales: mean and standard deviation of each, 98 % of all weights."""
    deviation = np.array([0.2, 0.3])

    def density(u: Floats) -> float:
        return -0.5 * float(np.sum(((u - middle) / deviation) ** 2)) + 100.0

    scales, weights = _grid(density, 2)
    assert np.sum(weights) == pytest.approx(1.0)
    assert np.all(np.diff(weights) <= 0)
    assert len(weights) < 25
    mean = weights @ scales
    np.testing.assert_allclose(mean, middle, atol=0.04)
    np.testing.assert_allclose(np.sqrt(weights @ (scales - mean) ** 2), deviation, rtol=0.2)


def test_a_grid_at_the_bound() -> None:
    """Scales are not made smaller than declared: all nodes are above zero."""
    scales, weights = _grid(lambda u: -10.0 * float(u[0]), 1)
    assert scales.min() > 0
    # Mean of an exponential law of rate ten, by a coarse rule of its first interval.
    assert weights @ scales[:, 0] == pytest.approx(0.1, rel=0.4)
