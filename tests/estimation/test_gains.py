"""Which of several forces has a wrong gain: what data can tell, and what they cannot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.estimate import predict
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression

from .problems import likely, prior, regression

PHI = np.array([2.0, -1.0, 0.5, 3.0])


def problem(n_d: int, wrong: int, common: float = 0.3) -> tuple[Regression, Prior]:
    """Return forces of which one is 10 % too large, and CAD values off by a common factor."""
    rng = np.random.default_rng(11)
    r = regression(rng, PHI, 0.02, n=300, n_d=n_d)
    factor = 1 + 0.1 * (np.arange(n_d) == wrong)
    covariance = common**2 * np.outer(PHI, PHI) + np.diag((0.001 * PHI) ** 2)
    return replace(r, tau=r.tau * factor), prior(PHI, covariance)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [0, 1])
def test_two_forces_share_what_nothing_tells(wrong: int) -> None:
    """(1 + g_1) = 1.1 (1 + g_0) or the other way: data show the ratio, and not whose it is."""
    r, known = problem(2, wrong)
    found = JointPosterior()(r, known)
    assert {x.family for x in likely(found).values()} == {"gains"}
    assert found.errors is not None
    gain = found.errors.gain
    assert (1 + gain[wrong]) / (1 + gain[1 - wrong]) == pytest.approx(1.1, abs=0.005)
    # The truth, and what it were if the other force were too small, are both in the intervals.
    for gains in (0.1 * (np.arange(2) == wrong), -0.1 / 1.1 * (np.arange(2) != wrong)):
        assert np.all(np.abs(gain - gains) < 1.96 * found.errors.sigma_gain)
    for truth in (PHI, 1.1 * PHI):
        assert np.all(np.abs(found.values - truth) < 1.96 * found.sigma)
    one, other = (next(x for x in found.found if x.name == f"gain of f{j}") for j in range(2))
    assert 0.2 < one.probability < 0.9
    assert 0.2 < other.probability < 0.9


@pytest.mark.parametrize("common", [0.3, 0.02])
def test_one_of_five_forces_is_found(common: float) -> None:
    r, known = problem(5, 3, common)
    found = JointPosterior()(r, known)
    assert set(likely(found)) == {"gain of f3"}
    (gain,) = likely(found)["gain of f3"].values
    assert gain == pytest.approx(np.log(1.1), abs=0.005)
    assert found.errors is not None
    np.testing.assert_allclose(found.errors.gain, 0.1 * (np.arange(5) == 3), atol=0.01)
    np.testing.assert_allclose(found.values, PHI, rtol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.9, 1.0, 1.1])
@pytest.mark.parametrize("n_d", [1, 3])
def test_a_common_factor_is_in_the_standard_deviations_only(n_d: int, factor: float) -> None:
    """CAD values as exact as one in a hundred say that it is there, and nothing else does."""
    r, known = problem(n_d, 9, 0.01)
    found = JointPosterior()(replace(r, tau=factor * r.tau), known)
    assert not likely(found)
    assert not [x for x in found.found if x.name == "gain of all forces"]
    assert np.all(np.abs(found.values - PHI) < 3 * found.sigma)
    # Forces of sensors that are as wrong are told as well as by those that are exact.
    told = predict(found, r)
    off = factor * (r.W @ PHI) - told.forces
    assert np.all(np.abs(off) < 3 * told.by_same_sensors)
    assert np.mean(told.by_same_sensors) < 2 * 0.02
