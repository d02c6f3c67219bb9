"""Models of the noise compared by evidence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import toeplitz
from scipy.stats import multivariate_normal

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.errors import DataError
from mechid.estimation.automatic import Automatic
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.channels import Channels
from mechid.estimation.evidence import data_evidence
from mechid.estimation.gaussian_prior import cad_prior
from mechid.estimation.iteration import iterate
from mechid.mechanism.records import Body
from mechid.tasks.stages import chosen_base

from .problems import prior as make_prior
from .problems import regression

PHI = np.array([2.0, -1.0, 0.5, 3.0])


def test_evidence_is_the_density_of_the_data() -> None:
    """White noise: τ is Gaussian with covariance σ² + W P Wᵀ."""
    rng = np.random.default_rng(1)
    noise = np.array([0.1, 0.4, 0.2])
    r = replace(regression(rng, PHI, noise, n=12, known=0.3), noise=noise)
    known = make_prior(PHI + 0.1, 0.09 * np.eye(4))
    found = MaximumAPosteriori(scale=1.0, noise="declared")(r, known)
    A, t, channel = r.stacked()
    covariance = np.diag(noise[channel] ** 2) + A @ known.base_covariance @ A.T
    wanted = multivariate_normal.logpdf(t, A @ known.mean, covariance)
    assert found.evidence == pytest.approx(wanted)


def test_evidence_of_coloured_noise() -> None:
    """Coloured noise: the covariance of e has the autocovariances of the fitted model."""
    rng = np.random.default_rng(2)
    r = regression(rng, PHI, 0.3, n=80, n_d=1, ar=(0.8,))
    known = make_prior(PHI + 0.1, 0.09 * np.eye(4))
    channels = Channels(r)
    prior = cad_prior(channels, known, "diagonal", 1.0, (), {})
    fit = iterate(channels, lambda A, t, _: prior.solve(A, t), whiten=True, start=prior.mean)
    assert fit.colours is not None
    a = fit.colours[0].coefficients
    assert len(a) >= 1
    # Autocovariances by the impulse response of the fitted model.
    h = np.zeros(4000)
    h[0] = 1.0
    for k in range(1, len(h)):
        h[k] = sum(a[i] * h[k - 1 - i] for i in range(min(len(a), k)))
    gamma = np.array([h[: len(h) - k] @ h[k:] for k in range(80)])
    # The last problem was whitened with the colours of the pass before: the same to 1e-4 or so.
    E = fit.noise[0] ** 2 * toeplitz(gamma / gamma[0])
    A, t, _ = r.stacked()
    wanted = multivariate_normal.logpdf(t, A @ known.mean, E + A @ known.base_covariance @ A.T)
    assert data_evidence(fit.A, fit.t, prior) + fit.log_jacobian == pytest.approx(wanted, abs=0.05)


@pytest.mark.parametrize("gain", [0.0, 0.08])
@pytest.mark.parametrize("ar", [(), (0.9,)])
def test_the_noise_that_is_there_is_chosen(gain: float, ar: tuple[float, ...]) -> None:
    rng = np.random.default_rng(3)
    truth = PHI * (1 + 0.02 * rng.standard_normal(len(PHI)))
    r = regression(rng, truth, 0.02, n=400, ar=ar)
    r = replace(r, tau=r.tau * (1 + gain * np.array([1.0, -1.0, 0.5])))
    found = Automatic()(r, make_prior(PHI, np.diag((0.02 * PHI) ** 2)))
    assert (found.errors is not None) == (gain > 0)
    assert (found.colour is not None) == bool(ar)
    taken = [word.split(" taken")[0] for word in found.known if " taken: error" in word]
    assert sorted(taken) == ["colour"] * bool(ar) + ["gains"] * (gain > 0)
    assert np.all(np.abs(found.values - truth) < 4 * found.sigma)


def test_prices_of_what_was_fitted() -> None:
    """An estimated scale costs half of log n, which the declared one does not."""
    rng = np.random.default_rng(4)
    r = regression(rng, PHI, 0.1, n=50)
    known = make_prior(PHI + 0.1, 0.09 * np.eye(4))
    for scale, price in ((1.0, 0.0), ("estimated", 0.5 * np.log(150))):
        found = MaximumAPosteriori(scale=scale).posterior(r, known)  # type: ignore[arg-type]
        whole = data_evidence(found.fit.A, found.fit.t, found.gaussian) + found.fit.log_jacobian
        assert whole - found.evidence == pytest.approx(price)


@pytest.mark.parametrize("size", [1, 10, 25])
def test_held_out_errors(size: int) -> None:
    """With the noise declared, as estimating without each block and predicting it.

    Blocks with fewer rows (3) and with more rows than there are parameters (4).
    """
    rng = np.random.default_rng(6)
    r = replace(regression(rng, PHI, 0.2, n=50, known=0.5), noise=np.full(3, 0.2))
    known = make_prior(PHI + 0.1, 0.09 * np.eye(4))
    estimator = MaximumAPosteriori(scale=1.0, noise="declared")
    whole = estimator(r, known).values
    held = estimator.posterior(r, known).held_out(np.arange(50) // size)
    for k in range(50 // size):
        test = np.arange(size * k, size * k + size)
        rest = np.setdiff1d(np.arange(50), test)
        values = estimator(r.part(rest), known).values
        e = r.part(test).target - r.part(test).W @ values
        np.testing.assert_allclose(held.errors[held.block == k], e.ravel(), rtol=1e-9)
        np.testing.assert_allclose(held.shifts[k], values - whole, rtol=1e-7)


def test_needs_cad_values() -> None:
    r = regression(np.random.default_rng(5), PHI, 0.1)
    with pytest.raises(DataError, match="needs CAD values"):
        Automatic()(r)


def test_impossible_gains_are_no_gains() -> None:
    """Forces five times too large in two of three channels: no calibrated sensor does that."""
    rng = np.random.default_rng(6)
    r = regression(rng, PHI, 0.02, n=400)
    r = replace(r, tau=r.tau * np.array([5.0, 5.0, 1.0]))
    known = make_prior(PHI, np.diag((0.02 * PHI) ** 2))
    free = MaximumAPosteriori("full", gains="estimated")(r, known)
    assert free.errors is not None
    assert np.abs(free.errors.gain).max() > 0.5
    assert Automatic()(r, known).errors is None


@pytest.mark.parametrize("heavy", ["crank_1", "coupler_2"])
def test_a_single_body_far_from_its_cad_values_is_found(heavy: str) -> None:
    """All are declared to 5 %, and one weighs twice as much: the others stay as declared."""
    mechanism = mechid.load("five_bar")

    def loaded(body: Body) -> Body:
        if body.name != heavy or body.inertia is None:
            return body
        six = tuple(2 * x for x in body.inertia.inertia_center)
        return replace(
            body, inertia=replace(body.inertia, mass=2 * body.inertia.mass, inertia_center=six)
        )

    truth = replace(mechanism, bodies=tuple(map(loaded, mechanism.bodies)))
    motion = mechid.excite(mechanism, random=4, starts=0, harmonics=3)
    log = mechid.synthesise(truth, motion, noise="1%", periods=3)
    run = mechid.identify(mechanism, log, cad_error="5%")
    said = next(words for words in run.estimate.known if "body by body" in words)
    assert f"times 1, but {heavy}" in said
    known = parameter_values(dynamic_model(truth))
    off = run.estimate.values - chosen_base(mechanism, run.about.options).matrix @ known
    assert np.all(np.abs(off) < 3.5 * run.estimate.sigma)
