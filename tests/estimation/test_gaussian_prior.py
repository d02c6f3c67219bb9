"""The covariance of the CAD values, body by body."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.estimation.channels import DRIFT_TERMS, Channels
from mechid.estimation.gaussian_prior import body_factors, cad_prior
from mechid.estimation.prior import Prior

from .problems import prior, regression

A, B, K = range(10), range(10, 20), (20,)


@pytest.mark.parametrize(
    ("linked", "parts"),
    [(0.0, {"a": A, "b": B, "k": K}), (0.5, {"a and b": (*A, *B), "k": K})],
)
def test_factors_of_single_bodies(linked: float, parts: dict[str, tuple[int, ...]]) -> None:
    """Each gives its own part of the covariance, also if errors of its ten are independent."""
    names = (*(f"{body}{k}" for body in "ab" for k in range(10)), "k")
    P = np.diag(np.arange(1.0, 22.0))
    P[0, 10] = P[10, 0] = linked
    matrix = np.random.default_rng(0).standard_normal((6, 21))
    known = Prior(names, names[:6], matrix, np.zeros(21), P, (("a", 0), ("b", 10)))
    F, number, owners = body_factors(known)
    assert owners == tuple(parts)
    for k, own in enumerate(parts.values()):
        mine, part = F[:, number == k], matrix[:, list(own)]
        np.testing.assert_allclose(mine @ mine.T, part @ P[np.ix_(own, own)] @ part.T, atol=1e-12)


def test_each_series_has_a_scale_of_its_own() -> None:
    """After that of the CAD values: offsets of three forces, then the cosines of three drifts."""
    r = regression(np.random.default_rng(0), [1.0, 2.0])
    channels = Channels(r, offsets=True, drift=True)
    known = prior(np.ones(2), np.eye(2), r.parameters)
    errors = {"offsets": "estimated", "drift": "estimated"}
    found = cad_prior(channels, known, "full", "estimated", (), errors)
    drifts = np.repeat([4, 5, 6], DRIFT_TERMS)
    np.testing.assert_array_equal(found.group, [0, 0, 1, 2, 3, *drifts])
    assert len(found.scale) == len(found.beliefs) == 7
