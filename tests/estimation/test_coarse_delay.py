"""Delays of a sample and more, of forces that vary faster than they are late."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.channels import Channels
from mechid.estimation.coarse_delay import coarse_delay
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.regression import Floats, Regression

from .problems import likely
from .problems import prior as make_prior

PHI = np.array([2.0, -1.0, 0.5, 3.0])
F = np.diag(0.2 * PHI)
PRIOR = make_prior(PHI * np.array([1.1, 0.85, 1.2, 0.9]), F**2)
TIME = np.arange(500) / 50


def columns(time: Floats) -> Floats:
    """Return W of a motion of which some parts come again after 2.5 to 4 samples, (N, 2, 4)."""
    frequency = np.array([1.0, 12.3, 16.1, 19.2])
    phase = 2 * np.pi * time[:, None, None] * frequency
    return np.asarray(np.sin(phase + np.array([0.0, 1.0])[:, None]))


def measured(seed: int, late: float) -> Regression:
    rng = np.random.default_rng(seed)
    forces = columns(TIME - late) @ PHI
    return Regression(
        W=columns(TIME),
        tau=forces + 0.03 * rng.standard_normal(forces.shape),
        known=np.zeros(forces.shape),
        time=TIME,
        parameters=("p0", "p1", "p2", "p3"),
        channels=("f0", "f1"),
        units=("N", "N"),
        valid=np.ones(forces.shape, dtype=bool),
    )


@pytest.mark.parametrize("late", [-0.06, -0.02, 0.02, 0.04, 0.06])
def test_fast_forces_that_are_late_by_samples(late: float) -> None:
    found = JointPosterior()(measured(1, late), PRIOR)
    assert found.errors is not None
    assert found.errors.delay is not None
    np.testing.assert_allclose(found.errors.delay, late, atol=2e-4)
    assert np.all(np.abs(found.values - PHI) < 4 * found.sigma)


@pytest.mark.parametrize("seed", range(3))
def test_no_delay_is_invented(seed: int) -> None:
    found = JointPosterior()(measured(seed, 0.0), PRIOR)
    assert not likely(found)
    assert found.errors is not None
    np.testing.assert_array_equal(found.errors.delay, 0.0)


def test_gaps_and_logs_are_not_crossed() -> None:
    """Two logs, one with a gap in its forces: shifts are those within each of them."""
    r = measured(2, 0.04)
    valid = r.valid.copy()
    valid[100:120] = False
    log = (np.arange(500) >= 260).astype(np.int64)
    time = TIME - np.where(log, TIME[260], 0.0)
    found = coarse_delay(Channels(replace(r, valid=valid, log=log, time=time)), PRIOR.mean, F)
    assert found == pytest.approx(0.04)


def test_dense_samples_are_shifted_by_many() -> None:
    """At 1 kHz, 37 ms are 37 samples; the grid is coarser, and within half of its step."""
    time = np.arange(2000) / 1000
    r = replace(
        measured(0, 0.0),
        W=columns(time),
        tau=columns(time - 0.037) @ PHI,
        known=np.zeros((2000, 2)),
        time=time,
        valid=np.ones((2000, 2), dtype=bool),
    )
    assert coarse_delay(Channels(r), PRIOR.mean, F) == pytest.approx(0.037, abs=0.0026)


@pytest.mark.parametrize("late", [-0.12, 0.12])
@pytest.mark.parametrize("samples", [2000, 4000, 5000])
def test_delays_beyond_the_search_end_at_its_edge(late: float, samples: int) -> None:
    """No sample outside of the data is looked at, wherever the best shift is."""
    time = np.arange(samples) / 1000
    r = replace(
        measured(0, 0.0),
        W=columns(time)[..., :1],
        tau=columns(time - late)[..., 0] * PHI[0],
        known=np.zeros((samples, 2)),
        time=time,
        valid=np.ones((samples, 2), dtype=bool),
        parameters=("p0",),
    )
    found = coarse_delay(Channels(r), PRIOR.mean[:1], F[:1, :1])
    assert found == pytest.approx(np.copysign(0.1, late), abs=0.003)


def test_samples_without_known_forces_are_not_shifted_to() -> None:
    r = measured(2, 0.06)
    known, valid = r.known.copy(), r.valid.copy()
    known[250], valid[250] = np.nan, False
    found = coarse_delay(Channels(replace(r, known=known, valid=valid)), PRIOR.mean, F)
    assert found == pytest.approx(0.06)


@pytest.mark.parametrize("samples", [0, 1, 2, 9, 30])
def test_few_samples_have_no_delay(samples: int) -> None:
    r = measured(0, 0.0).part(slice(0, samples))
    assert abs(coarse_delay(Channels(r), PRIOR.mean, F)) <= 0.1 * samples / 50
