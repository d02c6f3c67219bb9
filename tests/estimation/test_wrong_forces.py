"""Sets of forces that may be off, against dense normal densities."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.gaussian_prior import CHANNEL_BELIEF, GaussianPrior
from mechid.estimation.linear import reduced
from mechid.estimation.uncertain_scales import with_uncertain_scales
from mechid.estimation.wrong_forces import CALIBRATED, LARGE, WrongForces, wrong_forces

from .problems import prior, regression

OFF = 0.05
PHI = np.array([2.0, -1.0, 0.5])


def rows(n_d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, GaussianPrior]:
    """Return rows of three parameters and the gains of some forces; the first is 8 % off."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(20, n_d, 3))
    forces = W @ PHI
    gain = np.zeros((20, n_d, n_d))
    gain[:, range(n_d), range(n_d)] = forces
    A = np.concatenate([W, gain], axis=2).reshape(20 * n_d, -1) / 0.05
    g = 0.08 * (np.arange(n_d) == 0)
    t = A @ np.concatenate([PHI, g]) + rng.normal(size=len(A))
    mean = np.concatenate([1.05 * PHI, np.zeros(n_d)])
    F = np.diag(np.concatenate([0.05 * np.abs(PHI), np.full(n_d, OFF)]))
    group = np.array([-1] * 3 + [0] * n_d)
    return A, t, GaussianPrior(mean, F, 3, group, np.array([1.7]), (CHANNEL_BELIEF,))


def found_in(A: np.ndarray, t: np.ndarray, gaussian: GaussianPrior) -> WrongForces:
    n_d = A.shape[1] - 3
    data = reduced(A, t, gaussian.mean)
    return wrong_forces(data, gaussian, slice(3, 3 + n_d), np.ones(n_d, dtype=bool), (OFF,))


def deviations(prior: GaussianPrior) -> np.ndarray:
    return np.sqrt(np.diag(prior.factor @ prior.factor.T))


def test_probabilities_are_those_of_dense_densities() -> None:
    n = 4
    A, t, gaussian = rows(n)
    found = found_in(A, t, gaussian)
    expected = {}
    for m in range(n + 1):
        for off in combinations(range(n), m):
            sigma = np.concatenate(
                [0.05 * np.abs(PHI), np.where(np.isin(range(n), off), 0.05, 0.01)]
            )
            K = np.eye(len(t)) + (A * sigma**2) @ A.T
            density = multivariate_normal.logpdf(t, A @ gaussian.mean, K)
            expected[off] = density - np.log(n + 1) - np.log(comb(n, m))
    whole = np.logaddexp.reduce(list(expected.values()))
    best = max(expected, key=lambda off: expected[off])
    np.testing.assert_allclose(
        deviations(found.priors[0])[3:], np.where(np.isin(range(n), best), OFF, CALIBRATED)
    )
    np.testing.assert_allclose(deviations(found.widest)[3:], OFF)
    each = [sum(np.exp(p - whole) for off, p in expected.items() if j in off) for j in range(n)]
    np.testing.assert_allclose(found.off, each, rtol=1e-9)
    assert found.off[0] > 0.95
    # Those in use are the most probable ones, and together nearly all.
    by_size = np.sort(np.exp(np.array(list(expected.values())) - whole))[::-1][: len(found.weights)]
    assert by_size.sum() >= 0.98
    np.testing.assert_allclose(found.weights, by_size / by_size.sum(), rtol=1e-9)
    # What is known of the parameters is the same in all of them.
    for one in found.priors:
        np.testing.assert_allclose(deviations(one)[:3], 0.05 * np.abs(PHI))


@pytest.mark.parametrize("used", [[True, True, False], [False, True, True]])
def test_a_force_without_samples_says_nothing(used: list[bool]) -> None:
    A, t, gaussian = rows(3)
    here = np.repeat([used], 20, axis=0).ravel()
    data = reduced(A[here], t[here], gaussian.mean)
    found = wrong_forces(data, gaussian, slice(3, 6), np.array(used), (OFF,))
    assert np.array_equal(np.isfinite(found.off), used)


def test_of_many_forces_few_are_off_or_all() -> None:
    A, t, gaussian = rows(10)
    found = found_in(A, t, gaussian)
    assert found.off[0] > 0.99
    number = {int(np.sum(deviations(p)[3:] > 0.02)) for p in found.priors}
    assert number <= {0, 1, 2, 10}


def test_an_estimate_is_the_mean_over_the_sets() -> None:
    """Values from the dense posterior of each set; gains twice as large count in the covariance."""
    rng = np.random.default_rng(5)
    r = regression(rng, PHI, 0.05, n=40, n_d=3)
    known = prior(1.03 * PHI, np.diag((0.05 * PHI) ** 2))
    estimator = MaximumAPosteriori("full", 1.0, gains="shared", name="auto")
    posterior = estimator.posterior(r, known)
    plain = estimator.estimate(posterior)
    found = with_uncertain_scales(plain, posterior, patterns=True)
    A, t, x0 = posterior.fit.A, posterior.fit.t, posterior.gaussian.mean
    log, x, P = [], [], []
    for size, m in product((OFF, LARGE), range(4)):
        for off in combinations(range(3), m):
            sigma = np.concatenate(
                [0.05 * np.abs(PHI), np.where(np.isin(range(3), off), size, 0.01)]
            )
            K = np.eye(len(t)) + (A * sigma**2) @ A.T
            log.append(multivariate_normal.logpdf(t, A @ x0, K) - np.log(comb(3, m)))
            P.append(np.linalg.inv(A.T @ A + np.diag(sigma**-2)))
            x.append(x0 + P[-1] @ A.T @ (t - A @ x0))
    usual = np.array(log[:8])
    mean = np.exp(usual - np.logaddexp.reduce(usual)) @ np.array(x[:8])
    w = np.exp(np.array(log) - np.logaddexp.reduce(log))
    spread = np.array(x) - mean
    covariance = np.einsum("k,kij->ij", w, np.array(P)) + (spread.T * w) @ spread
    # Sets of the last 2 % of probability are left out.
    np.testing.assert_allclose(
        found.values, mean[:3], atol=0.05 * np.sqrt(covariance.diagonal()[:3]).min()
    )
    np.testing.assert_allclose(found.sigma, np.sqrt(covariance.diagonal()[:3]), rtol=0.05)
    assert with_uncertain_scales(plain, posterior) is plain
