"""Standard deviations by parts of the motion keep parameters and offsets together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, t

from mechid.estimation import jackknife
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.map_posterior import Posterior
from mechid.estimation.regression import Floats, joined

from .test_channel_errors import PHI, PRIOR, measured

PARTS = 10
STUDENT = float(t.ppf(0.975, PARTS - 1) / norm.ppf(0.975))


def problem() -> tuple[Estimate, Posterior]:
    """Return an estimate with offsets; the first force has a column that is nearly constant."""
    r = measured(0)
    W = r.W.copy()
    W[..., 0] = np.array([1.0, 0.0, 0.0]) + 0.05 * W[..., 0]
    r = replace(r, W=W, tau=r.tau + (W - r.W) @ PHI)
    estimator = MaximumAPosteriori(offsets="estimated")
    posterior = estimator.posterior(r, PRIOR)
    return estimator.estimate(posterior), posterior


def together(estimate: Estimate, force: int) -> Floats:
    """Return the covariance of the parameters and the offset of a force."""
    errors = estimate.errors
    assert errors is not None
    assert errors.cross is not None
    c = errors.cross[:, [force]]
    return np.block(
        [[estimate.covariance, c], [c.T, np.array([[errors.sigma_offset[force] ** 2]])]]
    )


def test_a_log_that_is_left_out_takes_its_offsets_with_it() -> None:
    """Offsets of two logs that are alike are about as certain as those of one."""
    offsets = np.array([5.0, 0.0, -3.0])
    one, other = (replace(measured(k), tau=measured(k).tau + offsets) for k in range(2))
    sigma = []
    for r in (one, joined([one, other])):
        estimator = MaximumAPosteriori(offsets="estimated")
        posterior = estimator.posterior(r, PRIOR)
        found = jackknife.with_jackknife(estimator.estimate(posterior), posterior, noise=True)
        assert found.errors is not None
        sigma.append(found.errors.sigma_offset)
    assert np.all(np.array(sigma) < 0.002)


@pytest.mark.parametrize("seed", range(8))
def test_correlations_stay(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those with offsets, without which variances of predicted forces would be negative."""
    plain, posterior = problem()
    assert plain.errors is not None
    before = np.append(plain.sigma, plain.errors.sigma_offset)
    times = np.exp(np.random.default_rng(seed).standard_normal(len(before)))
    monkeypatch.setattr(jackknife, "_spread", lambda *_: (times * before / STUDENT, PARTS))
    found = jackknife.with_jackknife(plain, posterior, noise=True)
    assert found.errors is not None
    after = np.append(found.sigma, found.errors.sigma_offset)
    np.testing.assert_allclose(after, np.maximum(times, 1.0) * before)
    for j in range(3):
        pair = []
        for estimate in (plain, found):
            both = together(estimate, j)
            size = np.sqrt(np.diag(both))
            pair.append(both / np.outer(size, size))
        np.testing.assert_allclose(pair[0], pair[1], atol=1e-12)
    assert np.all(predict(found, posterior.channels.regression).sigma > 0)
