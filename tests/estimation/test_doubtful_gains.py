"""Gains that were not taken because the model is wrong: the uncertainty contains them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.automatic import Automatic
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.doubtful_gains import with_doubtful_gains
from mechid.estimation.estimate import Estimate

from .problems import prior as make_prior
from .test_hidden_gains import CAD, GAINS, PHI, TIME, measured

PRIOR = make_prior(1.1 * PHI, CAD)


def test_covariance_of_what_gains_would_have_done() -> None:
    """The estimate is linear in the forces: estimated again with a gain in each of them."""
    r = replace(measured(0, np.zeros(4)), noise=0.02 * np.abs(PHI[:4]))
    plain = MaximumAPosteriori("full", 1.0, noise="declared")
    posterior = plain.posterior(r, PRIOR)
    found = plain.estimate(posterior)
    wider = with_doubtful_gains(found, posterior, 0.03)
    np.testing.assert_array_equal(wider.values, found.values)
    moved = []
    for j in range(4):
        tau = r.tau.copy()
        tau[:, j] += 0.03 * (r.W @ found.values)[:, j]
        moved.append(plain(replace(r, tau=tau), PRIOR).values - found.values)
    added = wider.covariance - found.covariance
    np.testing.assert_allclose(added, np.transpose(moved) @ moved, atol=1e-9 * np.abs(added).max())
    assert "gains of the forces of about 3.0%" in wider.known[-1]


def found(seed: int, gain: np.ndarray, lacking: float) -> Estimate:
    """Return the default estimate where the model lacks a force that comes again in each period."""
    r = measured(seed, gain)
    tau = r.tau + lacking * np.abs(PHI[:4]) * np.sin(3 * (2 * np.pi * TIME[:, None] + np.arange(4)))
    off = 0.2 * np.random.default_rng(100 + seed).standard_normal(5)
    return Automatic()(replace(r, tau=tau), make_prior((1 + off) * PHI, CAD))


@pytest.mark.parametrize("seed", range(3))
def test_gains_besides_a_wrong_model(seed: int) -> None:
    estimate = found(seed, GAINS, 0.02)
    assert estimate.errors is None or not np.any(estimate.errors.gain)
    assert [word for word in estimate.known if "errors of the model look like them" in word]
    # Forces share one parameter: the others take up the gain of their own force whole.
    assert np.all(np.abs(estimate.values - PHI) < 3 * estimate.sigma)
    other = found(seed, np.zeros(4), 0.02)
    assert not [word for word in other.known if "errors of the model look like them" in word]
    assert np.all(estimate.sigma[:4] > 2 * other.sigma[:4])
