"""Problems without numbers whose prior stays: the same answer as with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag

from mechid.estimation.eliminated import eliminated
from mechid.estimation.evidence import log_density
from mechid.estimation.gaussian_prior import GaussianPrior, with_root
from mechid.estimation.linear import Solution, reduced
from mechid.estimation.uncertain_scales import _evenly, _mixture


def problem(seed: int, m: int, p: int) -> tuple[np.ndarray, np.ndarray, GaussianPrior]:
    """Return rows, and a prior of four parameters (rank three), two gains and p other numbers."""
    rng = np.random.default_rng(seed)
    F = block_diag(rng.normal(size=(4, 3)), np.diag([0.1, 0.2]), np.diag(rng.uniform(1, 2, p)))
    group = np.concatenate([[0, 0, 0], [1, 1], np.full(p, 2 if p else -1)])
    scale = np.array([1.5, 0.7, 2.0])
    gaussian = GaussianPrior(rng.normal(size=6 + p), F, 3, group, scale, ())
    return rng.normal(size=(m, 6 + p)), rng.normal(size=m), gaussian


@pytest.mark.parametrize(("m", "p"), [(60, 9), (8, 9), (3, 2), (60, 0)])
def test_the_whole_solution(m: int, p: int) -> None:
    A, t, gaussian = problem(m, m, p)
    data = reduced(A, t, gaussian.mean)
    part = eliminated(data, gaussian, 6)
    assert part.gaussian.F.shape == (6, 5)
    assert part.gaussian.parameters == 3
    densities = []
    # With other priors of the first numbers the rest stays as it is.
    for size in (1.0, 3.0):
        scale = gaussian.scale * [size, 1 / size, 1.0]
        wide, small = (replace(g, scale=scale) for g in (gaussian, part.gaussian))
        x, T = with_root(data, wide)
        own, root = with_root(part.data, small)
        found = part.whole(Solution(own, root, np.zeros(0), np.zeros((0, 6))))
        np.testing.assert_allclose(found.x, x, atol=1e-10)
        np.testing.assert_allclose(found.covariance, T @ T.T, atol=1e-10)
        densities.append(log_density(data, wide) - log_density(part.data, small))
    assert densities[0] == pytest.approx(densities[1], abs=1e-10)


def test_what_is_left_of_the_rows() -> None:
    """Sums of squares stay: what nothing explains, and what the eliminated numbers explain."""
    A, t, gaussian = problem(1, 60, 9)
    data = reduced(A, t, gaussian.mean)
    part = eliminated(data, gaussian, 6)
    whole = data.outside + data.y @ data.y
    assert part.data.outside + part.data.y @ part.data.y + part.shift @ part.shift == (
        pytest.approx(whole)
    )


def test_thousands_of_parts() -> None:
    """Mean and covariance of a mixture, joined piece by piece, and of an even selection of it."""
    rng = np.random.default_rng(0)
    n, weights = 9000, rng.uniform(size=9000)
    weights = np.sort(weights / weights.sum())[::-1]
    means = np.column_stack([np.linspace(-1, 1, n), rng.normal(size=n)])
    roots = rng.normal(size=(n, 2, 3))
    mean = weights @ means
    off = means - mean
    covariance = np.einsum("k,kij,klj->il", weights, roots, roots) + (off.T * weights) @ off
    found = _mixture(zip(means, roots, strict=True), weights)
    np.testing.assert_allclose(found.x, mean, atol=1e-12)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-10)
    number, share = _evenly(weights)
    assert len(number) <= 4000
    assert share.sum() == pytest.approx(1)
    some = _mixture(((means[k], roots[k]) for k in number), share)
    assert np.all(np.abs(some.x - mean) < 0.05 * np.sqrt(np.diag(covariance)))
    np.testing.assert_allclose(some.covariance, covariance, rtol=0.1, atol=0.1)
    few, same = _evenly(weights[:50])
    np.testing.assert_array_equal(few, np.arange(50))
    np.testing.assert_array_equal(same, weights[:50])
