"""What a trial says of held-out errors and residuals, on made-up ones with answers by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import norm, t

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.map_posterior import HeldOut
from mechid.estimation.regression import Regression
from mechid.estimation.trial import Trial, log_density

from .problems import prior, regression

PLAIN = MaximumAPosteriori("full", effective=True)


def trial(errors: Any, *, n_d: int = 2, estimator: MaximumAPosteriori = PLAIN, **fit: Any) -> Trial:
    """Return a trial with these held-out errors (N, n_d) in ten blocks; forces are 2 and 4."""
    errors = np.asarray(errors, dtype=float)
    n = len(errors)
    r = regression(np.random.default_rng(0), [1.0], n=n, n_d=n_d)
    r = replace(r, valid=~np.isnan(errors), tau=np.tile([2.0, 4.0], (n, 1))[:, :n_d])
    series = r.stacked()[2]
    channels = SimpleNamespace(
        regression=r, channel=series, series=series, names=r.channels, rows=r.stacked(),
        split=lambda x: SimpleNamespace(gain=x),
    )  # fmt: skip
    usual = {
        "share": 1.0, "t": np.zeros(len(series)), "deviation": np.ones(len(series)),
        "counts": np.bincount(series, minlength=n_d), "residuals": errors[r.valid],
    }  # fmt: skip

    def held_out(block: Any) -> HeldOut:
        own = np.broadcast_to(block[:, None], r.valid.shape)[r.valid]
        return HeldOut(own, errors[r.valid], np.zeros((10, 1)))

    posterior = SimpleNamespace(
        channels=channels, fit=SimpleNamespace(**usual | fit), held_out=held_out,
        prior=prior([1.0], np.eye(1)),
    )  # fmt: skip
    return Trial(estimator, cast(Any, posterior))


def test_spread_of_held_out_errors() -> None:
    """Median of absolute values, by that of unit noise; one where there is nothing."""
    errors = np.tile([[1.0, 0.0], [-3.0, 0.0], [2.0, 0.0], [100.0, 0.0]], (5, 1))
    np.testing.assert_allclose(trial(errors).spread, [2.5 / norm.ppf(0.75), 1.0])
    np.testing.assert_allclose(trial(0.1 * errors).spread, [0.25 / norm.ppf(0.75), 1.0])


def test_powers_by_block_and_force() -> None:
    """Two samples a block; errors are in units of the reference and clipped at four of them."""
    unit = 1.0 / norm.ppf(0.75)  # spread of a reference whose errors are all ±1
    reference = trial(np.ones((20, 2)))
    errors = np.ones((20, 2))
    errors[2:4, 0] = 0.5, -2.0
    errors[4:6, 1] = 1e3, 1.0
    errors[6:8, 1] = np.nan
    found = trial(errors)
    wanted = np.full((10, 2), unit**-2)
    wanted[1, 0] = (0.25 + 4.0) / 2 / unit**2
    wanted[2, 1] = (16.0 + unit**-2) / 2
    wanted[3, 1] = np.nan
    np.testing.assert_allclose(found.powers(reference), wanted)
    assert found.mean(reference) == pytest.approx(np.nanmean(wanted))
    change = [np.nanmean(unit**-2 - row) for row in wanted]
    np.testing.assert_allclose(found.improvement(reference), change, atol=1e-12)
    np.testing.assert_allclose(found.ratios(reference), np.nanmean(wanted, axis=0) * unit**2)


def test_blocks_and_forces_without_rows() -> None:
    gone = np.ones((20, 2))
    gone[4:6] = np.nan
    reference = trial(gone)
    assert len(trial(gone).improvement(reference)) == 9
    gone[:, 1] = np.nan
    np.testing.assert_allclose(trial(gone).ratios(trial(gone)), [1.0])
    gone[4:6, 0] = 1.0
    assert trial(gone).held_out_error == pytest.approx(0.5)


def test_held_out_error_and_likelihood() -> None:
    """Forces of 2 and 4: errors of 1 and 3 are 50 % and 75 % of them; a force of zero says none."""
    errors = np.tile([1.0, -3.0], (20, 1))
    found = trial(errors, deviation=np.tile([0.5, 2.0], 20))
    assert found.held_out_error == pytest.approx(np.sqrt((0.25 + 0.5625) / 2))
    for factor in (1e-3, 0.0):
        some = trial(errors * np.array([factor, 1.0]))
        r = some.posterior.channels.regression
        tau = r.tau * np.array([factor, 1.0])
        some.posterior.channels.regression = replace(r, tau=tau)  # type: ignore[misc]
        wanted = (0.25 + 0.5625) / 2 if factor else 0.5625
        assert some.held_out_error == pytest.approx(np.sqrt(wanted))
    whole = 20 * (norm.logpdf(1.0, scale=0.5) + norm.logpdf(-3.0, scale=2.0))
    assert found.log_likelihood == pytest.approx(whole)
    heavy = replace(PLAIN, tails=4.0)
    found = trial(errors, deviation=np.tile([0.5, 2.0], 20), estimator=heavy)
    whole = 20 * (t.logpdf(1.0, 4, scale=0.5) + t.logpdf(-3.0, 4, scale=2.0))
    assert found.log_likelihood == pytest.approx(whole)
    np.testing.assert_allclose(log_density(errors, 2.5), t.logpdf(errors, 2.5))


@pytest.mark.parametrize(("far", "outliers"), [(2, False), (3, True)])
def test_outliers_are_counted(far: int, outliers: bool) -> None:
    """More than two beyond four deviations, where normal noise would have 0.0025 (40 samples)."""
    errors = np.full((20, 2), norm.ppf(0.75))
    errors[:far, 0] = -4.01
    errors[5:9, 1] = 3.99
    assert trial(errors).outliers is outliers
    # Noise that is known to be as large where these are explains them.
    deviation = np.where(np.abs(errors) > 4, 2.0, 1.0).ravel()
    grown = replace(PLAIN, proportional=True)
    assert not trial(errors, estimator=grown, deviation=deviation).outliers


def test_outliers_of_many_samples() -> None:
    """Ten times as many as normal noise has: 6.334e-5 of 20 000 samples are 1.27 beyond four."""
    errors = np.full((10_000, 2), norm.ppf(0.75))
    for far, outliers in ((14, False), (15, True)):  # 2 + 12.67
        errors[:far, 0] = 5.0
        assert trial(errors).outliers is outliers


def test_white_noise_and_words() -> None:
    e = np.ones((20, 2))
    assert trial(e, counts=np.array([16.0, 20.0])).white  # four fifths of each are enough
    assert not trial(e, counts=np.array([15.9, 20.0])).white
    assert trial(e).words == ()
    (said,) = trial(e, share=0.25).words
    assert said == "40 measured values count as 10 independent ones: residuals are correlated"
    (said,) = trial(e, share=0.25, counts=np.array([5.0, 5.0])).words
    assert said.startswith("40 measured values count as 10 independent ones: residuals are corre")
    assert "predicted forces can be off by as much as the residuals" in said
    x = np.array([0.1, -0.3])
    assert trial(e, solution=SimpleNamespace(x=x)).largest_gain == pytest.approx(0.3)
    assert trial(e, solution=SimpleNamespace(x=x[:0])).largest_gain == 0.0


def test_residuals_that_repeat_with_the_motion() -> None:
    """Ten periods of 20 samples, with the same errors in each, or with noise."""
    rng = np.random.default_rng(1)
    n, phase = 200, 2 * np.pi * np.arange(200) / 20
    noise = rng.standard_normal((n, 2))
    wave = np.column_stack([np.zeros(n), 0.5 * np.sign(np.sin(3 * phase + 0.3))])

    def of(e: Any, W: Any) -> Trial:
        found = trial(e)
        r: Regression = replace(found.posterior.channels.regression, W=W)
        found.posterior.channels.regression, found.posterior.channels.rows = r, r.stacked()  # type: ignore[misc]
        return found

    turning = np.tile(np.sin(phase)[:, None, None], (1, 2, 1))
    assert of(noise, turning).repeatable is False
    assert of(noise + 2 * wave, turning).repeatable is True
    assert not of(noise + 2 * wave, turning).noise
    assert of(noise, turning).noise
    assert of(noise + 2 * wave, rng.standard_normal((n, 2, 1))).repeatable is None
    (said,) = replace_share(of(noise + 2 * wave, turning)).words
    assert ": errors of the model repeat with the motion; predicted forces" in said


def replace_share(of: Trial) -> Trial:
    of.posterior.fit.share = 0.5  # type: ignore[misc]
    return of
