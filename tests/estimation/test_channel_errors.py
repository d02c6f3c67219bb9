"""Errors that real force channels have: found where they are, and not invented elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.automatic import Automatic
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.channels import Channels
from mechid.estimation.regression import Regression, joined

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


def taken(r: Regression) -> tuple[list[str], np.ndarray]:
    """Return the terms that the default takes, and errors of its values in standard deviations."""
    found = Automatic()(r, PRIOR)
    terms = [word.split(" taken")[0] for word in found.known if " taken: error" in word]
    return terms, (found.values - PHI) / found.sigma


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_taken_from_noise(seed: int) -> None:
    terms, z = taken(measured(seed))
    assert terms == []
    assert np.max(np.abs(z)) < 4


def test_offsets() -> None:
    offset = np.array([0.5, 0.0, -0.3])
    r = measured()
    terms, z = taken(replace(r, tau=r.tau + offset))
    assert terms == ["offsets"]
    assert np.max(np.abs(z)) < 4


def test_drift() -> None:
    r = measured()
    drift = 0.5 * np.sin(2 * np.pi * 0.07 * TIME)[:, None] * np.array([1.0, -1.0, 0.5])
    terms, z = taken(replace(r, tau=r.tau + drift))
    assert terms[0] == "drift"
    assert np.max(np.abs(z)) < 4


def test_delay() -> None:
    r = measured(late=0.013)
    found = Automatic()(r, PRIOR)
    assert found.errors is not None
    assert found.errors.delay is not None
    np.testing.assert_allclose(found.errors.delay, 0.013, rtol=0.02)
    np.testing.assert_allclose(found.values, PHI, atol=0.02)


def test_outliers() -> None:
    rng = np.random.default_rng(5)
    r = measured()
    spikes = np.where(rng.random(r.tau.shape) < 0.02, 3.0 * rng.standard_normal(r.tau.shape), 0.0)
    spoiled = replace(r, tau=r.tau + spikes)
    terms, z = taken(spoiled)
    assert terms == ["outliers"]
    assert np.max(np.abs(z)) < 4
    plain = MaximumAPosteriori("full", effective=True)(spoiled, PRIOR)
    clean = Automatic()(spoiled, PRIOR)
    assert np.linalg.norm(clean.values - PHI) < 0.5 * np.linalg.norm(plain.values - PHI)


def test_noise_that_grows_with_the_force() -> None:
    rng = np.random.default_rng(6)
    r = measured(noise=0.001)
    terms, z = taken(replace(r, tau=r.tau * (1 + 0.05 * rng.standard_normal(r.tau.shape))))
    assert terms == ["proportional noise"]
    assert np.max(np.abs(z)) < 4


def test_errors_of_the_model_are_no_gains() -> None:
    """A force that the model lacks, the same in all periods, is no gain and no offset."""
    r = measured(noise=0.01)
    missing = 0.15 * np.sign(np.sin(2 * np.pi * TIME + 0.4))[:, None] * np.array([1.0, 0.7, -0.5])
    spoiled = replace(r, tau=r.tau + missing)
    found = Automatic()(spoiled, PRIOR)
    assert found.errors is None
    assert any("errors of the model repeat with the motion" in word for word in found.known)
    honest = MaximumAPosteriori("full", scale=1.0)(spoiled, PRIOR)
    # Independent samples would make them far too certain of values that are off.
    assert np.max(np.abs((honest.values - PHI) / honest.sigma)) > 4
    assert np.max(np.abs((found.values - PHI) / found.sigma)) < 3


def test_offsets_that_cannot_be_seen_are_named() -> None:
    """A constant column is an offset; with an offset in fact, the parameter is off by as much.

    Standard deviations contain it.
    """
    r = measured(noise=0.02)
    noise = r.tau - r.W @ PHI
    W = r.W.copy()
    W[:, 0, 0] = 1.0
    # The other channels determine this parameter …
    found = Automatic()(replace(r, W=W, tau=W @ PHI + noise), PRIOR)
    assert not [word for word in found.warnings if "offset" in word]
    # … and here they do not.
    alone = W.copy()
    alone[:, 1:, 0] = 0.0
    r = replace(r, W=alone, tau=alone @ PHI + noise)
    found = Automatic()(r, PRIOR)
    (said,) = [word for word in found.warnings if "offset" in word]
    assert "data and CAD values do not exclude them (probability of each: f0 " in said
    assert "that of p0 grows most" in said
    offset = 0.05 * np.sqrt(np.mean(r.tau[:, 0] ** 2))
    shifted = Automatic()(replace(r, tau=r.tau + offset * np.array([1.0, 0.0, 0.0])), PRIOR)
    assert shifted.values[0] - found.values[0] == pytest.approx(offset, rel=0.05)
    assert abs(shifted.values[0] - PHI[0]) < 3 * shifted.sigma[0]


def test_offsets_beside_coloured_noise_are_in_the_standard_deviations() -> None:
    """They are not taken, because coloured noise looks like them; but they may be there."""
    r = measured(noise=0.02)
    W = r.W.copy()
    W[:, :, 0] = np.array([1.0, 0.0, 0.0])
    white = np.random.default_rng(3).standard_normal(r.tau.shape)
    noise = np.zeros(r.tau.shape)
    for k in range(1, len(noise)):
        noise[k] = 0.9 * noise[k - 1] + 0.01 * white[k]
    r = replace(r, W=W, tau=W @ PHI + noise)
    found = Automatic()(r, PRIOR)
    assert found.errors is None
    assert any(word.startswith("colour taken") for word in found.known)
    (said,) = [word for word in found.warnings if "offset" in word]
    assert "that of p0 grows most" in said
    offset = 0.05 * np.sqrt(np.mean(r.tau[:, 0] ** 2))
    shifted = Automatic()(replace(r, tau=r.tau + offset * np.array([1.0, 0.0, 0.0])), PRIOR)
    zeroed = Automatic(offsets=0.0, gains=0.0)(r, PRIOR)
    assert shifted.values[0] - found.values[0] == pytest.approx(offset, rel=0.05)
    assert abs(shifted.values[0] - PHI[0]) < 3 * shifted.sigma[0]
    assert abs(shifted.values[0] - PHI[0]) > 10 * zeroed.sigma[0]


def test_gain_errors_that_cannot_be_seen_are_contained_and_named() -> None:
    """A common factor of all forces is a factor of all parameters, and the CAD values are vague."""
    r = measured(noise=0.002)
    found, exact = Automatic()(r, PRIOR), Automatic(gains=0.0)(r, PRIOR)
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-6)
    (said,) = [word for word in found.warnings if word.startswith("data do not exclude gain")]
    name, _, rest = said.partition(" and that of ")[2].partition(" grows most, ")
    k = found.parameters.index(name)
    assert found.sigma[k] / exact.sigma[k] == pytest.approx(float(rest.split(" ")[0]), rel=0.01)
    wrong = Automatic()(replace(r, tau=1.03 * r.tau), PRIOR)
    assert abs(wrong.values[k] - found.values[k]) > 3 * exact.sigma[k]
    assert abs(wrong.values[k] - found.values[k]) < 2 * found.sigma[k]
    declared = Automatic(gains=0.01)(r, PRIOR)
    for other in (declared, exact):
        assert not [word for word in other.warnings if "gain errors" in word]
    assert exact.sigma[k] < declared.sigma[k] < found.sigma[k]


def test_offsets_belong_to_logs() -> None:
    offsets = np.array([[0.5, -0.2, 0.1], [-0.4, 0.3, 0.0]])
    logs = [
        replace(r, tau=r.tau + o) for r, o in zip((measured(1), measured(2)), offsets, strict=True)
    ]
    found = Automatic()(joined(logs), PRIOR)
    assert found.errors is not None
    assert found.errors.by_log is not None
    np.testing.assert_allclose(found.errors.by_log, offsets, atol=0.01)
    np.testing.assert_allclose(found.errors.offset, offsets.mean(axis=0), atol=0.01)


def test_a_force_in_another_unit_is_not_used() -> None:
    r = measured()
    found = Automatic()(replace(r, tau=r.tau * np.array([1.0, 1000.0, 1.0])), PRIOR)
    assert "force f1, 1" in found.warnings[0]
    assert "was not used" in found.warnings[0]
    assert np.isnan(found.noise[1])
    assert np.max(np.abs((found.values - PHI) / found.sigma)) < 4


def test_forces_of_unknown_coefficients_may_be_of_any_size() -> None:
    """The CAD value of a parameter that makes most of the force is zero, for it is not known."""
    r = measured()
    wide = make_prior(np.append(0.001 * PHI[:3], 0.0), np.diag([1.0, 1.0, 1.0, 100.0]))
    found = Automatic()(r, wide)
    assert not any("was not used" in word for word in found.warnings)
    np.testing.assert_allclose(found.values, PHI, atol=0.02)


def test_linearised_channels() -> None:
    """Derivatives by x of all terms, against finite differences."""
    r = joined([measured(1), measured(2)])
    channels = Channels(r, gains=True, offsets=True, drift=True, delay=True)
    rng = np.random.default_rng(7)
    x = np.concatenate([PHI, 0.01 * rng.standard_normal(channels.size - len(PHI))])
    J, y = channels.linearised(x)
    np.testing.assert_allclose(y - J @ x, channels.residuals(x), atol=1e-12)
    h = 1e-6
    for k in rng.choice(channels.size, 30, replace=False):
        step = h * np.eye(channels.size)[k]
        slope = (channels.residuals(x - step) - channels.residuals(x + step)) / (2 * h)
        # The first and last samples have no earlier or later ones.
        inner = np.abs(slope - J[:, k]) > 1e-5 * (1 + np.abs(J[:, k]))
        assert np.count_nonzero(inner) <= 12
