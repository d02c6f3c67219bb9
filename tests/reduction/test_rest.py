"""Parameters that are not estimated: zero or CAD values."""

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.estimate import ChannelErrors, predict
from mechid.estimation.least_squares import OrdinaryLeastSquares, WeightedLeastSquares
from mechid.reduction.rest import completed, restrict

from ..validation.problems import knowing, problem

X = np.array([3.0, -1.0, 0.2, 0.5])
KEPT = ("p02", "p00")
OLS = OrdinaryLeastSquares()


def test_zero_and_cad() -> None:
    r = problem(X, known=1.0)
    zero = restrict(r, KEPT)
    assert zero.parameters == KEPT
    np.testing.assert_array_equal(zero.known, r.known)
    cad = restrict(r, KEPT, rest="cad", prior=knowing(X))
    np.testing.assert_allclose(cad.known, r.known + r.W[..., [1, 3]] @ X[[1, 3]])
    # The rest is right, so the kept are, too.
    np.testing.assert_allclose(OLS(cad).values, X[[2, 0]])
    assert not np.allclose(OLS(zero).values, X[[2, 0]])


def test_words_for_what_is_missing() -> None:
    r = problem(X)
    with pytest.raises(DataError, match="keep their CAD values without a prior"):
        restrict(r, KEPT, rest="cad")
    with pytest.raises(DataError, match="rest must be"):
        restrict(r, KEPT, rest="half")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no parameter q"):
        restrict(r, ("q",))


@pytest.mark.parametrize("estimator", [OLS, OrdinaryLeastSquares(offsets="estimated")])
def test_the_whole_set_predicts_what_the_restricted_does(estimator: OrdinaryLeastSquares) -> None:
    r, other = problem(X, noise=0.1), problem(X, seed=5)
    r = replace(r, tau=r.tau + 0.3)
    prior = knowing(1.1 * X, 0.2)
    small = estimator(restrict(r, KEPT, rest="cad", prior=prior))
    whole = completed(small, r, prior)
    assert whole.parameters == r.parameters
    a = predict(small, restrict(other, KEPT, rest="cad", prior=prior))
    np.testing.assert_allclose(predict(whole, other).forces, a.forces)
    np.testing.assert_allclose(whole.sigma[[1, 3]], 0.2)
    assert "2 of 4 parameters" in whole.known[-1]


@pytest.mark.parametrize("factor", [0.25, 1.0, 1e4])
def test_with_offsets_it_follows_the_rest_no_further_either(factor: float) -> None:
    r = problem(X, noise=0.1)
    r = replace(r, tau=r.tau + 0.3)
    prior = knowing(1.1 * X, 0.2)
    estimator = WeightedLeastSquares(offsets="estimated")
    small = estimator(restrict(r, KEPT, rest="cad", prior=prior))
    stacked = [r.select(names).stacked() for names in (KEPT, ("p01", "p03"))]
    A, rest = (rows / small.noise[channel][:, None] for rows, _, channel in stacked)
    channel = stacked[0][2]
    offsets = np.eye(len(r.channels))[channel] / small.noise[channel][:, None]
    G = np.linalg.lstsq(np.hstack([A, offsets]), rest)[0][:2]
    C, errors = factor * small.covariance, small.errors
    assert errors is not None
    assert errors.cross is not None
    errors = replace(
        errors, cross=factor * errors.cross, sigma_offset=np.sqrt(factor) * errors.sigma_offset
    )
    whole = completed(replace(small, covariance=C, errors=errors), r, prior)
    moved = whole.covariance[np.ix_([2, 0], [2, 0])] - C
    expected = min(factor, 1.0) ** 2 * 0.2**2 * G @ G.T
    np.testing.assert_allclose(moved, expected, rtol=0.02, atol=1e-6 * factor * C.max())


def test_errors_that_there_may_be_concern_the_estimated_parameters() -> None:
    """What the model may lack, and gains, are uncorrelated with parameters at CAD values."""
    r = problem(X, noise=0.1)
    prior = knowing(1.1 * X, 0.2)
    small = OLS(restrict(r, KEPT, rest="cad", prior=prior))
    zero, one = np.zeros(2), np.ones(2)
    errors = ChannelErrors(zero, one, zero, one, cross_gain=np.array([[3.0, 4.0], [5.0, 6.0]]))
    small = replace(small, doubted=np.array([[1.0], [2.0]]), errors=errors)
    whole = completed(small, r, prior)
    at = [whole.parameters.index(name) for name in KEPT]
    assert whole.doubted is not None
    np.testing.assert_array_equal(whole.doubted[at], small.doubted)
    assert np.count_nonzero(whole.doubted) == 2
    assert whole.errors is not None
    assert whole.errors.cross_gain is not None
    np.testing.assert_array_equal(whole.errors.cross_gain[at], errors.cross_gain)
    assert np.count_nonzero(whole.errors.cross_gain) == 4


def test_nothing_to_complete() -> None:
    r = problem(X, noise=0.1)
    estimate = OLS(r)
    assert completed(estimate, r, knowing(X)) is estimate


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_errors_of_cad_values_are_in_the_covariance(noise: float) -> None:
    # Estimates move by G = -A⁺ A_rest times the error of a CAD value: closed form for equal noise.
    rng = np.random.default_rng(1)
    r = problem(X)
    r = replace(r, W=r.W @ rng.standard_normal((4, 4)))
    prior = knowing(X, 0.3)
    A, _, _ = r.stacked()
    kept, rest = A[:, [2, 0]], A[:, [1, 3]]
    G = -np.linalg.pinv(kept) @ rest
    C = noise**2 * np.linalg.inv(kept.T @ kept)
    small = OLS(restrict(r, KEPT, rest="cad", prior=prior))
    small = replace(small, covariance=C, noise=np.full(2, noise))
    whole = completed(small, r, prior)
    P = 0.3**2
    expected = np.block([[C + P * G @ G.T, P * G], [P * G.T, P * np.eye(2)]])
    order = [1, 2, 0, 3]
    np.testing.assert_allclose(whole.covariance, expected[np.ix_(order, order)], atol=1e-12)


def test_what_is_less_certain_follows_the_rest_no_further() -> None:
    """Errors of the rest move the estimate by what least squares make of them, whatever else is in
    its covariance; an estimate that a prior holds is moved less."""
    r = problem(X, noise=0.1)
    prior = knowing(1.1 * X, 0.2)
    small = WeightedLeastSquares()(restrict(r, KEPT, rest="cad", prior=prior))
    stacked = [r.select(names).stacked() for names in (KEPT, ("p01", "p03"))]
    A, rest = (rows / small.noise[channel][:, None] for rows, _, channel in stacked)
    G = np.linalg.lstsq(A, rest)[0]
    added = 0.2**2 * G @ G.T
    at = [2, 0]
    for factor in (0.25, 1.0, 30.0):
        C = factor * small.covariance
        whole = completed(replace(small, covariance=C), r, prior)
        moved = whole.covariance[np.ix_(at, at)] - C
        np.testing.assert_allclose(moved, min(factor, 1.0) ** 2 * added, rtol=1e-4)
