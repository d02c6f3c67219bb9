"""The prior as a Gaussian: CAD values with a scale, and offsets beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.channels import Channels
from mechid.estimation.gaussian_prior import GaussianPrior, cad_prior

from .problems import prior, regression

L = np.tril(np.random.default_rng(5).normal(size=(5, 5)))
FORCES = np.tile([1.0, 2.0, 4.0], 2)


def of(kind: Any = "full", offsets: Any = None) -> GaussianPrior:
    """Return the prior of five parameters, and of offsets of three forces in two logs."""
    r = regression(np.random.default_rng(1), np.ones(5), n=40)
    r = replace(r, log=np.repeat([0, 1], 20), tau=np.tile([1.0, 2.0, 4.0], (40, 1)))
    known = prior(np.arange(5.0), L @ L.T, r.parameters)
    return cad_prior(Channels(r, offsets is not None), known, kind, offsets)


@pytest.mark.parametrize("kind", ["full", "diagonal"])
def test_cad_values_with_a_scale(kind: str) -> None:
    found = of(kind)
    P = L @ L.T if kind == "full" else np.diag(np.diag(L @ L.T))
    np.testing.assert_array_equal(found.mean, np.arange(5.0))
    np.testing.assert_allclose(found.factor @ found.factor.T, P, atol=1e-12)
    twice = found.scaled(2.0).factor
    np.testing.assert_allclose(twice @ twice.T, 4 * P, atol=1e-12)


@pytest.mark.parametrize(("offsets", "share"), [(0.1, 0.1), ("estimated", 1.0)])
def test_offsets_are_not_scaled(offsets: Any, share: float) -> None:
    found = of(offsets=offsets).scaled(3.0)
    np.testing.assert_array_equal(found.mean, [*range(5), *[0] * 6])
    C = found.factor @ found.factor.T
    np.testing.assert_allclose(C[:5, :5], 9 * L @ L.T, atol=1e-12)
    np.testing.assert_allclose(C[5:, 5:], np.diag((share * FORCES) ** 2))
    assert not C[:5, 5:].any()


def test_nothing_to_estimate() -> None:
    r = regression(np.random.default_rng(2), np.ones(4))
    nothing = prior(np.ones(4), np.zeros((4, 4)), r.parameters)
    with pytest.raises(DataError, match="no standard deviations of the CAD values"):
        cad_prior(Channels(r), nothing, "full", None)
