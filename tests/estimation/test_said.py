"""Numbers that an estimate says of itself, against closed forms."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate_warnings import coloured_residuals
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.tasks.cad_prior import widened

from .problems import coloured, prior, regression


def test_parameters_that_rest_on_the_prior() -> None:
    """One row each, a x = t with unit noise: σ falls to 1/√(1 + a²), to 0.9 for a = 0.484."""
    seen = np.array([0.0, 0.45, 0.52, 3.0])
    rows = np.tile(np.diag(seen)[:, None, :], (1, 1, 1))
    problem = Regression(
        W=rows,
        tau=np.zeros((4, 1)),
        known=np.zeros((4, 1)),
        time=np.arange(4.0),
        parameters=("a", "b", "c", "d"),
        channels=("f",),
        units=("N",),
        valid=np.ones((4, 1), dtype=bool),
        noise=np.ones(1),
    )
    known = prior(np.zeros(4), np.eye(4), problem.parameters)
    found = MaximumAPosteriori(scale=1.0, noise="declared")(problem, known)
    np.testing.assert_allclose(found.sigma, 1 / np.sqrt(1 + seen**2))
    assert found.resting == ("a", "b")


@pytest.mark.parametrize("a", [0.5, 0.6, 0.8])
def test_how_much_too_small_deviations_for_white_noise_are(a: float) -> None:
    """e_k = a e_(k-1) + w: at low frequencies 1/(1 - a) of w, which has √(1 - a²) of e."""
    rng = np.random.default_rng(5)
    r = regression(rng, [1.0, 2.0], n=20_000, n_d=1)
    e = coloured(rng, (20_000, 1), (a,))[:, 0]
    (said,) = coloured_residuals(r, e)
    factor = re.search(r"factor of up to ([\d.]+)", said)
    assert factor is not None
    assert float(factor[1]) == pytest.approx(np.sqrt(1 - a * a) / (1 - a), rel=0.06)


def test_what_is_left_to_the_data_may_be_ten_times_what_makes_all_forces() -> None:
    rng = np.random.default_rng(2)
    W = rng.normal(size=(50, 2, 3))
    W[..., 2] = 0.0
    forces = rng.normal(size=(50, 2))
    known = Prior(
        ("a", "b", "c"), ("a", "b", "c"), np.eye(3), np.zeros(3), np.diag([4.0, 9.0, 1.0])
    )
    wide = widened(known, np.array([False, True, True]), W, forces).covariance
    alone = np.linalg.norm(forces) / np.linalg.norm(W[..., 1])
    np.testing.assert_allclose(np.diag(wide), [4.0, (10 * alone) ** 2, 1.0])
