"""Offsets that a parameter imitates: CAD values tell them from it, or the uncertainty has them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

from mechid.estimation.automatic import Automatic
from mechid.estimation.doubtful_offsets import if_zeroed
from mechid.estimation.estimate import Estimate
from mechid.estimation.regression import Floats, Regression

from .problems import prior as make_prior
from .test_channel_errors import PRIOR, measured

CALIBRATED = Automatic(gains=0.0)

PHI = np.array([2.0, -1.0, 0.5, 3.0])
# Weight and inertia of one body: its mass is uncertain by 20 %, its centre by 3 %.
COMMON = np.array([0.2, 0.2, 0.0, 0.0]) * PHI
TIED = np.outer(COMMON, COMMON) + np.diag((np.array([0.03, 0.0, 0.2, 0.2]) * PHI) ** 2)


def problem(seed: int, offset: float, forces: int = 1) -> tuple[Regression, float]:
    """Return forces, the first with a constant column, like a weight, and an offset relative to
    its rms."""
    r = measured(seed, noise=0.02)
    W = r.W.copy()
    W[..., 0] = np.array([1.0, 0.0, 0.0])
    tau = W @ PHI + (r.tau - r.W @ PHI)
    size = float(np.sqrt(np.mean(tau[:, 0] ** 2)))
    tau[:, 0] += offset * size
    return (
        replace(
            r,
            W=W[:, :forces],
            tau=tau[:, :forces],
            known=r.known[:, :forces],
            valid=r.valid[:, :forces],
            channels=r.channels[:forces],
            units=r.units[:forces],
        ),
        size,
    )


def estimate(seed: int, offset: float) -> Estimate:
    r, _ = problem(seed, offset)
    mass = np.random.default_rng(100 + seed).standard_normal()
    return Automatic()(r, make_prior(PHI + mass * COMMON, TIED))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_inertia_tells_an_offset_from_a_weight(seed: int, sign: float) -> None:
    """The inertia shows the mass, and the weight would be off by more than its centre can be.

    An offset of the standard deviation s and a weight that is known to w: with z = o/w and
    c = s/w the log evidence is ½ z² c²/(1 + c²) - ½ ln(1 + c²), which is > 1 for o = s from
    c = 2.2 on.
    """
    found = estimate(seed, 0.05 * sign)
    assert found.errors is not None
    assert any(word.startswith("offsets by CAD values taken") for word in found.known)
    offset = 0.05 * problem(seed, 0.0)[1]
    assert 2.2 < offset / (0.03 * PHI[0]) < 3.8
    assert 0.5 * offset < sign * found.errors.offset[0] < 1.1 * offset
    assert np.all(np.abs(found.values - PHI) < 3 * found.sigma)


@pytest.mark.parametrize("seed", range(3))
def test_offsets_that_the_data_see_in_part(seed: int) -> None:
    """A weight that swings by a tenth: what parameters leave of an offset of 3 % is a fifth of the
    noise, and hardly shows in blocks of time."""
    time, phi = np.arange(200) / 50, np.array([2.0, 1.0, 0.5])
    rng = np.random.default_rng(seed)
    turn = 2 * np.pi * time
    W = np.stack([1 + 0.1 * np.sin(turn), np.cos(turn), np.sin(2 * turn)], axis=1)[:, None, :]
    forces = W @ phi
    size = float(np.sqrt(np.mean(forces**2)))
    r = Regression(
        W=W,
        tau=forces + size * (0.03 + 0.01 * rng.standard_normal(forces.shape)),
        known=np.zeros(forces.shape),
        time=time,
        parameters=("p0", "p1", "p2"),
        channels=("f",),
        units=("N",),
        valid=np.ones(forces.shape, dtype=bool),
    )
    off = 0.02 * np.random.default_rng(50 + seed).standard_normal(3)
    found = CALIBRATED(r, make_prior((1 + off) * phi, np.diag((0.02 * phi) ** 2)))
    assert any(word.startswith("offsets by CAD values taken") for word in found.known)
    assert np.all(np.abs(found.values - phi) < 3.5 * found.sigma)
    none = replace(r, tau=r.tau - 0.03 * size)
    found = CALIBRATED(none, make_prior((1 + off) * phi, np.diag((0.02 * phi) ** 2)))
    assert found.errors is None
    assert np.all(np.abs(found.values - phi) < 3.5 * found.sigma)


@pytest.mark.parametrize("seed", range(12))
def test_none_is_invented_and_a_warning_says_that_there_may_be_one(seed: int) -> None:
    found = estimate(seed, 0.0)
    assert found.errors is None
    assert any(word.startswith("offsets of the forces of 5% were not") for word in found.warnings)
    assert np.all(np.abs(found.values - PHI) < 4 * found.sigma)


@pytest.mark.parametrize("seed", range(6))
def test_standard_deviations_contain_what_data_and_cad_values_do_not_exclude(seed: int) -> None:
    """The data show the sum of a weight, known to w, and an offset of the standard deviation s.

    If the sum is off by d, the offset is s²/(s² + w²) d ± sw/√(s² + w²) with the probability of
    the evidence, ½ (d/w)² c²/(1 + c²) - ½ ln(1 + c²) with c = s/w, and goes into the weight. With
    the probability p it is beyond q of its deviations in p · 2 Φ(-q) of all cases: 5 % for the
    interval of 1.96 deviations that contains it.
    """
    r, size = problem(seed, 0.0)
    s, w = 0.05 * size, 0.1 * PHI[0]
    d = 0.7 * w * np.random.default_rng(seed).standard_normal()
    covariance = np.diag((np.array([0.1, 0.2, 0.2, 0.2]) * PHI) ** 2)
    prior = make_prior(PHI - np.array([d, 0.0, 0.0, 0.0]), covariance)
    found, zeroed = CALIBRATED(r, prior), Automatic(offsets=0.0, gains=0.0)(r, prior)
    c = s / w
    p = expit(0.5 * (d / w) ** 2 * c**2 / (1 + c**2) - 0.5 * np.log(1 + c**2))
    square = (s**2 / (s**2 + w**2) * d) ** 2 + s**2 * w**2 / (s**2 + w**2)
    np.testing.assert_allclose(found.values, zeroed.values, rtol=1e-9)
    q = brentq(lambda q: p * 2 * norm.sf(q) - 0.05, 0.0, 1.96)
    more = found.sigma[0] ** 2 - zeroed.sigma[0] ** 2
    assert more == pytest.approx((q / 1.96) ** 2 * square, rel=0.01)
    assert more > p * square
    np.testing.assert_allclose(found.sigma[1:], zeroed.sigma[1:], rtol=1e-3)
    size = np.outer(zeroed.sigma, zeroed.sigma)
    np.testing.assert_allclose(if_zeroed(found) / size, zeroed.covariance / size, atol=1e-3)
    assert if_zeroed(zeroed) is zeroed.covariance
    (said,) = [word for word in found.warnings if "offsets" in word]
    assert f"(probability of each: f0 {p:.0%})" in said
    assert f"p0 grows most, {found.sigma[0] / zeroed.sigma[0]:.3g} times" in said


def test_offsets_that_are_not_taken_are_covered() -> None:
    """CAD values cannot tell offsets of 3 % from a weight that is uncertain by 20 %."""
    z = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        r, _ = problem(seed, 0.03 * rng.standard_normal())
        prior = make_prior(PHI * (1 + 0.2 * rng.standard_normal(4)), np.diag((0.2 * PHI) ** 2))
        found, zeroed = CALIBRATED(r, prior), Automatic(offsets=0.0, gains=0.0)(r, prior)
        z.append([(x.values[0] - PHI[0]) / x.sigma[0] for x in (found, zeroed)])
    assert np.mean(np.abs(z) < 2, axis=0)[0] >= 0.9
    assert np.mean(np.abs(z) < 2, axis=0)[1] < 0.3


@pytest.mark.parametrize("seed", range(4))
def test_beside_errors_of_the_model(seed: int) -> None:
    """Where residuals are no noise, offsets are not taken, and nothing becomes more certain."""
    r, size = problem(seed, 0.0)
    lacking = 0.05 * size * np.sin(2 * np.pi * 20 * np.linspace(0, 1, len(r.time)))[:, None]
    wrong = replace(r, tau=r.tau + lacking)
    prior = make_prior(PHI, np.diag((0.1 * PHI) ** 2))
    found, zeroed = Automatic()(wrong, prior), Automatic(offsets=0.0)(wrong, prior)
    assert any(word.startswith("residuals are not noise") for word in found.warnings)
    assert any(word.startswith("offsets of the forces of 5% were not") for word in found.warnings)
    assert found.sigma[0] > 1.1 * zeroed.sigma[0]
    scale = np.outer(zeroed.sigma, zeroed.sigma)
    assert np.linalg.eigvalsh((found.covariance - zeroed.covariance) / scale)[0] > -1e-9


def test_sensors_that_are_said_to_be_zeroed() -> None:
    r, _ = problem(0, 0.0)
    found = Automatic(offsets=0.0)(r, make_prior(PHI, TIED))
    assert not any("offset" in word for word in found.warnings)
    plain = Automatic()(r, make_prior(PHI, TIED))
    np.testing.assert_allclose(found.values, plain.values, rtol=1e-6)


def test_an_offset_that_was_given_stays_as_it_was_given() -> None:
    """Not even where the data show a large one: the residuals do, and a warning says so."""
    r = measured(noise=0.05)
    wrong = replace(r, tau=r.tau + np.array([0.8, 0.0, 0.0]))
    assert np.abs(offsets(Automatic()(wrong, PRIOR))).max() > 0.7
    np.testing.assert_allclose(offsets(Automatic(offsets=0.0)(wrong, PRIOR)), 0.0, atol=1e-12)


def offsets(found: Estimate) -> Floats:
    return np.zeros(1) if found.errors is None else found.errors.offset


def test_sensors_are_alike() -> None:
    """Where two others visibly have no offset, one that cannot be seen is less probable.

    One offset is as probable as none, two, or three, and any force as probable to have it: with
    the evidence e of an offset of the first, its probability is e/2 : 1/2 alone and e/3 : 1 here.
    """
    chances = []
    for forces in (1, 3):
        r, _ = problem(0, 0.0, forces=forces)
        (said,) = [w for w in Automatic()(r, make_prior(PHI, TIED)).warnings if "offsets of" in w]
        chances.append(float(said.partition("f0 ")[2].partition("%")[0]) / 100)
    e = chances[0] / (1 - chances[0])
    assert chances[1] == pytest.approx(e / 3 / (1 + e / 3), abs=0.03)
    r, _ = problem(0, 0.05, forces=3)
    found = Automatic()(r, make_prior(PHI, TIED))
    assert found.errors is None
