"""Which terms the default takes: rules on made-up trials, both sides of each bound."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import norm, t

from mechid.estimation.automatic import (
    TERMS,
    _asked,
    _best,
    _better,
    _common_gain,
    _plausible,
    _words,
)
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import ChannelErrors
from mechid.estimation.posterior import HeldOut
from mechid.estimation.regression import Regression
from mechid.estimation.trial import Trial, log_density

from .problems import prior, regression

SINGLE = "gains of single forces"
BODIES = "CAD errors body by body"
PLAIN = MaximumAPosteriori("full", effective=True)


def made(**given: Any) -> Any:
    """Return what the rules read of a trial; by default nothing speaks for or against it."""
    evidence = given.pop("evidence", 0.0)
    ratio = np.atleast_1d(given.pop("ratio", 1.0))
    change = np.asarray(given.pop("change", np.zeros(10)))
    posterior = SimpleNamespace(
        evidence=evidence,
        unpriced_evidence=given.pop("unpriced", 0.0),
        fit=SimpleNamespace(share=given.pop("share", 1.0)),
    )
    usual = {
        "estimator": PLAIN, "white": False, "repeatable": None, "noise": False,
        "outliers": False, "contradicted": False, "log_likelihood": 0.0, "largest_gain": 0.1,
    }  # fmt: skip
    return SimpleNamespace(
        posterior=posterior,
        untempered=posterior,
        ratios=lambda _: ratio,
        improvement=lambda _: change,
        mean=lambda _: given.get("error", 1.0),
        **usual | given,
    )


@pytest.mark.parametrize(
    ("name", "given", "asked"),
    [
        ("outliers", {"outliers": True}, True),
        ("outliers", {}, False),
        ("proportional noise", {"outliers": True}, True),
        (BODIES, {"contradicted": True}, True),
        (BODIES, {}, False),
        (BODIES, {"contradicted": True, "estimator": replace(PLAIN, scale=1.0)}, False),
        (BODIES, {"contradicted": True, "estimator": replace(PLAIN, prior="diagonal")}, False),
        (SINGLE, {}, False),
        (SINGLE, {"estimator": replace(PLAIN, gains="shared")}, True),
        (SINGLE, {"estimator": replace(PLAIN, gains=0.1)}, False),
        ("gains", {}, True),
        ("gains", {"estimator": replace(PLAIN, gains="shared")}, False),
        ("gains", {"estimator": replace(PLAIN, gains=0.1)}, True),
        # A motion that repeats itself, with residuals that do not and look independent: noise.
        ("offsets", {"repeatable": False, "white": True}, False),
        ("offsets", {"repeatable": None, "white": True}, True),
        ("offsets", {"repeatable": False}, True),
        ("offsets", {"repeatable": True, "white": True}, True),
        ("colour", {}, True),
        ("colour", {"estimator": replace(PLAIN, tails=4.0)}, False),
        ("drift", {"estimator": replace(PLAIN, tails=4.0)}, True),
    ],
)
def test_terms_that_are_tried(name: str, given: dict[str, Any], asked: bool) -> None:
    assert name in TERMS
    assert _asked(name, made(**given)) is asked


STEADY = np.full(10, 1.0) + 0.1 * np.tile([1.0, -1.0], 5)
# Mean 1 and standard error s/√10 with s² = 10/9 a² for ±a: Student's t of 3/a, 2.5 for a = 1.2.
BARELY, HARDLY = (1.0 + a * np.tile([1.0, -1.0], 5) for a in (1.19, 1.21))
NOISE = {"noise": True, "evidence": 5.1}


@pytest.mark.parametrize(
    ("name", "before", "after", "better"),
    [
        # Laws of the noise: log likelihood of the effective samples, by more than ten.
        ("outliers", {}, {"log_likelihood": 10.1}, True),
        ("outliers", {}, {"log_likelihood": 10.0}, False),
        ("outliers", {"share": 0.5}, {"log_likelihood": 20.1}, True),
        ("outliers", {"share": 0.5}, {"log_likelihood": 19.9}, False),
        ("outliers", {"log_likelihood": 5.0}, {"log_likelihood": 14.0}, False),
        ("proportional noise", {}, {"log_likelihood": 11.0}, False),
        ("proportional noise", {}, {"log_likelihood": 11.0, "noise": True}, True),
        # Gains of single forces instead of shared ones: log evidence, by more than five.
        (SINGLE, {"unpriced": 1.0}, {"unpriced": 6.1}, True),
        (SINGLE, {"unpriced": 1.0}, {"unpriced": 6.0}, False),
        # Colour and bodies: evidence, and held-out errors of no force more than 2 % larger.
        ("colour", {"evidence": 1.0}, {"evidence": 6.1}, True),
        ("colour", {"evidence": 1.0}, {"evidence": 6.0}, False),
        ("colour", {"repeatable": True}, {"evidence": 9.0}, False),
        ("colour", {"repeatable": False}, {"evidence": 9.0}, True),
        ("colour", {}, {"evidence": 9.0, "ratio": [0.5, 1.03]}, False),
        ("colour", {}, {"evidence": 9.0, "ratio": [0.5, 1.01]}, True),
        ("colour", {}, {"evidence": 9.0, "ratio": [0.5, 1.02]}, False),
        (BODIES, {"repeatable": True}, {"evidence": 5.1}, True),
        (BODIES, {}, {"evidence": 5.0}, False),
        # Where the rest is noise: evidence, and held-out blocks with Student's t above 2.5.
        ("offsets", {}, NOISE | {"change": STEADY}, True),
        ("offsets", {}, NOISE | {"change": BARELY}, True),
        ("offsets", {}, NOISE | {"change": HARDLY}, False),
        ("offsets", {}, NOISE | {"change": STEADY, "evidence": 5.0}, False),
        ("offsets", {"evidence": 1.0}, NOISE | {"change": STEADY}, False),
        ("offsets", {}, NOISE | {"change": -STEADY}, False),
        ("offsets", {}, NOISE | {"change": STEADY[:1]}, False),
        ("offsets", {}, NOISE | {"change": STEADY[:2]}, True),
        ("gains", {}, NOISE | {"change": STEADY}, True),
        ("gains", {}, NOISE | {"change": STEADY, "largest_gain": 0.02}, False),
        ("gains", {}, NOISE | {"change": STEADY, "largest_gain": 0.021}, True),
        ("gains", {}, NOISE | {"change": STEADY, "largest_gain": 0.49}, True),
        ("gains", {}, NOISE | {"change": STEADY, "largest_gain": 0.5}, False),
        ("offsets", {}, NOISE | {"change": STEADY, "largest_gain": 0.0}, True),
        # Where it is not: half of the squared error of some force, three quarters of all.
        ("offsets", {}, {"ratio": [0.49, 1.1]}, True),
        ("offsets", {}, {"ratio": [0.49, 1.16]}, False),  # 0.7539
        ("offsets", {}, {"ratio": [0.51, 0.51]}, False),
        ("offsets", {}, {"ratio": [0.5, 0.5]}, False),
        ("gains", {}, {"ratio": [0.1, 0.1]}, False),
    ],
)
def test_terms_that_are_taken(
    name: str, before: dict[str, Any], after: dict[str, Any], better: bool
) -> None:
    assert _better(name, made(**before), made(**after)) is better


@pytest.mark.parametrize(
    ("trials", "best"),
    [
        ({}, None),
        ({"offsets": {"error": 0.5}, "drift": {"error": 0.495}}, "offsets"),  # the simpler one
        ({"offsets": {"error": 0.51}, "drift": {"error": 0.5}}, "offsets"),  # 2 % is alike
        ({"offsets": {"error": 0.52}, "drift": {"error": 0.5}}, "drift"),
        ({"outliers": {"error": 0.1}, "gains": {"error": 0.9}}, "gains"),  # laws come last
        ({"outliers": {"log_likelihood": 20.0}, "proportional noise": {"log_likelihood": 30.0}},
         "proportional noise"),
    ],
)  # fmt: skip
def test_the_best_term(trials: dict[str, dict[str, Any]], best: str | None) -> None:
    assert _best({name: made(**given) for name, given in trials.items()}, made()) == best


def test_words_on_what_was_tried() -> None:
    now = made(held_out_error=0.1234)
    tried = {"offsets": made(held_out_error=0.05), "drift": made(held_out_error=0.06)}
    assert _words(now, {}, None) == []
    assert _words(now, tried, None) == [
        "tried and not taken, error on held-out blocks 12.3 % without: offsets 5 %, drift 6 %"
    ]
    assert _words(now, tried, "drift") == [
        "drift taken: error on held-out blocks 6 % instead of 12.3 % (others: offsets 5 %)"
    ]
    assert _words(now, {"drift": tried["drift"]}, "drift") == [
        "drift taken: error on held-out blocks 6 % instead of 12.3 %"
    ]


def test_a_common_factor_remains() -> None:
    none = np.zeros(2)
    estimate = cast(Any, SimpleNamespace(errors=ChannelErrors(np.array([0.1, -0.1]), *[none] * 3)))
    shared = made(estimator=replace(PLAIN, gains="shared"))
    (said,) = _common_gain(estimate, shared, True)
    assert said.startswith("gains of the forces differ by 22 %, and nothing but")  # 1.1/0.9 - 1
    (said,) = _common_gain(estimate, made(estimator=replace(PLAIN, gains="estimated")), True)
    assert "and only the CAD values tell" in said
    assert _common_gain(estimate, shared, False) == ()
    for errors in (None, ChannelErrors(none, none, none, none)):
        assert _common_gain(cast(Any, SimpleNamespace(errors=errors)), shared, True) == ()


@pytest.mark.parametrize(
    ("factors", "left"), [((1, 1, 1), (0, 1, 2)), ((1, 90, 1), (0, 2)), ((90, 90, 90), (0, 1, 2))]
)
def test_implausible_forces(factors: tuple[float, ...], left: tuple[int, ...]) -> None:
    """One of three is left out; if all are off, it is the CAD values or all units: none is."""
    r = regression(np.random.default_rng(0), [1.0, 2.0], 0.01, missing=0.1)
    r = replace(r, tau=r.tau * np.array(factors))
    found, words = _plausible(r, prior([1.0, 2.0], 1e-4 * np.eye(2)))
    np.testing.assert_array_equal(found.valid, r.valid & np.isin(range(3), left))
    assert len(words) == 3 - len(left)
    if words:
        assert words[0].startswith("force f1, 90 times what the CAD values predict")
    same, words = _plausible(r, None)
    assert same is r
    assert words == ()


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
    """Forces of 2 and 4: errors of 1 and 3 are 50 % and 75 % of them."""
    errors = np.tile([1.0, -3.0], (20, 1))
    found = trial(errors, deviation=np.tile([0.5, 2.0], 20))
    assert found.held_out_error == pytest.approx(np.sqrt((0.25 + 0.5625) / 2))
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
