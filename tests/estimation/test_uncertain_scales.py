"""Estimates averaged over how wrong CAD values may be, against integrals and closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.cad_kinds import KINDS, kind_factors
from mechid.estimation.estimate import Estimate
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.estimation.uncertain_scales import with_uncertain_scales
from mechid.spatial.inertia import by_central, parameters

from .problems import prior, regression


def averaged(r: Regression, known: Prior) -> tuple[Estimate, Estimate]:
    """Return the most probable estimate, and the average."""
    estimator = MaximumAPosteriori("full", noise="declared")
    posterior = estimator.posterior(r, known)
    before = estimator.estimate(posterior)
    return before, with_uncertain_scales(before, posterior)


@pytest.mark.parametrize("measured", [0.0, 0.9, 2.5, 6.0])
def test_one_parameter_is_the_integral_over_its_scale(measured: float) -> None:
    """x ~ N(0, s²), measured once with unit noise; ln s half-normal, of standard deviation ln 2."""
    one = np.ones((1, 1))
    r = Regression(
        one[..., None], measured * one, 0 * one, np.zeros(1), ("x",), ("f",), ("N",),
        np.ones((1, 1), dtype=bool), noise=np.ones(1),
    )  # fmt: skip
    _, found = averaged(r, prior([0.0], np.eye(1), ("x",)))

    def integral(f: object) -> float:
        def integrand(u: float) -> float:
            s2 = np.exp(2 * u)
            weight = norm.pdf(measured, 0, np.sqrt(1 + s2)) * norm.pdf(u, 0, np.log(2))
            return float(weight * f(s2 / (1 + s2)))  # type: ignore[operator]

        return float(quad(integrand, 0, np.log(20))[0])

    whole = integral(lambda _: 1.0)
    mean = integral(lambda w: w * measured) / whole
    square = integral(lambda w: w + (w * measured) ** 2) / whole
    assert found.values[0] == pytest.approx(mean, rel=0.03, abs=1e-9)
    assert found.sigma[0] == pytest.approx(np.sqrt(square - mean**2), rel=0.03)


@pytest.mark.parametrize("noise", [1e-4, 1e-12])
def test_data_that_decide_alone_stay(noise: float) -> None:
    """Also where they have hardly any noise: ten digits are left."""
    rng = np.random.default_rng(1)
    r = regression(rng, [2.0, -1.0, 0.5], noise, n=200)
    before, after = averaged(
        replace(r, noise=np.full(3, noise)), prior([2.1, -0.9, 0.6], np.eye(3))
    )
    close = max(1e-3 * float(before.sigma.min()), 1e-11)
    np.testing.assert_allclose(after.values, before.values, atol=close)
    np.testing.assert_allclose(after.sigma, before.sigma, rtol=1e-3)
    assert "coefficients of force elements" in after.known[-1]


def test_given_scales_are_not_averaged() -> None:
    rng = np.random.default_rng(2)
    r = regression(rng, [2.0, -1.0], 0.1)
    estimator = MaximumAPosteriori("full", scale=1.0)
    posterior = estimator.posterior(r, prior([2.1, -0.9], np.eye(2)))
    estimate = estimator.estimate(posterior)
    assert with_uncertain_scales(estimate, posterior) is estimate


def test_kinds_of_error_of_a_body_and_a_coefficient() -> None:
    """Independent errors of mass, centre, moments and of a coefficient come apart again."""
    rng = np.random.default_rng(3)
    phi = parameters(2.0, np.array([0.3, -0.1, 0.2]), np.array([0.5, 0.02, 0.03, 0.6, 0.01, 0.4]))
    sigma = rng.uniform(0.1, 1.0, 11)
    D = np.eye(11)
    D[:10, :10] = by_central(phi)
    own = [D[:, at] * sigma[at] for at in (slice(0, 1), slice(1, 4), slice(4, 10), slice(10, 11))]
    B = rng.normal(size=(6, 11))
    covariance = (D * sigma**2) @ D.T
    names, base = tuple(f"p{k}" for k in range(11)), tuple(f"b{k}" for k in range(6))
    known = Prior(names, base, B, np.append(phi, 3.0), covariance, bodies=(("body", 0),))
    found = kind_factors(known)
    assert tuple(found) == KINDS
    for F, G in zip(found.values(), own, strict=True):
        np.testing.assert_allclose(F @ F.T, B @ G @ G.T @ B.T, rtol=1e-9, atol=1e-12)
        assert F.shape[1] <= 6
