"""Estimates with everything but the values as it was found before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import without_channel_errors
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.same_law import Frozen

from .problems import prior, regression

PHI = np.array([2.0, -1.0, 0.5, 3.0])
KNOWN = prior(PHI + 0.05, np.diag((0.1 * PHI) ** 2))


@pytest.mark.parametrize("prior", ["diagonal", "full"])
def test_again_on_the_same_data(prior: str) -> None:
    """Noise is estimated once; with it, the same values come out again."""
    r = regression(np.random.default_rng(1), PHI, [0.1, 0.3, 0.2], n=80, known=0.4, missing=0.1)
    whole = MaximumAPosteriori(prior, scale=1.0)(r, KNOWN)  # type: ignore[arg-type]
    again = Frozen(whole, prior)(r, KNOWN)  # type: ignore[arg-type]
    np.testing.assert_allclose(again.values, whole.values, rtol=1e-5)
    np.testing.assert_allclose(again.covariance, whole.covariance, rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(again.residuals, whole.residuals, atol=1e-4)


def test_gains_are_taken_away() -> None:
    r = regression(np.random.default_rng(2), PHI, 0.01, n=200, known=0.4)
    r = replace(r, tau=r.tau * np.array([1.05, 0.96, 1.02]))
    whole = JointPosterior(only="gains")(r, KNOWN)
    again = Frozen(whole)(without_channel_errors(whole, r), KNOWN)
    # Gains that are taken for certain move the values by a small part of what they leave unknown.
    assert np.all(np.abs(again.values - whole.values) < 0.1 * whole.sigma)
    assert again.errors is None
    assert whole.errors is not None
    pure = whole.residuals / (1 + whole.errors.gain)
    np.testing.assert_allclose(again.residuals, pure, atol=2e-3)


def test_offsets_are_taken_away_in_other_motions_too() -> None:
    r = regression(np.random.default_rng(2), PHI, 0.01, n=200, known=0.4)
    offset = np.array([0.5, -0.2, 0.0])
    measured = replace(r, tau=r.tau + offset)
    whole = MaximumAPosteriori("full", 1.0, offsets=0.1)(measured, KNOWN)
    for identification in (True, False):
        clean = without_channel_errors(whole, measured, identification=identification)
        np.testing.assert_allclose(clean.tau, r.tau, atol=0.01)


def test_refusals() -> None:
    r = regression(np.random.default_rng(3), PHI, 0.1)
    whole = MaximumAPosteriori(scale=1.0)(r, KNOWN)
    with pytest.raises(DataError, match="CAD values"):
        Frozen(whole)(r)
    with pytest.raises(DataError, match="channels"):
        Frozen(whole)(replace(r, channels=("a", "b", "c")), KNOWN)
