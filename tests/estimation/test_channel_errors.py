"""Errors that real force channels have: found where they are, and not invented elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import norm

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Estimate
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.regression import Regression, joined

from .problems import likely
from .problems import prior as make_prior

PHI = np.array([2.0, -1.0, 0.5, 3.0])
PRIOR = make_prior(PHI * np.array([1.1, 0.85, 1.2, 0.9]), np.diag((0.2 * PHI) ** 2))
TIME = np.arange(500) / 50


def columns(time: np.ndarray) -> np.ndarray:
    """Return a smooth W of a motion that repeats itself every second, (N, 3, 4)."""
    phase = 2 * np.pi * time[:, None, None]
    k, j = np.arange(1, 5), np.arange(3)[:, None]
    return np.asarray(np.sin(k * phase + 0.7 * k * (j + 1)) + 0.3 * np.cos((5 - k) * phase + j))


def measured(seed: int = 0, *, late: float = 0.0, noise: float = 0.02) -> Regression:
    rng = np.random.default_rng(seed)
    forces = columns(TIME - late) @ PHI
    return Regression(
        W=columns(TIME),
        tau=forces + noise * rng.standard_normal(forces.shape),
        known=np.zeros(forces.shape),
        time=TIME,
        parameters=("p0", "p1", "p2", "p3"),
        channels=("f0", "f1", "f2"),
        units=("N",) * 3,
        valid=np.ones(forces.shape, dtype=bool),
    )


def off(found: Estimate) -> float:
    """Return the largest error of a value, in standard deviations."""
    return float(np.max(np.abs((found.values - PHI) / found.sigma)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_found_in_noise(seed: int) -> None:
    found = JointPosterior()(measured(seed), PRIOR)
    assert not likely(found)
    assert off(found) < 4


def test_offsets() -> None:
    r = measured()
    found = JointPosterior()(replace(r, tau=r.tau + np.array([0.5, 0.0, -0.3])), PRIOR)
    there = likely(found)
    assert set(there) == {"offset of f0", "offset of f2"}
    for name, offset in (("offset of f0", 0.5), ("offset of f2", -0.3)):
        one = there[name]
        assert one.values[0] == pytest.approx(offset, abs=4 * one.sigma[0])
        assert one.sigma[0] < 0.002  # 0.02 of 500 samples: 0.0009
        assert (one.family, one.owner, one.unit, one.channel) == ("offsets", "log", "N", name[-2:])
    size = np.sqrt(np.mean(r.tau[:, 0] ** 2 + 0.5**2))
    assert there["offset of f0"].share == pytest.approx(0.5 / size, rel=0.05)
    assert off(found) < 4


def test_drift() -> None:
    r = measured()
    drift = 0.5 * np.sin(2 * np.pi * 0.07 * TIME)[:, None] * np.array([1.0, -1.0, 0.5])
    found = JointPosterior()(replace(r, tau=r.tau + drift), PRIOR)
    assert set(likely(found)) == {f"{x} of f{j}" for x in ("drift", "offset") for j in range(3)}
    assert found.errors is not None
    assert found.errors.drift is not None
    # Drifts are about their mean.
    np.testing.assert_allclose(found.errors.offset, drift.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(found.errors.drift, drift.std(axis=0), rtol=0.03)
    assert off(found) < 4


def test_delay() -> None:
    r = measured(late=0.013)
    found = JointPosterior()(r, PRIOR)
    assert found.errors is not None
    assert found.errors.delay is not None
    np.testing.assert_allclose(found.errors.delay, 0.013, rtol=0.02)
    np.testing.assert_allclose(found.values, PHI, atol=0.02)


def test_outliers() -> None:
    rng = np.random.default_rng(5)
    r = measured()
    spikes = np.where(rng.random(r.tau.shape) < 0.02, 3.0 * rng.standard_normal(r.tau.shape), 0.0)
    spoiled = replace(r, tau=r.tau + spikes)
    found = JointPosterior()(spoiled, PRIOR)
    assert not likely(found)
    assert found.tails is not None
    assert off(found) < 4
    plain = MaximumAPosteriori("full")(spoiled, PRIOR)
    assert np.linalg.norm(found.values - PHI) < 0.5 * np.linalg.norm(plain.values - PHI)


def test_noise_that_grows_with_the_force() -> None:
    rng = np.random.default_rng(6)
    r = measured(noise=0.001)
    noisy = replace(r, tau=r.tau * (1 + 0.05 * rng.standard_normal(r.tau.shape)))
    found = JointPosterior()(noisy, PRIOR)
    assert not likely(found)
    assert off(found) < 4


def test_errors_of_the_model_are_no_gains() -> None:
    """A force that the model lacks, the same in all periods, is no gain and no offset."""
    r = measured(noise=0.01)
    missing = 0.15 * np.sign(np.sin(2 * np.pi * TIME + 0.4))[:, None] * np.array([1.0, 0.7, -0.5])
    spoiled = replace(r, tau=r.tau + missing)
    found = JointPosterior()(spoiled, PRIOR)
    assert not likely(found)
    # It is part of the noise that is there again in the next log.
    assert found.unmodelled is not None
    assert np.all(found.unmodelled > 3 * 0.01)
    honest = MaximumAPosteriori("full", scale=1.0)(spoiled, PRIOR)
    # Independent samples would make them far too certain of values that are off.
    assert off(honest) > 4
    assert off(found) < 3


@pytest.mark.slow
@pytest.mark.parametrize("correlated", [False, True])
def test_offsets_that_cannot_be_seen_are_in_the_standard_deviations(correlated: bool) -> None:
    """A constant column is an offset; coloured noise looks like one besides."""
    r = measured()
    W, noise = r.W.copy(), r.tau - r.W @ PHI
    if correlated:
        noise = lfilter([0.5], [1.0, -0.9], noise, axis=0)
    W[:, :, 0] = np.array([1.0, 0.0, 0.0])
    r = replace(r, W=W, tau=W @ PHI + noise)
    found, zeroed = JointPosterior()(r, PRIOR), JointPosterior("offsets, gains")(r, PRIOR)
    assert "offset of f0" not in likely(found)
    # There with a probability of one in ten, log-normal about 3 % of the force, beside 0.4.
    size = np.sqrt(np.mean(r.tau[:, 0] ** 2))
    x = np.linspace(-5, np.log(30), 1000)
    squares, law = (0.03 * size * np.exp(x)) ** 2, norm.pdf(x)
    mean = np.sum(law * squares * 0.16 / (squares + 0.16)) / np.sum(law)
    assert found.sigma[0] == pytest.approx(np.sqrt(0.1 * mean), rel=0.35)
    shift = 0.03 * size * np.array([1.0, 0.0, 0.0])
    # A chain is there in one of ten sweeps: its deviation is known to a quarter.
    chains = [JointPosterior(seed=k)(replace(r, tau=r.tau + shift), PRIOR) for k in range(3)]
    assert chains[0].values[0] - found.values[0] == pytest.approx(shift[0], rel=0.25)
    deviation = np.sqrt(np.mean([chain.sigma[0] ** 2 for chain in chains]))
    assert abs(chains[0].values[0] - PHI[0]) < 3 * deviation
    assert abs(chains[0].values[0] - PHI[0]) > 5 * zeroed.sigma[0]


def test_offsets_that_other_forces_tell() -> None:
    """A constant column of one force, whose parameter moves others too."""
    r = measured()
    W = r.W.copy()
    W[:, 0, 0] = 1.0
    tau = W @ PHI + (r.tau - r.W @ PHI) + np.array([0.15, 0.0, 0.0])
    found = JointPosterior()(replace(r, W=W, tau=tau), PRIOR)
    assert set(likely(found)) == {"offset of f0"}
    assert found.errors is not None
    assert found.errors.offset[0] == pytest.approx(0.15, abs=4 * found.errors.sigma_offset[0])
    assert off(found) < 4


def test_gains_that_cannot_be_seen_are_in_the_standard_deviations() -> None:
    """A common factor of all forces is a factor of all parameters, and the CAD values are vague."""
    r = measured(noise=0.002)
    found, exact = JointPosterior()(r, PRIOR), JointPosterior("gains")(r, PRIOR)
    assert not likely(found)
    # All standard deviations are that of the factor.
    factor = found.sigma / np.abs(PHI)
    np.testing.assert_allclose(factor, factor[0], rtol=0.05)
    assert factor[0] > 0.5 * np.sqrt(0.1) * 0.04
    np.testing.assert_allclose((found.values - exact.values) / found.sigma, 0.0, atol=0.3)
    wrong = JointPosterior()(replace(r, tau=1.02 * r.tau), PRIOR)
    assert off(wrong) < 3.5
    assert np.min(np.abs(wrong.values - PHI) / exact.sigma) > 10


def test_offsets_belong_to_logs() -> None:
    offsets = np.array([[0.5, -0.2, 0.1], [-0.4, 0.3, 0.0]])
    logs = [
        replace(r, tau=r.tau + o) for r, o in zip((measured(1), measured(2)), offsets, strict=True)
    ]
    found = JointPosterior()(joined(logs), PRIOR)
    assert found.errors is not None
    assert found.errors.by_log is not None
    np.testing.assert_allclose(found.errors.by_log, offsets, atol=0.01)
    np.testing.assert_allclose(found.errors.offset, offsets.mean(axis=0), atol=0.01)


def test_a_force_in_another_unit_is_not_used() -> None:
    r = measured()
    found = JointPosterior()(replace(r, tau=r.tau * np.array([1.0, 1000.0, 1.0])), PRIOR)
    assert "force f1, 1" in found.warnings[0]
    assert "was not used" in found.warnings[0]
    assert np.isnan(found.noise[1])
    assert off(found) < 4


def test_forces_of_unknown_coefficients_may_be_of_any_size() -> None:
    """The CAD value of a parameter that makes most of the force is zero, for it is not known."""
    r = measured()
    wide = make_prior(np.append(0.001 * PHI[:3], 0.0), np.diag([1.0, 1.0, 1.0, 100.0]))
    found = JointPosterior()(r, wide)
    assert not any("was not used" in word for word in found.warnings)
    np.testing.assert_allclose(found.values, PHI, atol=0.02)
