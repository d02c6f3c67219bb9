"""Rules of reduction at their bounds, and the figures that they say: all by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.regression import Regression
from mechid.reduction.contribution import (
    Contribution,
    ContributionSpread,
    contribution,
    contribution_spread,
)
from mechid.reduction.curves import Curves, reduction_curves
from mechid.reduction.deviation import by_deviation
from mechid.reduction.greedy import Direction, greedy
from mechid.reduction.nested import Triangle
from mechid.reduction.ranking import Ranking, ranked
from mechid.reduction.reduce import reduce_model
from mechid.reduction.regroup import regroup
from mechid.reduction.rest import completed, restrict
from mechid.reduction.size import Fixed, OneStandardError, Size, TwoLimits
from mechid.validation.blocks import Blocks

from ..validation.problems import knowing, problem

OLS = OrdinaryLeastSquares()


def curves_of(
    error: list[list[float]],
    condition: list[float],
    blocks: list[list[float]] | None = None,
    first: int = 1,
) -> Curves:
    """Return curves of sizes from `first` on; errors (s, n_d)."""
    n = len(error)
    return Curves(
        np.arange(first, first + n),
        np.array(condition),
        2 * np.array(condition),
        np.array(error),
        np.zeros((n, 0, len(error[0]))),
        np.array(blocks or [[]] * n).reshape(n, -1),
    )


def orthonormal(x: list[float], noise: float = 1e-3) -> Regression:
    """Return a problem with orthonormal columns; residuals of length `noise`, normal to them."""
    b = len(x)
    Q = np.linalg.qr(np.random.default_rng(3).standard_normal((60, b + 1)))[0]
    tau = Q[:, :b] @ np.array(x) + noise * Q[:, b]
    return replace(problem(np.array(x), channels=1), W=Q[:, None, :b], tau=tau[:, None])


# ------------------------------------------------------------------------------------- sizes


def test_sums_over_the_forces_leave_out_what_is_not_measured() -> None:
    curves = Curves(
        np.array([1, 2]),
        np.ones(2),
        np.ones(2),
        np.array([[1.0, 2.0], [np.nan, 4.0]]),
        np.array([[[1.0, np.nan], [2.0, 3.0]], [[5.0, 6.0], [7.0, 8.0]]]),
        np.array([[1.0, 3.0], [4.0, 4.0]]),
    )
    np.testing.assert_array_equal(curves.identification_total, [3.0, 4.0])
    np.testing.assert_array_equal(curves.validation_total, [[1.0, 5.0], [11.0, 15.0]])
    np.testing.assert_array_equal(curves.cross, [2.0, 4.0])
    # Standard deviation √2 of two blocks, over √2.
    np.testing.assert_allclose(curves.cross_error, [1.0, 0.0])
    assert len(curves) == 2


def test_both_limits_hold_at_the_bound() -> None:
    curves = curves_of([[0.3, 0.1], [0.1, 0.1], [0.05, 0.05]], [10.0, 50.0, 100.0], first=4)
    # The least sum below the limit, 0.2, and half of it more: 0.3; sums are 0.4, 0.2.
    assert TwoLimits(50.0, tolerance=0.5)(curves).size == 5
    # Twice the least is the first sum itself.
    found = TwoLimits(50.0, tolerance=1.0)(curves)
    assert (found.size, found.lower, found.upper) == (4, 4, 5)
    # 0.4 of two forces: 20 % of each on average.
    assert found.why == (
        "mean E_p of the forces ≤ 20 % from 4 parameters on; condition number ≤ 50 up to 5"
    )
    assert TwoLimits(100.0, error=0.1)(curves).size == 6
    assert TwoLimits(99.0, error=0.1)(curves) == Size(
        5,
        "mean E_p of the forces stays above 5 %; beyond 5 parameters the condition number "
        "exceeds 99",
        None,
        5,
    )
    assert TwoLimits(9.0)(curves) == Size(
        4, "no size has a condition number below 9; the smallest size is used"
    )


def test_limits_unless_said() -> None:
    # A condition number of 1e5 is good, 1.01e5 is not; a tenth more than the least error is good.
    curves = curves_of([[0.112], [0.1099], [0.1], [1e-9]], [1.0, 1.0, 1e5, 1.01e5])
    found = TwoLimits()(curves)
    assert (found.size, found.upper) == (2, 3)


def test_a_condition_number_that_falls_again() -> None:
    found = TwoLimits(10.0, error=0.5)(curves_of([[1.0], [0.2], [0.1]], [1.0, 100.0, 5.0]))
    assert (found.size, found.upper) == (3, 3)


def test_one_standard_error_by_hand() -> None:
    # Least mean 0.4 ± 0.1 at size 8: 0.5 at size 6 is at the bound, 0.7 is not.
    blocks = [[0.7, 0.7], [0.5, 0.5], [0.45, 0.45], [0.3, 0.5], [0.5, 0.4]]
    found = OneStandardError()(curves_of([[1.0, 1.0]] * 5, [1.0] * 5, blocks, first=5))
    assert (found.size, found.lower, found.upper) == (6, 6, 8)
    assert found.why == (
        "cross-validated error, mean over the forces, 25 % with 6 parameters, within one standard "
        "error of the minimum, 20 % with 8"
    )


def test_sizes_at_the_ends() -> None:
    r = problem(np.array([3.0, 2.0, 1.0]), noise=0.1)
    ranking = Ranking("mine", r.parameters, np.zeros(3))
    assert list(reduction_curves(r.parameters, r, OLS, sizes=(3, 1, 3)).sizes) == [1, 3]
    for wrong, said in (((0, 2), r"\[0, 2\]"), ((4,), r"\[4\]"), ((), "none")):
        with pytest.raises(DataError, match=f"sizes must be between 1 and 3, got {said}"):
            reduction_curves(r.parameters, r, OLS, sizes=wrong)
    for size in (1, 3):
        assert len(reduce_model(ranking, r, choose=Fixed(size)).estimate.parameters) == size
    for size in (0, 4):
        with pytest.raises(DataError, match=f"between 1 and 3, got {size}"):
            reduce_model(ranking, r, choose=Fixed(size))


def test_nothing_is_estimated_after_the_stop() -> None:
    r = problem(np.array([3.0, 2.0, 1.0]), noise=0.1)
    asked = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) == 3  # and no more: were it asked again, the third size would be made

    found = reduction_curves(r.parameters, r, OLS, stop=stop)
    assert list(found.sizes) == [1, 2]
    assert len(asked) == 3


def test_complete_if_the_order_and_all_sizes_are() -> None:
    r = problem(np.array([3.0, 2.0]), noise=0.1)
    for complete in (True, False):
        ranking = Ranking("mine", r.parameters, np.zeros(2), complete=complete)
        assert reduce_model(ranking, r, sizes=(2, 2)).complete is complete


def test_another_estimator_and_other_forces_for_the_chosen_size() -> None:
    r = problem(np.array([3.0, 2.0]), noise=0.1)
    measured = replace(r, tau=r.tau + 0.7)
    found = reduce_model(
        Ranking("mine", r.parameters, np.zeros(2)),
        r,
        final=OrdinaryLeastSquares(offsets="estimated"),
        measured=measured,
        choose=Fixed(2),
    )
    assert found.estimate.errors is not None
    np.testing.assert_allclose(found.estimate.errors.offset, 0.7, atol=0.1)
    np.testing.assert_allclose(found.estimate.values, [3.0, 2.0], atol=0.1)
    # The curves are of the first forces, which have no offset.
    off = r.tau - r.W @ OLS(r).values
    np.testing.assert_allclose(found.curves.identification[-1], rms(off) / rms(r.tau))


def rms(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.mean(x**2, axis=0)))


# ------------------------------------------------------------------------------------- orders


def test_ties_go_by_name() -> None:
    found = ranked("mine", ("b", "a", "c"), np.array([1.0, 1.0, 2.0]))
    assert found.order == ("c", "a", "b")
    np.testing.assert_array_equal(found.score, [2.0, 1.0, 1.0])


def test_a_ratio_at_its_bound_is_kept() -> None:
    """Orthonormal columns: relative deviations are as 1/|x|, of which the last is 8 times one."""
    r = orthonormal([8.0, 4.0, 1.0])
    relative = OLS(r).relative
    ratio = float(relative[2] / relative[0])
    assert ratio == pytest.approx(8.0)
    assert by_deviation(r, ratio=ratio * (1 + 1e-9)).natural == 3
    assert by_deviation(r, ratio=ratio * (1 - 1e-9)).natural == 2
    found = by_deviation(r, ratio=1.5)
    assert found.natural == 1
    assert found.order == ("p00", "p01", "p02")
    # Percent, at the time when they went; without others the deviation is that of larger residuals.
    assert found.score[2] == pytest.approx(relative[2])
    assert found.score[1] == pytest.approx(OLS(r.select(["p00", "p01"])).relative[1])
    assert found.score[0] == pytest.approx(OLS(r.select(["p00"])).relative[0])


def test_deviations_are_dropped_one_by_one_or_at_once() -> None:
    r = orthonormal([8.0, 4.0, 1.0, 0.5])
    seen: list[tuple[str, int, float]] = []
    by_deviation(r, ratio=7.0, watch=lambda *x: seen.append(x))
    assert [x[:2] for x in seen] == [("deviation", 4), ("deviation", 3), ("deviation", 2)]
    assert [x[2] for x in seen] == pytest.approx([16.0, 8.0, 2.0])
    seen.clear()
    found = by_deviation(r, ratio=7.0, at_once=True, watch=lambda *x: seen.append(x))
    assert [x[1] for x in seen] == [4, 2]
    # Those that went together stand in the order of their deviations.
    assert found.order == ("p00", "p01", "p02", "p03")
    stopped = by_deviation(r, ratio=7.0, stop=lambda: True)
    assert (stopped.natural, stopped.complete) == (4, False)
    assert by_deviation(r, ratio=17.0, stop=lambda: True).complete


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_what_a_stopped_greedy_order_looks_like(direction: Direction) -> None:
    x = np.array([0.1, 4.0, 0.2, 2.0, 1.0])
    r = problem(x, noise=0.01, samples=200)
    seen: list[tuple[str, int, float]] = []
    found = greedy(
        r, direction=direction, watch=lambda *x: seen.append(x), stop=lambda: len(seen) == 2
    )
    whole = greedy(r, direction=direction)
    assert whole.rule == found.rule == f"greedy {direction}"
    assert whole.order == ("p01", "p03", "p04", "p02", "p00")
    assert whole.complete
    assert not found.complete
    assert [stage for stage, _, _ in seen] == ["greedy"] * 2
    if direction == "backward":
        assert found.order == ("p01", "p03", "p04", "p02", "p00")
        assert [k for _, k, _ in seen] == [4, 3]
        np.testing.assert_array_equal(np.isnan(found.score), [1, 1, 1, 0, 0])
        assert [e for *_, e in seen] == list(found.score[:2:-1])
        np.testing.assert_array_equal(np.isnan(whole.score), [1, 0, 0, 0, 0])
    else:
        assert found.order == ("p01", "p03", "p00", "p02", "p04")
        assert [k for _, k, _ in seen] == [1, 2]
        np.testing.assert_array_equal(np.isnan(found.score), [0, 0, 1, 1, 1])
        assert [e for *_, e in seen] == list(found.score[:2])
        assert np.isfinite(whole.score).all()


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_greedy_orders_with_a_force_that_is_zero_and_one_that_is_missing(
    direction: Direction,
) -> None:
    x = np.array([0.1, 4.0, 2.0])
    r = problem(x, noise=0.01, samples=90, channels=3)
    W, tau, valid = r.W.copy(), r.tau.copy(), r.valid.copy()
    W[:, 1], tau[:, 1] = 0.0, 0.0
    valid[:, 2] = False
    torn = replace(r, W=W, tau=np.where(valid, tau, np.nan), valid=valid)
    one = replace(
        r, W=W[:, :1], tau=tau[:, :1], known=r.known[:, :1], valid=valid[:, :1],
        channels=r.channels[:1], units=r.units[:1],
    )  # fmt: skip
    found, alone = (greedy(p, Blocks(3), direction=direction) for p in (torn, one))
    assert found.order == alone.order == ("p01", "p02", "p00")
    # A force that is zero is predicted to be zero, and adds no error.
    np.testing.assert_allclose(found.score, alone.score, rtol=1e-9)


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_units_of_forces_do_not_matter_to_greedy_orders(direction: Direction) -> None:
    r = problem(np.array([0.1, 4.0, 2.0]), noise=0.01, samples=90)
    unit = np.array([1e-4, 1e3])
    other = replace(r, W=r.W * unit[:, None], tau=r.tau * unit)
    found, wanted = (greedy(p, Blocks(3), direction=direction) for p in (other, r))
    assert found.order == wanted.order
    np.testing.assert_allclose(found.score, wanted.score, rtol=1e-6)


def test_as_many_values_as_parameters_are_enough() -> None:
    r = problem(np.array([1.0, 2.0]), samples=4, channels=1)
    assert greedy(r, Blocks(2)).order  # two values for two parameters in each fold
    with pytest.raises(DataError, match="1 measured values are too few for 2 parameters"):
        greedy(r.part(slice(0, 2)), Blocks(2))
    triangle = Triangle.of(r.part(slice(0, 2)), r.parameters)
    assert triangle.rows == 2
    np.testing.assert_allclose(triangle.solve(2, np.zeros(2)), [1.0, 2.0])


# --------------------------------------------------------------------------- contributions


def test_contributions_by_hand_channel_by_channel() -> None:
    # Lengths of columns: (3, 4) and (1, 0) of the first force, (0, 0) and (0, 2) of the second.
    W = np.array([[[3.0, 1.0], [0.0, 0.0]], [[4.0, 0.0], [0.0, 2.0]]])
    r = replace(problem(np.ones(2), samples=2), W=W, tau=np.array([[6.0, 0.0], [8.0, 4.0]]))
    values = np.array([-2.0, 3.0])
    found = contribution(r, values, norm="channels")
    np.testing.assert_allclose(found.index, [(100 + 0) / 2, (30 + 150) / 2])
    stacked = contribution(r, values)
    np.testing.assert_allclose(
        stacked.index, 100 * np.array([2 * 5, 3 * np.sqrt(5)]) / np.sqrt(36 + 64 + 16)
    )
    # A force that is zero all the time is left out of the mean.
    still = replace(r, tau=np.array([[6.0, 0.0], [8.0, 0.0]]))
    np.testing.assert_allclose(contribution(still, values, norm="channels").index, [100.0, 30.0])


def test_shares_of_nothing_and_bounds_of_contributions() -> None:
    nothing = Contribution(("a", "b"), np.zeros((1, 2)))
    np.testing.assert_array_equal(nothing.share, 0.0)
    some = Contribution(("a", "b", "c"), np.array([[1.0, 0.5, 0.4], [3.0, 0.5, 0.2]]))
    np.testing.assert_allclose(some.index, [2.0, 0.5, 0.3])
    np.testing.assert_allclose(some.share, 100 * np.array([2.0, 0.5, 0.3]) / 2.8)
    assert some.above(0.5) == ("a", "b")
    assert some.ranking.rule == "contribution"


def test_places_and_steadiness_by_hand() -> None:
    r = orthonormal([4.0, 3.0, 2.0, 1.0, 0.5])
    values = np.array([4.0, 3.0, 2.0, 1.0, 0.5])
    # The last comes first: four places up, and all others one down.
    draws = np.array([values, [4.0, 3.0, 2.0, 1.0, 9.0]])
    found = contribution_spread(r, values, draws)
    np.testing.assert_array_equal(found.shift, [[0] * 5, [1, 1, 1, 1, -4]])
    assert found.steady() == pytest.approx(0.9)
    assert found.steady(4) == 1.0
    assert found.steady(0) == pytest.approx(0.5)
    # Spearman: 1 - 6 Σd²/(n (n² - 1)) without ties.
    np.testing.assert_allclose(found.rank_correlation, [1.0, 1 - 6 * 20 / (5 * 24)], atol=1e-12)
    two = ContributionSpread(("a",), np.ones(1), np.array([[1.0], [3.0]]), np.ones(2), np.ones(1))
    assert two.deviation == pytest.approx([np.sqrt(2.0)])
    with pytest.raises(DataError, match=r"\(n, 5\) with n > 1, got \(1, 5\)"):
        contribution_spread(r, values, draws[:1])
    with pytest.raises(DataError, match=r"got \(2, 4\)"):
        contribution_spread(r, values, draws[:, :4])


def test_ranks_of_equal_contributions_are_shared() -> None:
    unit = np.eye(4)
    r = replace(problem(np.ones(4), samples=4, channels=1), W=unit[:, None], tau=np.ones((4, 1)))
    values, draw = np.array([4.0, 3.0, 2.0, 1.0]), np.array([2.0, 2.0, 2.0, 1.0])
    found = contribution_spread(r, values, np.array([draw, draw]))
    # Ranks (4, 3, 2, 1) and (3, 3, 3, 1) about 2.5: products 3, squares 5 and 3.
    np.testing.assert_allclose(found.rank_correlation, 3 / np.sqrt(15.0))


# ------------------------------------------------------------------- regrouping and the rest


def test_regrouping_by_hand() -> None:
    # c = 2 a - 3 b, and d is zero: c is taken in by the others, or one of them by the others.
    r = orthonormal([1.0, 1.0])
    a, b = r.W[..., 0], r.W[..., 1]
    four = replace(
        problem(np.ones(4), channels=1),
        W=np.stack([a, b, 2 * a - 3 * b, 0 * a], axis=-1),
        tau=r.tau,
    )
    found = regroup(four)
    assert found.rank == 2
    assert found.without_effect == ("p03",)
    at = [four.parameters.index(n) for n in found.regression.parameters]
    # Columns in terms of those of the base: W = W_base β.
    np.testing.assert_allclose(four.W[..., at] @ found.matrix, four.W, atol=1e-12)
    # Unit columns: u_c = (2 a - 3 b)/√13. The squares of singular values are 1 ± 1 and 1.
    np.testing.assert_allclose(found.spectrum, [1.0, np.sqrt(0.5), 0.0], atol=1e-9)
    for rank in (0, 4):
        with pytest.raises(DataError, match=f"the rank must be between 1 and 3, got {rank}"):
            regroup(four, rank)
    assert regroup(four, 3).rank == 3
    assert regroup(four, 1).rank == 1
    with pytest.raises(DataError, match="4 positive numbers"):
        regroup(four, scale=np.array([1.0, 0.0, 1.0, 1.0]))
    regroup(four, scale=np.array([1.0, 1.0, 1.0, 0.0]))  # a column of zeros needs none


def test_cad_values_go_with_their_names() -> None:
    x = np.array([3.0, -1.0, 0.2, 0.5])
    r = problem(x, noise=0.1)
    prior = knowing(2 * x, 0.3)
    small = OLS(restrict(r, ("p02", "p00"), rest="cad", prior=prior))
    whole = completed(small, r, prior)
    np.testing.assert_array_equal(whole.values[[2, 0]], small.values)
    np.testing.assert_array_equal(whole.values[[1, 3]], [-2.0, 1.0])
    assert whole.resting[-2:] == ("p01", "p03")
    assert whole.known[-1] == "2 of 4 parameters at their CAD values, not estimated"


def test_cross_covariances_with_offsets_go_with_their_names() -> None:
    x = np.array([3.0, -1.0, 0.2, 0.5])
    r = problem(x, noise=0.1)
    prior = knowing(x, 0.3)
    estimator = OrdinaryLeastSquares(offsets="estimated")
    small = estimator(restrict(r, ("p02", "p00"), rest="cad", prior=prior))
    # Equal noise: the closed form has a column of ones for each force.
    A, _, channel = r.stacked()
    wide = np.column_stack([A[:, [2, 0]], np.eye(2)[channel]])
    C = 0.1**2 * np.linalg.inv(wide.T @ wide)
    assert small.errors is not None
    errors = replace(small.errors, cross=C[:2, 2:])
    small = replace(small, covariance=C[:2, :2], noise=np.full(2, 0.1), errors=errors)
    whole = completed(small, r, prior)
    assert whole.errors is not None
    assert whole.errors.cross is not None
    np.testing.assert_array_equal(whole.errors.cross[[2, 0]], C[:2, 2:])
    np.testing.assert_array_equal(whole.errors.cross[[1, 3]], 0.0)
    G = -(np.linalg.pinv(wide) @ A[:, [1, 3]])[:2]  # offsets give way, too
    np.testing.assert_allclose(whole.covariance[np.ix_([2, 0], [1, 3])], 0.09 * G, atol=1e-12)
