"""Gains that were not taken: the uncertainty contains them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.automatic import Automatic
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.doubtful_gains import if_calibrated, with_doubtful_gains
from mechid.estimation.estimate import DoubtedGains, Estimate, predict

from .problems import prior as make_prior
from .test_hidden_gains import CAD, GAINS, PHI, TIME, measured

PRIOR = make_prior(1.1 * PHI, CAD)


def test_covariance_of_what_gains_would_have_done() -> None:
    """The estimate is linear in the forces: estimated with a gain in each of them, and in all.

    Half of the variance of 2.5 % is common.
    """
    r = replace(measured(0, np.zeros(4)), noise=0.02 * np.abs(PHI[:4]))
    plain = MaximumAPosteriori("full", 1.0, noise="declared")
    posterior = plain.posterior(r, PRIOR)
    found = plain.estimate(posterior)
    wider = with_doubtful_gains(found, posterior)
    np.testing.assert_array_equal(wider.values, found.values)
    moved = []
    for gain in (*np.eye(4), np.ones(4)):
        tau = r.tau + 0.025 * np.sqrt(0.5) * gain * (r.W @ found.values)
        moved.append(plain(replace(r, tau=tau), PRIOR).values - found.values)
    added = wider.covariance - found.covariance
    np.testing.assert_allclose(added, np.transpose(moved) @ moved, atol=1e-9 * np.abs(added).max())
    assert wider.doubted_gains is not None
    np.testing.assert_allclose(wider.doubted_gains.shifts, np.transpose(moved), atol=1e-9)
    assert "what gain errors of 2.5% would have done" in wider.warnings[-1]
    size = np.outer(found.sigma, found.sigma)
    np.testing.assert_allclose(
        if_calibrated(wider).covariance / size, found.covariance / size, atol=1e-6
    )
    assert if_calibrated(found) is found
    supported = with_doubtful_gains(found, posterior, 0.05, clean=True)
    np.testing.assert_allclose(supported.covariance - found.covariance, 4 * added, atol=1e-12)
    assert "about 5.0% would fit, but are not clearly better than none" in supported.warnings[-1]


def test_a_prediction_for_the_same_sensors() -> None:
    """They keep their gains, and parameters took them up."""
    r = replace(measured(0, np.zeros(4)), noise=0.02 * np.abs(PHI[:4]))
    exact, found = Automatic(gains=0.0)(r, PRIOR), Automatic()(r, PRIOR)
    calibrated, told = predict(exact, r), predict(found, r)
    np.testing.assert_allclose(calibrated.by_same_sensors, calibrated.total)
    # Forces are wrong by about 2.5 %, and so are measured ones.
    strong = np.abs(told.forces) > 0.5 * np.max(np.abs(told.forces), axis=0)
    assert np.all((told.sigma > 2 * calibrated.sigma)[strong])
    np.testing.assert_allclose(told.total, np.hypot(told.sigma, found.noise))
    np.testing.assert_allclose(told.by_same_sensors, calibrated.total, rtol=0.05)
    # A sensor that was not used in the identification has a gain of its own.
    other = replace(found, doubted_gains=DoubtedGains(0.03 * np.eye(4), np.zeros((5, 4))))
    alone = np.sqrt(predict(other, r).by_same_sensors ** 2 - told.total**2)
    np.testing.assert_allclose(alone, 0.03 * np.abs(told.forces), atol=1e-12)


def test_one_force_shows_no_ratio() -> None:
    """Gains are not tried, whatever CAD values say, and are contained."""
    r = measured(0, np.full(4, 0.3))
    one = replace(r, W=r.W[:, :1], tau=r.tau[:, :1], known=r.known[:, :1], valid=r.valid[:, :1],
                  channels=r.channels[:1], units=r.units[:1])  # fmt: skip
    alone = Automatic()(one, make_prior(PHI, np.diag((0.02 * PHI) ** 2)))
    assert not [text for text in alone.known if "gains" in text]
    assert alone.doubted_gains is not None


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
    assert [word for word in estimate.warnings if "errors of the model look like them" in word]
    # Forces share one parameter: the others take up the gain of their own force whole.
    assert np.all(np.abs(estimate.values - PHI) < 3 * estimate.sigma)
    other = found(seed, np.zeros(4), 0.02)
    assert not [word for word in other.warnings if "errors of the model look like them" in word]
    assert estimate.doubted_gains is not None
    assert other.doubted_gains is not None
    assert estimate.doubted_gains.size > 1.2 * other.doubted_gains.size
    assert other.doubted_gains.size == pytest.approx(0.025)
