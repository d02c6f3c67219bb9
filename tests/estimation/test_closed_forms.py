"""Linear estimators against normal equations, where these are accurate."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import predict
from mechid.estimation.least_squares import (
    OrdinaryLeastSquares,
    Ridge,
    Truncated,
    WeightedLeastSquares,
    cross_validated,
)
from mechid.estimation.linear import least_squares, prior_factor, with_prior

from .problems import case, prior, regression

NOISE = np.array([0.1, 1.0, 3.0])


def test_ols_is_the_solution_of_the_normal_equations() -> None:
    r = case(1, NOISE).regression
    found = OrdinaryLeastSquares()(r)
    A, t, channel = r.stacked()
    inverse = np.linalg.inv(A.T @ A)
    np.testing.assert_allclose(found.values, inverse @ A.T @ t, rtol=1e-10)
    omega = found.noise[channel] ** 2
    np.testing.assert_allclose(found.covariance, inverse @ (A.T * omega) @ A @ inverse, rtol=1e-9)


def test_noise_of_a_quiet_channel_is_unbiased_beside_loud_ones() -> None:
    variances = [OrdinaryLeastSquares()(case(s, NOISE).regression).noise ** 2 for s in range(100)]
    np.testing.assert_allclose(np.mean(variances, axis=0), NOISE**2, rtol=0.1)


def test_weighted_with_declared_noise() -> None:
    r = replace(case(2, NOISE).regression, noise=NOISE)
    found = WeightedLeastSquares(noise="declared")(r)
    A, t, channel = r.stacked()
    w = 1 / NOISE[channel] ** 2
    inverse = np.linalg.inv((A.T * w) @ A)
    np.testing.assert_allclose(found.values, inverse @ (A.T * w) @ t, rtol=1e-10)
    np.testing.assert_allclose(found.covariance, inverse, rtol=1e-9)


def test_free_offsets_are_one_more_column_for_each_force() -> None:
    r = replace(case(2, NOISE, offset=0.3, missing=0.1).regression, noise=NOISE)
    A, t, channel = r.stacked()
    wide = np.hstack([A, np.eye(3)[channel]])
    for estimator, w in (
        (OrdinaryLeastSquares(offsets="estimated"), np.ones(len(t))),
        (WeightedLeastSquares("declared", offsets="estimated"), 1 / NOISE[channel] ** 2),
        (
            MaximumAPosteriori("none", noise="declared", offsets="estimated"),
            1 / NOISE[channel] ** 2,
        ),
    ):
        found = estimator(r)
        both = np.linalg.solve((wide.T * w) @ wide, (wide.T * w) @ t)
        np.testing.assert_allclose(found.values, both[:5], rtol=1e-9)
        assert found.errors is not None
        np.testing.assert_allclose(found.errors.offset, both[5:], rtol=1e-9)
        np.testing.assert_allclose(found.residuals[r.valid], t - wide @ both, atol=1e-9)
        # The forces that are predicted have the offsets too.
        expected = r.W @ both[:5] + r.known + both[5:]
        np.testing.assert_allclose(predict(found, r).forces, expected, rtol=1e-9)


def test_deviation_of_forces_with_offsets() -> None:
    """As if offsets were parameters like others."""
    r = replace(case(2, NOISE, offset=0.3).regression, noise=NOISE)
    found = predict(WeightedLeastSquares("declared", offsets="estimated")(r), r)
    wide = np.concatenate([r.W, np.broadcast_to(np.eye(3), (len(r.time), 3, 3))], axis=2)
    rows = wide[r.valid] / NOISE[r.stacked()[2], None]
    inverse = np.linalg.inv(rows.T @ rows)
    expected = np.sqrt(np.einsum("nij,jk,nik->ni", wide, inverse, wide))
    np.testing.assert_allclose(found.sigma, expected, rtol=1e-9)


def test_estimated_noise_is_a_fixed_point() -> None:
    """With weights from its own residuals, weighted least squares must give itself."""
    r = case(3, NOISE).regression
    found = WeightedLeastSquares()(r)
    again = WeightedLeastSquares(noise="declared")(replace(r, noise=found.noise))
    np.testing.assert_allclose(again.values, found.values, rtol=1e-6)
    np.testing.assert_allclose(found.noise, NOISE, rtol=0.3)
    A, t, channel = r.stacked()
    w = A / found.noise[channel, None]
    hat = np.einsum("ij,jk,ik->i", w, np.linalg.inv(w.T @ w), w)
    e = t - A @ found.values
    for j in range(3):
        own = channel == j
        expected = np.sum(e[own] ** 2) / np.sum(1 - hat[own])
        assert found.noise[j] ** 2 == pytest.approx(expected, rel=1e-5)


def test_declared_noise_is_a_floor() -> None:
    r = case(3, NOISE).regression
    floor = np.array([10.0, 0.0, 0.0])
    found = WeightedLeastSquares()(replace(r, noise=floor))
    assert found.noise[0] == 10.0
    assert found.noise[1] < 2.0
    assert any("f0 are much smaller than its declared error" in w for w in found.warnings)


def test_ridge() -> None:
    r = replace(case(4, NOISE).regression, noise=NOISE)
    found = Ridge(penalty=0.3, noise="declared")(r)
    A, t, channel = r.stacked()
    A, t = A / NOISE[channel, None], t / NOISE[channel]
    inverse = np.linalg.inv(A.T @ A + 0.3 * np.diag(np.sum(A**2, axis=0)))
    np.testing.assert_allclose(found.values, inverse @ A.T @ t, rtol=1e-10)
    np.testing.assert_allclose(found.covariance, inverse, rtol=1e-9)


def test_penalty_by_generalised_cross_validation() -> None:
    """The score is that of its definition with the whole influence matrix, and least there."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(40, 6)) @ np.diag([1, 1, 1, 0.1, 0.05, 0.01])
    t = A @ rng.normal(size=6) + 0.3 * rng.normal(size=40)
    D2 = np.diag(np.sum(A**2, axis=0))

    def score(penalty: float) -> float:
        H = A @ np.linalg.solve(A.T @ A + penalty * D2, A.T)
        return float(np.sum((t - H @ t) ** 2) / np.trace(np.eye(40) - H) ** 2)

    found = cross_validated(A, t)
    tried = np.geomspace(1e-8, 1e2, 400)
    assert score(found) <= min(map(score, tried)) * (1 + 1e-9)


def test_truncated() -> None:
    r = replace(case(6, NOISE).regression, noise=NOISE)
    found = Truncated(rank=3, noise="declared")(r)
    A, t, channel = r.stacked()
    A, t = A / NOISE[channel, None], t / NOISE[channel]
    D = np.diag(1 / np.linalg.norm(A, axis=0))
    # The pseudo-inverse of the best matrix of rank three, from eigenvectors of the normal matrix.
    V = np.linalg.eigh(D @ A.T @ A @ D)[1][:, -3:]
    reduced = A @ D @ V
    np.testing.assert_allclose(
        found.values, D @ V @ np.linalg.solve(reduced.T @ reduced, reduced.T @ t), rtol=1e-8
    )
    assert any(w.startswith("2 of 5 directions were dropped") for w in found.warnings)
    whole = Truncated(rank=5, noise="declared")(r)
    plain = WeightedLeastSquares(noise="declared")(r)
    np.testing.assert_allclose(whole.values, plain.values, rtol=1e-9)


def test_truncation_by_condition_and_by_expected_error() -> None:
    rng = np.random.default_rng(0)
    r = regression(rng, [1.0, 1.0, 1.0], 0.1)
    W = r.W.copy()
    W[..., 2] = W[..., 1] + 1e-5 * W[..., 2]  # p1 + p2 is seen, p1 - p2 is not
    r = replace(r, W=W, tau=W @ np.ones(3) + 0.1 * rng.normal(size=r.tau.shape), known=0 * r.tau)
    for estimator in (Truncated(), Truncated(condition=100.0)):
        found = estimator(r)
        assert found.known == ("2 of 3 directions kept",)
        np.testing.assert_allclose(found.values, 1.0, atol=0.1)
        assert any("mainly p1, p2" in w or "mainly p2, p1" in w for w in found.warnings)
    kept = Truncated(condition=1e6)(r)
    assert kept.known == ("3 of 3 directions kept",)


@pytest.mark.parametrize("prior", ["diagonal", "full"])
def test_map_against_many_digits(prior: str) -> None:
    made = case(7, NOISE, correlated=True)
    r = replace(made.regression, noise=NOISE)
    found = MaximumAPosteriori(prior=prior, scale=2.0, noise="declared")(r, made.prior)  # type: ignore[arg-type]
    P = 4.0 * made.prior.covariance
    P = np.diag(np.diag(P)) if prior == "diagonal" else P
    A, t, channel = r.stacked()
    with mpmath.workdps(50):
        a = mpmath.matrix((A / NOISE[channel, None]).tolist())
        y = mpmath.matrix((t / NOISE[channel]).tolist())
        Q = mpmath.matrix(P.tolist()) ** -1
        C = (a.T * a + Q) ** -1
        x = C * (a.T * y + Q * mpmath.matrix(made.prior.mean.tolist()))
        values = np.array([float(v) for v in x])
        covariance = np.array([[float(C[i, j]) for j in range(5)] for i in range(5)])
    np.testing.assert_allclose(found.values, values, rtol=1e-11)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-9, atol=1e-16)


def test_exactly_known_combinations_stay_as_they_are() -> None:
    """p0 + p1 is known exactly, p2 too: no inverse of the prior exists."""
    rng = np.random.default_rng(8)
    F = np.array([[0.5, 0.0], [-0.5, 0.0], [0.0, 0.0], [0.1, 0.3]])
    mean = np.array([1.0, 2.0, 3.0, 4.0])
    r = regression(rng, mean + F @ rng.normal(size=2), 0.1)
    k = prior(mean, F @ F.T)
    found = MaximumAPosteriori(prior="full", scale=1.0)(r, k)
    assert found.values[0] + found.values[1] == pytest.approx(3.0, abs=1e-7)
    assert found.values[2] == 3.0
    assert found.sigma[2] == 0.0
    # The same with what is left: x = mean + F z.
    A, t, channel = r.stacked()
    G = A @ F / found.noise[channel, None]
    z = np.linalg.solve(G.T @ G + np.eye(2), G.T @ ((t - A @ mean) / found.noise[channel]))
    np.testing.assert_allclose(found.values, mean + F @ z, rtol=1e-6)


@given(st.integers(1, 6), st.integers(0, 6), st.integers(0, 10_000))
def test_factor_of_a_covariance(b: int, rank: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    L = rng.normal(size=(b, min(rank, b))) * 10.0 ** rng.uniform(-6, 6, (b, 1))
    F = prior_factor(L @ L.T)
    assert F.shape[1] <= max(min(rank, b), 1)
    size = np.outer(np.linalg.norm(L, axis=1), np.linalg.norm(L, axis=1))
    np.testing.assert_allclose(F @ F.T / (size + (size == 0)), L @ L.T / (size + (size == 0)),
                               atol=1e-12)  # fmt: skip


@given(st.integers(0, 30), st.integers(1, 6), st.integers(0, 10_000))
def test_a_wide_prior_is_none_and_a_narrow_one_is_all(m: int, b: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, t, x0 = rng.normal(size=(m, b)), rng.normal(size=m), rng.normal(size=b)
    narrow = with_prior(A, t, x0, 1e-9 * np.eye(b))
    np.testing.assert_allclose(narrow.x, x0, atol=1e-6)
    assert narrow.covariance == pytest.approx(1e-18 * np.eye(b), abs=1e-24)
    if m > b + 3:
        wide, none = with_prior(A, t, x0, 1e9 * np.eye(b)), least_squares(A, t)
        np.testing.assert_allclose(wide.x, none.x, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(wide.covariance, none.covariance, rtol=1e-6, atol=1e-9)
        assert np.sum(none.leverage) == pytest.approx(b)


def test_relative_deviations() -> None:
    """None of a value that is known exactly, zero or not; infinite of an estimate of zero."""
    r = regression(np.random.default_rng(0), [1.0, 2.0, 3.0, 4.0], 0.1)
    found = replace(
        OrdinaryLeastSquares()(r),
        values=np.array([0.0, 5.0, 0.0, -2.0]),
        covariance=np.diag([0.0, 0.0, 1.0, 4.0]),
    )
    np.testing.assert_array_equal(found.relative, [0.0, 0.0, np.inf, 100.0])
