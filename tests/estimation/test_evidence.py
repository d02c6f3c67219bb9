"""Empirical Bayes and the check of the prior, against the density of the data written out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import chi2, multivariate_normal

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.gaussian_prior import (
    LEAST,
    MOST,
    TRUST,
    GaussianPrior,
    _root,
    agreement,
    best_scale,
    log_density,
)
from mechid.estimation.linear import Reduced, reduced

from .problems import Case, case

NOISE = np.array([0.5, 2.0, 5.0])


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
        lambda u: 0.5 * (u / TRUST) ** 2 - density(made, np.exp(2 * u) * P),
        bounds=(-5, 5), method="bounded", options={"xatol": 1e-8},
    )  # fmt: skip
    assert found.agreement is not None
    assert found.agreement.scale == pytest.approx(np.exp(best.x), rel=1e-4)
    words = f"declared standard deviations times {np.exp(best.x):.3g} (empirical Bayes)"
    assert any(words in known for known in found.known)


def test_density_of_data() -> None:
    """As that of all rows written out, but for a constant; columns of offsets are not scaled."""
    made = case(2, NOISE, n=30)
    A, t, channel = made.regression.stacked()
    data = reduced(A / NOISE[channel, None], t / NOISE[channel], made.prior.mean)
    F = np.diag(np.sqrt(np.diag(made.prior.covariance)))
    prior = GaussianPrior(made.prior.mean, F, 3)

    def full(scale: float) -> float:
        return density(made, np.diag((np.array([scale] * 3 + [1.0] * 2) * np.diag(F)) ** 2))

    found = log_density(data, prior.scaled(1.4)) - log_density(data, prior.scaled(0.5))
    assert found == pytest.approx(full(1.4) - full(0.5), rel=1e-8)


def test_chi_squared_of_data_and_prior() -> None:
    """yᵀ (I + R P Rᵀ)⁻¹ y written out; P has rank 2, so that y has a part that only noise makes."""
    rng = np.random.default_rng(8)
    R, y, F = np.triu(rng.normal(size=(5, 5))), 3.0 * rng.normal(size=5), rng.normal(size=(5, 2))
    found = agreement(Reduced(R, y, 0.0), GaussianPrior(np.zeros(5), F, 2))
    wanted = y @ np.linalg.solve(np.eye(5) + R @ F @ F.T @ R.T, y)
    assert found.chi2 == pytest.approx(wanted, rel=1e-10)
    assert found.dof == 5
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


@pytest.mark.parametrize("option", [0.05, "estimated"])
def test_offsets_are_found(option: float) -> None:
    made = case(5, 0.02 * NOISE, n=300)
    offset = np.array([0.5, 0.0, -2.0])
    r = replace(made.regression, tau=made.regression.tau + offset)
    errors = MaximumAPosteriori(scale=1.0, offsets=option)(r, made.prior).errors
    assert errors is not None
    assert np.all(np.abs(errors.offset - offset) < 4 * errors.sigma_offset)
    np.testing.assert_allclose(errors.offset, offset, atol=0.1)


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
    gaussian, one = GaussianPrior(np.zeros(1), np.eye(1), 1), np.eye(1)
    assert best_scale(Reduced(one, np.array([1e3]), 0.0), gaussian) == pytest.approx(MOST)
    assert best_scale(Reduced(one, np.zeros(1), 0.0), gaussian) == pytest.approx(LEAST)
