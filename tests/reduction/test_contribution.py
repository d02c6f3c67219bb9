"""Contribution index: its definition, what it does not depend on, and errors of CAD values."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from mechid.errors import DataError
from mechid.estimation.regression import Regression
from mechid.reduction.contribution import contribution, contribution_spread

from ..validation.problems import problem

X = np.array([3.0, -1.0, 0.2, 0.0])


def permuted(r: Regression, places: np.ndarray) -> Regression:
    return r.select([r.parameters[i] for i in places])


def test_by_hand() -> None:
    # Columns (3, 4) and (0, 2) with values 1 and -2: forces of length 5 and 4; τ = (3, 0).
    W = np.array([[[3.0, 0.0]], [[4.0, 2.0]]])
    tau = W @ np.array([1.0, -2.0])
    r = Regression(
        W,
        tau,
        np.zeros((2, 1)),
        np.arange(2.0),
        ("a", "b"),
        ("F",),
        ("N",),
        np.ones((2, 1), dtype=bool),
    )
    found = contribution(r, np.array([1.0, -2.0]))
    np.testing.assert_allclose(found.index, [100 * 5 / 3, 100 * 4 / 3])
    np.testing.assert_allclose(found.share, [500 / 9, 400 / 9])
    assert found.ranking.order == ("a", "b")
    assert found.above(150) == ("a",)


def test_one_parameter_contributes_everything() -> None:
    r = problem(np.array([2.5]))
    for norm in ("stacked", "channels"):
        np.testing.assert_allclose(contribution(r, np.array([2.5]), norm=norm).index, 100.0)


def test_orthogonal_forces_add_in_squares() -> None:
    r = problem(X, channels=1)
    Q = np.linalg.qr(r.W[:, 0])[0]
    r = replace(r, W=Q[:, None], tau=(Q @ X)[:, None])
    found = contribution(r, X)
    assert np.sum(found.index**2) == pytest.approx(100**2)
    assert found.share.sum() == pytest.approx(100)


def test_several_motions_are_averaged() -> None:
    a, b = problem(X, seed=1), problem(X, seed=2, samples=31)
    each = [contribution(r, X).index for r in (a, b)]
    np.testing.assert_allclose(contribution([a, b], X).index, np.mean(each, axis=0))


@given(st.integers(0, 1000), st.permutations(range(4)), st.lists(st.floats(1e-3, 1e3), min_size=4))
def test_order_and_units_of_parameters_do_not_matter(
    seed: int, places: list[int], units: list[float]
) -> None:
    r = problem(X, seed=seed)
    u = np.array(units[:4])
    other = permuted(replace(r, W=r.W / u), np.array(places))
    for norm in ("stacked", "channels"):
        a = contribution(r, X, norm=norm)
        b = contribution(other, (X * u)[places], norm=norm)
        np.testing.assert_allclose(b.index, a.index[places])
        assert a.ranking.order == b.ranking.order


@given(st.floats(1e-3, 1e3))
def test_units_of_forces_do_not_matter_channel_by_channel(unit: float) -> None:
    r = problem(X)
    u = np.array([1.0, unit])
    other = replace(r, W=r.W * u[:, None], tau=r.tau * u)
    a, b = (contribution(p, X, norm="channels").index for p in (r, other))
    np.testing.assert_allclose(a, b)


def test_samples_that_are_not_valid_do_not_count() -> None:
    r = problem(X)
    valid = r.valid.copy()
    valid[30:, 0] = False
    torn = replace(r, valid=valid, tau=np.where(valid, r.tau, np.nan))
    A, t, _ = torn.stacked()
    expected = 100 * np.linalg.norm(A * X, axis=0) / np.linalg.norm(t)
    np.testing.assert_allclose(contribution(torn, X).index, expected)


def test_spread() -> None:
    r = problem(X)
    rng = np.random.default_rng(0)
    draws = X * (1 + 0.5 * rng.standard_normal((40, 4)))
    found = contribution_spread(r, X, draws)
    each = np.array([contribution(r, draw).index for draw in draws])
    np.testing.assert_allclose(found.index, each)
    np.testing.assert_allclose(found.mean, each.mean(axis=0))
    np.testing.assert_allclose(found.deviation, each.std(axis=0, ddof=1))
    rho = [spearmanr(contribution(r, X).index, row).statistic for row in each]
    np.testing.assert_allclose(found.rank_correlation, rho)
    np.testing.assert_array_equal(found.shift.sum(axis=1), 0)
    assert found.steady(0) < found.steady(1) <= found.steady(3) == 1.0


def test_no_errors_no_spread() -> None:
    r = problem(X)
    found = contribution_spread(r, X, np.tile(X, (3, 1)))
    np.testing.assert_allclose(found.rank_correlation, 1.0)
    np.testing.assert_allclose(found.deviation, 0.0, atol=1e-12)
    assert not found.shift.any()


def test_contributions_that_are_all_equal_have_no_ranks() -> None:
    """A correlation with what does not vary is not defined."""
    found = contribution_spread(problem(X), X, np.zeros((2, len(X))))
    np.testing.assert_array_equal(found.rank_correlation, np.nan)


def test_bad_input() -> None:
    r = problem(X)
    with pytest.raises(DataError, match="4 finite values"):
        contribution(r, X[:3])
    with pytest.raises(DataError, match="4 finite values"):
        contribution(r, np.array([1.0, np.nan, 0, 0]))
    with pytest.raises(DataError, match="same parameters"):
        contribution([r, problem(X[:2])], X)
    with pytest.raises(DataError, match="all forces are zero"):
        contribution(replace(r, tau=np.zeros_like(r.tau)), X)
    with pytest.raises(DataError, match="norm must be"):
        contribution(r, X, norm="euclid")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="draws must have shape"):
        contribution_spread(r, X, X)
