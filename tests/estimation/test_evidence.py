"""Empirical Bayes and the check of the prior, against the density of the data written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import chi2, multivariate_normal

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.evidence import (
    _root,
    agreement,
    best_scales,
    log_density,
    log_evidence,
)
from mechid.estimation.gaussian_prior import CAD_BELIEF, Belief, GaussianPrior
from mechid.estimation.linear import Reduced, reduced

from .problems import Case, case

NOISE = np.array([0.5, 2.0, 5.0])
BELIEF = CAD_BELIEF.spread
WIDE = Belief(BELIEF, 1e-3, 1e3)


def density(made: Case, P: np.ndarray) -> float:
    """Return the log density of the measured forces before they were measured."""
    A, t, channel = made.regression.stacked()
    covariance = A @ P @ A.T + np.diag(NOISE[channel] ** 2)
    return float(multivariate_normal.logpdf(t, A @ made.prior.mean, covariance))


@pytest.mark.parametrize("prior", ["diagonal", "full"])
def test_scale_is_the_most_probable_one(prior: str) -> None:
    made = case(1, NOISE, n=30, wrong=3.0, correlated=True)
    r = replace(made.regression, noise=NOISE)
    found = MaximumAPosteriori(prior=prior, noise="declared")(r, made.prior)  # type: ignore[arg-type]
    P = made.prior.covariance
    P = np.diag(np.diag(P)) if prior == "diagonal" else P
    best = minimize_scalar(
        lambda u: 0.5 * (u / BELIEF) ** 2 - density(made, np.exp(2 * u) * P),
        bounds=(-5, 5), method="bounded", options={"xatol": 1e-8},
    )  # fmt: skip
    assert found.agreement is not None
    assert found.agreement.scale == pytest.approx(np.exp(best.x), rel=1e-4)
    words = f"declared standard deviations times {np.exp(best.x):.3g} (empirical Bayes)"
    assert any(words in known for known in found.known)


def test_evidence_and_gradient() -> None:
    made = case(2, NOISE, n=30)
    A, t, channel = made.regression.stacked()
    A, t = A / NOISE[channel, None], t / NOISE[channel]
    data = reduced(A, t, made.prior.mean)
    F = np.diag(np.sqrt(np.diag(made.prior.covariance)))
    group = np.array([0, 1, -1, 1, 0])

    def prior(u: np.ndarray) -> GaussianPrior:
        return GaussianPrior(made.prior.mean, F, 5, group, np.exp(u), (WIDE, WIDE))

    def full(u: np.ndarray) -> float:
        scale = np.append(np.exp(u), 1.0)[group]
        return density(made, np.diag((scale * np.diag(F)) ** 2))

    u, v = np.array([0.3, -0.4]), np.array([-1.0, 0.7])
    difference = log_evidence(data, prior(u))[0] - log_evidence(data, prior(v))[0]
    assert difference == pytest.approx(full(u) - full(v), rel=1e-8)
    _, gradient, curved = log_evidence(data, prior(u))
    h = 1e-5
    for k, step in enumerate(h * np.eye(2)):
        assert gradient[k] == pytest.approx((full(u + step) - full(u - step)) / (2 * h), rel=1e-5)
        change = log_evidence(data, prior(u + step))[1] - log_evidence(data, prior(u - step))[1]
        np.testing.assert_allclose(curved[k], change / (2 * h), rtol=1e-6)
    best = best_scales(data, prior(v))
    slope = log_evidence(data, best)[1] - np.log(best.scale) / BELIEF**2
    np.testing.assert_allclose(slope, 0.0, atol=1e-4)


def test_groups_get_scales_of_their_own() -> None:
    """Errors of p3 and p4 are three times what is declared, the others as declared."""
    logs = []
    for seed in range(30):
        made = case(seed, 0.1 * NOISE)
        deviation = np.sqrt(np.diag(made.prior.covariance)) / [1, 1, 1, 3, 3]
        told = replace(made.prior, covariance=np.diag(deviation**2))
        estimator = MaximumAPosteriori(groups=(("p3", "p4"),))
        known = estimator(made.regression, told).known[0]
        logs.append([np.log(float(x)) for x in known.split("times ")[1].split(" (")[0].split(", ")])
    # The mean of log s of two or three normal errors has a bias of about -0.4 and little spread.
    assert np.mean(logs, axis=0) == pytest.approx([0.0, np.log(3)], abs=0.6)


def test_chi_squared_of_data_and_prior() -> None:
    """yᵀ (I + R P Rᵀ)⁻¹ y written out; P has rank 2, so that y has a part that only noise makes."""
    rng = np.random.default_rng(8)
    R, y, F = np.triu(rng.normal(size=(5, 5))), 3.0 * rng.normal(size=5), rng.normal(size=(5, 2))
    group, scale = np.array([0, 0]), np.array([1.7])
    gaussian = GaussianPrior(np.zeros(5), F, 5, group, scale, (WIDE,))
    found = agreement(Reduced(R, y, 0.0), gaussian, 1.7)
    wanted = y @ np.linalg.solve(np.eye(5) + 1.7**2 * R @ F @ F.T @ R.T, y)
    assert found.chi2 == pytest.approx(wanted, rel=1e-10)
    assert (found.dof, found.scale) == (5, 1.7)
    assert found.p == pytest.approx(chi2.sf(wanted, 5), rel=1e-8)


def test_agreement_is_a_chi_squared_variable() -> None:
    p = []
    for seed in range(100):
        made = case(seed, NOISE)
        found = MaximumAPosteriori(scale=1.0)(made.regression, made.prior)
        assert found.agreement is not None
        assert found.agreement.p == pytest.approx(
            chi2.sf(found.agreement.chi2, found.agreement.dof)
        )
        assert found.agreement.dof == 5
        p.append(found.agreement.p)
    # Uniform between zero and one: mean 1/2 with a deviation of 0.029.
    assert np.mean(p) == pytest.approx(0.5, abs=0.12)
    assert np.mean(np.array(p) < 0.05) < 0.14


@pytest.mark.parametrize("scale", [1.0, "estimated"])
def test_disagreement_is_said(scale: float) -> None:
    made = case(3, 0.1 * NOISE, wrong=8.0)
    found = MaximumAPosteriori(scale=scale)(made.regression, made.prior)
    assert found.agreement is not None
    assert found.agreement.p < 1e-4
    assert 3 < found.agreement.scale < 20
    assert "data and CAD values disagree" in found.warnings[0]
    assert "times the declared standard deviations" in found.warnings[0]


def test_disagreement_that_no_scale_explains() -> None:
    """A value that is declared as exactly known is wrong."""
    made = case(4, 0.1 * NOISE)
    C = made.prior.covariance.copy()
    C[4, 4] = 0.0
    found = MaximumAPosteriori(scale=1.0)(made.regression, replace(made.prior, covariance=C))
    assert "larger standard deviations of the CAD values do not explain it" in found.warnings[0]


def test_gains_and_offsets_are_found() -> None:
    made = case(5, 0.02 * NOISE, n=300)
    r = made.regression
    gain, offset = np.array([0.08, -0.05, 0.0]), np.array([0.5, 0.0, -2.0])
    r = replace(r, tau=r.tau + gain * (r.W @ made.phi + r.known) + offset)
    for option in (0.05, "estimated"):
        found = MaximumAPosteriori(scale=1.0, gains=option, offsets=option)(r, made.prior)  # type: ignore[arg-type]
        errors = found.errors
        assert errors is not None
        assert np.all(np.abs(errors.gain - gain) < 4 * errors.sigma_gain)
        assert np.all(np.abs(errors.offset - offset) < 4 * errors.sigma_offset)
        assert np.all(errors.sigma_gain < 0.05)
        np.testing.assert_allclose(errors.offset, offset, atol=0.1)


def test_uncertain_gains_make_uncertain_parameters() -> None:
    made = case(6, 0.01 * NOISE)
    sigma = [
        MaximumAPosteriori(scale=1.0, gains=g)(made.regression, made.prior).sigma
        for g in (None, 1e-6, 0.01, 0.05)
    ]
    np.testing.assert_allclose(sigma[1], sigma[0], rtol=1e-3)
    assert np.all(sigma[2] > sigma[0])
    assert np.all(sigma[3] > sigma[2])


def test_bilinear_optimum() -> None:
    """No other x is more probable: the gradient of the whole objective vanishes."""
    made = case(7, NOISE, gain=0.1)
    r = replace(made.regression, noise=NOISE)
    options = MaximumAPosteriori(scale=1.0, gains=0.1, offsets=0.1, noise="declared")
    found = options(r, made.prior)
    assert found.errors is not None
    size = 0.1 * np.sqrt(np.mean(r.tau**2, axis=0))
    sigma = np.sqrt(np.diag(made.prior.covariance))

    def loss(x: np.ndarray) -> float:
        phi, g, o = x[:5], x[5:8], x[8:]
        e = (r.tau - (1 + g) * (r.W @ phi + r.known) - o) / NOISE
        prior = np.concatenate([(phi - made.prior.mean) / sigma, g / 0.1, o / size])
        return float(0.5 * (np.sum(e**2) + np.sum(prior**2)))

    x = np.concatenate([found.values, found.errors.gain, found.errors.offset])
    step = np.concatenate([found.sigma, found.errors.sigma_gain, found.errors.sigma_offset])
    for k in range(11):
        h = np.zeros(11)
        h[k] = step[k]
        # In units of deviations: an error of one would change the loss by about a half.
        assert abs(loss(x + h) - loss(x - h)) / 2 < 2e-2


@pytest.mark.parametrize("size", [1.0, 1e3, 1e5])
def test_triangle_of_a_covariance(size: float) -> None:
    """Cᵀ C = I + G Gᵀ, by the product and by the factorisation that keeps digits."""
    G = size * np.random.default_rng(1).normal(size=(4, 2))
    C = _root(G)
    np.testing.assert_allclose(C.T @ C, np.eye(4) + G @ G.T, rtol=1e-9, atol=1e-6)
    np.testing.assert_array_equal(C, np.triu(C))
    # det(I + G Gᵀ) = det(I + Gᵀ G), which is far from singular.
    small = np.linalg.slogdet(np.eye(2) + G.T @ G)[1]
    assert 2 * np.sum(np.log(np.abs(np.diag(C)))) == pytest.approx(small, rel=1e-6)


def test_scales_stay_within_their_bounds() -> None:
    """One parameter, x = 0 ± s with x = 10 measured: s is as large as it may be, and as small."""
    gaussian = GaussianPrior(
        np.zeros(1), np.eye(1), 1, np.array([0]), np.ones(1), (Belief(10.0, 0.5, 3.0),)
    )
    one = np.eye(1)
    assert best_scales(Reduced(one, np.array([10.0]), 0.0), gaussian).scale[0] == pytest.approx(3)
    assert best_scales(Reduced(one, np.zeros(1), 0.0), gaussian).scale[0] == pytest.approx(0.5)
    given = replace(gaussian, group=np.array([-1]), scale=np.zeros(0), beliefs=())
    assert best_scales(Reduced(one, np.zeros(1), 0.0), given) is given


def test_density_without_gradient() -> None:
    made = case(2, NOISE, n=30)
    data = reduced(*made.regression.stacked()[:2], made.prior.mean)
    F = np.diag([1.0, 2.0, 3.0, 4.0, 5.0])
    prior = GaussianPrior(made.prior.mean, F, 5, np.zeros(5, dtype=int), np.full(1, 0.7), (WIDE,))
    assert log_density(data, prior) == pytest.approx(log_evidence(data, prior)[0], rel=1e-12)
