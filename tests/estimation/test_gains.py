"""Which of several forces has a wrong gain: what data can tell, and what they cannot."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.automatic import Automatic
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Estimate
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression

from .problems import prior, regression

PHI = np.array([2.0, -1.0, 0.5, 3.0])


def problem(n_d: int, wrong: int, common: float = 0.3) -> tuple[Regression, Prior]:
    """Return forces of which one is 10 % too large, and CAD values off by a common factor."""
    rng = np.random.default_rng(11)
    r = regression(rng, PHI, 0.02, n=300, n_d=n_d)
    factor = 1 + 0.1 * (np.arange(n_d) == wrong)
    covariance = common**2 * np.outer(PHI, PHI) + np.diag((0.001 * PHI) ** 2)
    return replace(r, tau=r.tau * factor), prior(PHI, covariance)


def taken(estimate: Estimate) -> list[str]:
    return [word.split(" taken")[0] for word in estimate.known if " taken: error" in word]


@pytest.mark.parametrize("wrong", [0, 1])
def test_two_forces_share_what_nothing_tells(wrong: int) -> None:
    """Least Σ g² with the ratio that the data show, (1 + g_1) = 1.1 (1 + g_0) or the other way."""
    r, known = problem(2, wrong)
    found = Automatic()(r, known)
    assert taken(found) == ["gains"]
    assert found.errors is not None
    small = -0.1 * 1.1 / (1 + 1.1**2)
    expected = np.full(2, small)
    expected[wrong] = 1.1 * (1 + small) - 1
    np.testing.assert_allclose(found.errors.gain, expected, atol=0.01)
    # The truth, and what it were if the other force were too small, are both in the intervals.
    for truth in (PHI, 1.1 * PHI):
        assert np.all(np.abs(found.values - truth) < 1.96 * found.sigma)
    assert "nothing but the CAD values tells which" in "".join(found.warnings)


def test_one_of_five_forces_is_found() -> None:
    r, known = problem(5, 3)
    found = Automatic()(r, known)
    assert taken(found) == ["gains"]
    assert found.errors is not None
    np.testing.assert_allclose(found.errors.gain, 0.1 * (np.arange(5) == 3), atol=0.01)
    np.testing.assert_allclose(found.values, PHI, rtol=0.01)
    (words,) = (x for x in found.known if "whose gain may be off" in x)
    off = {n: float(p) for n, p in re.findall(r"(f\d) (\d+)%", words)}
    assert off["f3"] > 95.0
    assert max(p for name, p in off.items() if name != "f3") < 50.0


def test_only_gains_are_shared() -> None:
    r, known = problem(2, 0)
    with pytest.raises(DataError, match="must be a number ≥ 0 or estimated, got shared"):
        MaximumAPosteriori("full", offsets="shared")(r, known)  # type: ignore[arg-type]
