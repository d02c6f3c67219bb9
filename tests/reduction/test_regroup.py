"""Base parameters read off singular values, after an elimination by contribution or without."""

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.estimate import predict
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.reduction.contribution import contribution
from mechid.reduction.regroup import regroup
from mechid.reduction.rest import restrict

from ..validation.problems import knowing, problem

OLS = OrdinaryLeastSquares()
X = np.array([2.0, 1.0, -1.0, 3.0, 0.5, 4.0])


def dependent(seed: int = 0, noise: float = 0.0) -> Regression:
    """Columns 4 = 0 + 2·1 and 5 = 0; the last shows 1e-4 of column 2 besides."""
    r = problem(X, seed=seed)
    W = r.W.copy()
    W[..., 4] = W[..., 0] + 2 * W[..., 1]
    W[..., 5] = 1e-4 * W[..., 5] + W[..., 2]
    tau = W @ X
    rng = np.random.default_rng(seed + 100)
    tau = tau + noise * rng.standard_normal(tau.shape)
    return Regression(W, tau, r.known, r.time, r.parameters, r.channels, r.units, r.valid)


def test_the_rank_is_found_and_forces_are_kept() -> None:
    r = dependent()
    found = regroup(r)
    assert found.rank == 5
    assert len(found.dependent) == 1
    values = found.matrix @ X
    np.testing.assert_allclose(found.regression.W @ values, r.tau, atol=1e-9)
    np.testing.assert_allclose(OLS(found.regression).values, values, rtol=1e-8)
    # Of any motion of the mechanism, not only of this one.
    other = dependent(seed=7)
    np.testing.assert_allclose(
        other.select(found.regression.parameters).W @ values, other.tau, atol=1e-9
    )
    prior = found.prior(knowing(X))
    assert isinstance(prior, Prior)
    np.testing.assert_allclose(prior.mean, values)


def test_an_imposed_rank_costs_what_the_dropped_direction_carries() -> None:
    r = dependent()
    found = regroup(r, 4)
    values = found.matrix @ X
    off = np.linalg.norm(found.regression.W @ values - r.tau) / np.linalg.norm(r.tau)
    assert 1e-7 < off < 1e-3
    A = found.regression.stacked()[0]
    assert np.linalg.cond(A) < 10 < 1e3 < np.linalg.cond(regroup(r).regression.stacked()[0])


def test_contribution_then_singular_values() -> None:
    # A parameter of 1e-5 of the forces makes the matrix badly conditioned: out it goes.
    r = dependent(noise=0.01)
    values = X.copy()
    values[4] = 1e-5
    kept = contribution(r, values).above(0.3)
    assert kept == ("p00", "p01", "p02", "p03", "p05")
    before = restrict(r, kept)
    found = regroup(before, 4)
    assert found.rank == 4
    assert {"p02", "p05"} & set(found.dependent)
    # Columns 0 and 1 make the forces of column 4 too: those of another motion are predicted up to
    # noise and to the 1e-4 by which columns 2 and 5 differ, with the elimination or without.
    other = dependent(seed=7)
    for estimate in (OLS(found.regression), OLS(regroup(r, 4).regression)):
        forces = predict(estimate, other).forces
        assert np.linalg.norm(forces - other.tau) < 0.01 * np.linalg.norm(other.tau)


def test_units_do_not_matter_unless_asked_for() -> None:
    r = dependent()
    units = np.array([1e3, 1.0, 1e-3, 1.0, 1e2, 1.0])
    scaled = Regression(
        r.W / units, r.tau, r.known, r.time, r.parameters, r.channels, r.units, r.valid
    )
    a, b = regroup(r), regroup(scaled)
    np.testing.assert_allclose(a.spectrum[:5], b.spectrum[:5], rtol=1e-8)
    assert a.regression.parameters == b.regression.parameters
    raw = regroup(scaled, scale=np.ones(6))
    s = np.linalg.svd(scaled.stacked()[0], compute_uv=False)
    np.testing.assert_allclose(raw.spectrum, s / s[0], rtol=1e-8, atol=1e-15)


def test_columns_of_zeros_have_no_effect() -> None:
    r = problem(X)
    W = r.W.copy()
    W[..., 3] = 0
    r = Regression(W, W @ X, r.known, r.time, r.parameters, r.channels, r.units, r.valid)
    found = regroup(r)
    assert found.without_effect == ("p03",)
    assert found.rank == 5
    assert not found.matrix[:, 3].any()


def test_ranks_that_cannot_be() -> None:
    for rank in (0, 7):
        with pytest.raises(DataError, match=f"between 1 and 6, got {rank}"):
            regroup(dependent(), rank)
    with pytest.raises(DataError, match="6 positive numbers"):
        regroup(dependent(), scale=np.ones(3))
