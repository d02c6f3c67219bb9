"""Offsets beside errors of the model: in the covariance, as far as they could hide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.automatic import Automatic
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.doubtful_offsets import if_zeroed
from mechid.estimation.regression import Regression
from mechid.estimation.unjudged_offsets import with_unjudged_offsets

from .problems import prior as make_prior

# A weight on a lever, what stands across it, and its inertia.
PHI = np.array([2.0, 0.5, 0.3])
PRIOR = make_prior(1.05 * PHI, np.diag((0.1 * PHI) ** 2))


def lever(
    seed: int, *, friction: float = 0.0, offset: float = 0.0, wide: float = 1.0, n: int = 1000
) -> Regression:
    """Return forces of a lever that swings by about 50 degrees to both sides, noise of 1 %."""
    rng = np.random.default_rng(seed)
    t = np.arange(n) / 50
    rates = 2 * np.pi * np.array([0.3, 0.71, 1.13])
    phase = rng.uniform(0, 2 * np.pi, 3)
    size = wide * np.array([0.5, 0.3, 0.1])
    q = np.sin(np.outer(t, rates) + phase) @ size
    v = np.cos(np.outer(t, rates) + phase) @ (size * rates)
    a = -np.sin(np.outer(t, rates) + phase) @ (size * rates**2)
    W = np.stack([np.cos(q), np.sin(q), a], axis=-1)[:, None]
    exact = W @ PHI
    usual = np.sqrt(np.mean(exact**2))
    added = friction * np.tanh(v / 0.02) * (1 + 0.5 * np.sin(3 * q)) + offset
    tau = exact + usual * (added[:, None] + 0.01 * rng.normal(size=exact.shape))
    return Regression(
        W=W,
        tau=tau,
        known=np.zeros_like(tau),
        time=t,
        parameters=("p0", "p1", "p2"),
        channels=("f0",),
        units=("N m",),
        valid=np.ones(tau.shape, dtype=bool),
    )


def test_covariance_of_what_offsets_would_have_done() -> None:
    """The estimate is linear in the forces: estimated with an offset of 2.5 % besides."""
    r = replace(lever(0), noise=np.array([0.02]))
    plain = MaximumAPosteriori("full", 1.0, noise="declared")
    posterior = plain.posterior(r, PRIOR)
    found = plain.estimate(posterior)
    forces = r.W @ found.values
    size = 0.025 * np.sqrt(np.mean(forces**2))
    other = plain(replace(r, tau=r.tau + size), PRIOR)
    moved = other.values - found.values
    trace = np.sqrt(np.mean((r.W @ moved - size) ** 2))
    for lacking, part in ((1.0, 1.0), (trace, 1.0), (0.3 * trace, 0.3), (0.0, 0.0)):
        wider, said = with_unjudged_offsets(
            replace(found, unmodelled=np.array([lacking])), posterior
        )
        np.testing.assert_array_equal(wider.values, found.values)
        added = wider.covariance - found.covariance
        expected = part**2 * np.outer(moved, moved)
        np.testing.assert_allclose(
            added, expected, atol=1e-6 * np.abs(np.outer(moved, moved)).max()
        )
        assert bool(said) == (np.max(wider.sigma / found.sigma) > 1.1)
        if part:
            scale = np.outer(found.sigma, found.sigma)
            np.testing.assert_allclose(
                if_zeroed(wider) / scale, found.covariance / scale, atol=1e-5
            )


def test_an_offset_that_looks_like_a_weight_always_hides() -> None:
    r = replace(lever(1), noise=np.array([0.02]))
    still = replace(r, W=np.concatenate([np.ones_like(r.W[..., :1]), r.W[..., 1:]], axis=2))
    loose = make_prior(PHI, np.diag((10 * PHI) ** 2))
    plain = MaximumAPosteriori("full", 1.0, noise="declared")
    posterior = plain.posterior(still, loose)
    found = replace(plain.estimate(posterior), unmodelled=np.array([1e-3]))
    wider, (said,) = with_unjudged_offsets(found, posterior)
    size = 0.025 * np.sqrt(np.mean((still.W @ found.values) ** 2))
    assert wider.sigma[0] == pytest.approx(np.hypot(found.sigma[0], size), rel=1e-3)
    assert said.startswith("offsets of the forces of 2.5% cannot be told from what the model lacks")
    assert f"that of p0 grows most, {wider.sigma[0] / found.sigma[0]:.3g} times" in said


def test_beside_missing_friction() -> None:
    r = lever(0, friction=0.15, offset=0.03, wide=1.6, n=1500)
    found, zeroed = Automatic(gains=0.0)(r, PRIOR), Automatic(gains=0.0, offsets=0.0)(r, PRIOR)
    np.testing.assert_allclose(found.values, zeroed.values, rtol=1e-9)
    assert found.sigma[0] > 1.1 * zeroed.sigma[0]
    assert np.all(np.abs(found.values - PHI) < 2 * found.sigma)
    for estimate, told in ((found, True), (zeroed, False)):
        assert any("residuals are not noise" in word for word in estimate.warnings)
        assert told == any("cannot be told from what" in word for word in estimate.warnings)


def test_offsets_beside_noise_are_judged_by_evidence() -> None:
    found = Automatic(gains=0.0)(lever(2), PRIOR)
    assert not any("cannot be told" in word for word in found.warnings)
