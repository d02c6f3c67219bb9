"""Offsets that a parameter imitates: CAD values tell them from it, or a warning says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.automatic import Automatic
from mechid.estimation.estimate import Estimate
from mechid.estimation.regression import Floats, Regression

from .problems import prior as make_prior
from .test_channel_errors import PRIOR, measured

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


@pytest.mark.parametrize("seed", range(12))
def test_none_is_invented_and_a_warning_says_what_one_would_do(seed: int) -> None:
    found = estimate(seed, 0.0)
    assert found.errors is None
    assert any(word.startswith("an offset of 5% of force f0 would not") for word in found.warnings)
    assert np.all(np.abs(found.values - PHI) < 4 * found.sigma)


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
    """Where two others visibly have no offset, one that cannot be seen is less probable."""
    r, _ = problem(0, 0.05, forces=3)
    found = Automatic()(r, make_prior(PHI, TIED))
    assert found.errors is None
    assert any("offset of 5% of force f0 would not be seen" in word for word in found.warnings)
