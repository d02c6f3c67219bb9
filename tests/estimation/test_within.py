"""Covariances that are no larger than another one in any direction, or the rest."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.estimation.gaussian_prior import less, within

SIZES = np.array([1e-3, 1.0, 50.0, 2.0])


def drawn(rng: np.random.Generator, columns: int = 4) -> np.ndarray:
    return SIZES[:, None] * rng.standard_normal((4, columns))


def smallest(covariance: np.ndarray) -> float:
    return float(np.linalg.eigvalsh(covariance / np.outer(SIZES, SIZES))[0])


def square(root: np.ndarray) -> np.ndarray:
    return root @ root.T


@pytest.mark.parametrize("seed", range(10))
def test_it_is_no_larger_than_either(seed: int) -> None:
    rng = np.random.default_rng(seed)
    F, root = drawn(rng, 5), drawn(rng, 3)
    low = square(within(F, root))
    for one in (square(F), square(root)):
        assert smallest(one - low) > -1e-9


@pytest.mark.parametrize("seed", range(10))
def test_the_smaller_one_of_two(seed: int) -> None:
    rng = np.random.default_rng(seed)
    F = drawn(rng)
    more = np.hstack([F, drawn(rng, 2)])
    scale = np.outer(SIZES, SIZES)
    np.testing.assert_allclose(square(within(F, more)) / scale, square(F) / scale, atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_what_one_has_more_than_another(seed: int) -> None:
    """Of a sum the other term is left, and nothing of what is smaller in all directions."""
    rng = np.random.default_rng(seed)
    F, other = drawn(rng), drawn(rng, 2)
    both = np.hstack([F, other])
    scale = np.outer(SIZES, SIZES)
    np.testing.assert_allclose(square(less(both, F)) / scale, square(other) / scale, atol=1e-7)
    np.testing.assert_allclose(less(F, both) / SIZES[:, None], 0.0, atol=1e-6)


def test_what_is_known_exactly() -> None:
    F, root = np.diag([0.0, 2.0]), np.diag([0.0, 3.0])
    np.testing.assert_allclose(square(within(F, root)), np.diag([0.0, 4.0]))
