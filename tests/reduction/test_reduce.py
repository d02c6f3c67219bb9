"""Nested models, the choice of their size, and the record that keeps it all."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.reduction.contribution import contribution
from mechid.reduction.curves import Curves, reduction_curves
from mechid.reduction.ranking import Ranking
from mechid.reduction.reduce import reduce_model
from mechid.reduction.rest import Rest, restrict
from mechid.reduction.size import Fixed, OneStandardError, TwoLimits
from mechid.validation.blocks import Blocks
from mechid.validation.crossvalidate import cross_validate
from mechid.validation.validate import validate

from ..validation.problems import knowing, problem

OLS = OrdinaryLeastSquares()
SPARSE = np.zeros(20)
SPARSE[[3, 7, 8, 12, 19]] = [3.0, -2.0, 1.0, 4.0, -1.5]
SCALES = 10.0 ** np.linspace(-2, 2, 20)


@dataclass(frozen=True)
class Wrapped:
    """Plain least squares that nothing recognises as such."""

    name: str = "wrapped"

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        return OLS(regression, prior)


def curves_of(error: list[float], condition: list[float], blocks: list[list[float]]) -> Curves:
    n = len(error)
    return Curves(
        np.arange(1, n + 1),
        np.array(condition),
        np.array(condition),
        np.array(error)[:, None],
        np.zeros((n, 0, 1)),
        np.array(blocks).reshape(n, -1),
    )


def test_errors_of_nested_models_allow_for_offsets() -> None:
    r, other = (
        replace(p, tau=p.tau + np.array([5.0, -3.0]))
        for p in (problem(SPARSE, noise=0.2), problem(SPARSE, noise=0.2, seed=3))
    )
    estimator = OrdinaryLeastSquares(offsets="estimated")
    found = reduction_curves(r.parameters, r, estimator, sizes=[20], validation=[other])
    estimate = estimator(r)
    expected = [validate(estimate, m).errors.prediction for m in (r, other)]
    np.testing.assert_allclose(found.identification[0], expected[0])
    np.testing.assert_allclose(found.validation[0, 0], expected[1])
    # Without offsets nothing would fit.
    assert np.all(3 * expected[1] < validate(OLS(r), other).errors.prediction)


@pytest.mark.parametrize("rest", ["zero", "cad"])
def test_one_factorisation_gives_what_every_problem_of_its_own_does(rest: Rest) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(7)
    r = problem(x, noise=0.2, known=0.5)
    other = problem(x, seed=3)
    prior = knowing(x + 0.1 * rng.standard_normal(7))
    order = tuple(rng.permutation(r.parameters))
    options = {
        "prior": prior,
        "rest": rest,
        "validation": [other],
        "folds": Blocks(4, gap=1),
    }
    fast = reduction_curves(order, r, OLS, **options)
    slow = reduction_curves(order, r, Wrapped(), **options)
    for name in ("condition", "raw_condition", "identification", "validation", "blocks"):
        np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), rtol=1e-9)
    # And both what the definitions say, size by size.
    for i, k in enumerate(fast.sizes):
        small = restrict(r, order[:k], rest=rest, prior=prior)
        estimate = OLS(small)
        assert fast.condition[i] == pytest.approx(estimate.condition)
        A = small.stacked()[0]
        assert fast.raw_condition[i] == pytest.approx(np.linalg.cond(A))
        there = restrict(other, order[:k], rest=rest, prior=prior)
        for on, found in ((small, fast.identification[i]), (there, fast.validation[i, 0])):
            np.testing.assert_allclose(found, validate(estimate, on).errors.prediction)
        crossed = cross_validate(OLS, small, folds=Blocks(4, gap=1))
        assert fast.cross[i] == pytest.approx(crossed.mean)
        assert fast.cross_error[i] == pytest.approx(crossed.standard_error)


def test_curves_that_must_rise_or_fall() -> None:
    rng = np.random.default_rng(1)
    r = problem(rng.standard_normal(10), noise=0.5, channels=1)
    found = reduction_curves(r.parameters, r, OLS)
    # More columns fit better, and can only make the smallest singular value smaller.
    assert np.all(np.diff(found.identification_total) <= 1e-12)
    assert np.all(np.diff(found.raw_condition) >= -1e-9)
    assert np.isnan(found.cross).all()


def test_five_of_twenty_are_recovered() -> None:
    for scales in (np.ones(20), SCALES):
        x = SPARSE / scales
        r = problem(x, noise=0.2, samples=150, scales=scales)
        other = problem(x, samples=150, scales=scales, seed=9)
        values = np.where(x != 0, x, 0.01 / scales)
        found = reduce_model(
            contribution(r, values).ranking,
            r,
            validation=[other],
            folds=Blocks(5),
            choose=OneStandardError(),
        )
        assert set(found.chosen) == {"p03", "p07", "p08", "p12", "p19"}
        assert found.size.size == 5
        # Nothing smaller predicts the other motion, nothing larger predicts it better.
        total = found.curves.validation_total[:, 0]
        assert total[3] > 5 * total[4]
        assert np.all(total[5:] > total[4])
        at = [int(name[1:]) for name in found.estimate.parameters]
        z = (found.estimate.values - x[at]) / found.estimate.sigma
        assert np.abs(z).max() < 4


def test_ineffective_parameters_go_at_no_cost() -> None:
    r = problem(SPARSE, samples=100)
    found = reduce_model(contribution(r, SPARSE).ranking, r, choose=TwoLimits(error=1e-9))
    np.testing.assert_allclose(found.curves.identification_total[4:], 0.0, atol=1e-12)
    assert found.curves.identification_total[3] > 0.1
    assert found.size.size == 5
    np.testing.assert_allclose(
        found.estimate.values, SPARSE[[int(n[1:]) for n in found.estimate.parameters]]
    )


def test_exact_cad_values_of_the_rest_cost_nothing_at_all() -> None:
    x = np.arange(1.0, 7.0)
    r = problem(x)
    found = reduce_model(
        contribution(r, x).ranking, r, prior=knowing(x), rest="cad", choose=Fixed(1)
    )
    np.testing.assert_allclose(found.curves.identification_total, 0.0, atol=1e-12)
    assert found.chosen == ("p05",)
    assert found.estimate.parameters == r.parameters
    np.testing.assert_allclose(found.estimate.values, x)
    np.testing.assert_allclose(predict(found.estimate, r).forces, r.tau)


@settings(max_examples=30)
@given(st.permutations(range(6)), st.lists(st.floats(1e-4, 1e4), min_size=6, max_size=6))
def test_neither_order_nor_units_change_the_curves(places: list[int], units: list[float]) -> None:
    x = np.array([1.0, 5.0, 2.0, 0.1, 3.0, 0.5])
    r = problem(x, noise=0.3)
    u = np.array(units)
    names = [r.parameters[i] for i in places]
    other = replace(r, W=r.W / u).select(names)
    a = reduce_model(contribution(r, x).ranking, r, folds=Blocks(3), choose=OneStandardError())
    b = reduce_model(
        contribution(other, (x * u)[places]).ranking,
        other,
        folds=Blocks(3),
        choose=OneStandardError(),
    )
    assert a.ranking.order == b.ranking.order
    assert a.size == b.size
    np.testing.assert_allclose(a.curves.condition, b.curves.condition)
    np.testing.assert_allclose(a.curves.identification, b.curves.identification)
    np.testing.assert_allclose(a.curves.blocks, b.curves.blocks)


def test_stopped_runs_keep_what_is_there() -> None:
    r = problem(SPARSE, noise=0.1)
    seen: list[tuple[str, int, float]] = []
    found = reduce_model(
        contribution(r, SPARSE).ranking,
        r,
        watch=lambda *x: seen.append(x),
        stop=lambda: len(seen) == 7,
    )
    assert [k for _, k, _ in seen] == list(range(1, 8))
    assert seen[-1][2] == pytest.approx(np.mean(found.curves.identification[-1]))
    assert list(found.curves.sizes) == list(range(1, 8))
    assert found.size.size == 5
    assert not found.complete
    with pytest.raises(DataError, match="stopped before"):
        reduce_model(found.ranking, r, stop=lambda: True)


def test_some_sizes_only() -> None:
    r = problem(SPARSE, noise=0.1)
    found = reduce_model(contribution(r, SPARSE).ranking, r, sizes=(10, 2, 5))
    assert list(found.curves.sizes) == [2, 5, 10]
    assert found.complete
    with pytest.raises(DataError, match="must be between 1 and 20"):
        reduce_model(found.ranking, r, sizes=(21,))


def test_two_limits() -> None:
    error = [3.0, 1.0, 0.2, 0.1, 0.1, 0.09]
    condition = [1.0, 10.0, 1e2, 1e3, 1e4, 1e6]
    curves = curves_of(error, condition, [[]] * 6)
    # Up to 5 parameters the matrix is good; there the least error is 0.1, so 4 do.
    found = TwoLimits(1e5)(curves)
    assert (found.size, found.lower, found.upper) == (4, 4, 5)
    assert TwoLimits(1e5, error=0.2)(curves).size == 3
    assert TwoLimits(1e5, tolerance=1.5)(curves).size == 3
    both = TwoLimits(50.0, error=0.2)(curves)
    assert both.size == both.upper == 2
    assert "stays above 20 %" in both.why
    assert "the smallest size is used" in TwoLimits(0.5)(curves).why


def test_one_standard_error() -> None:
    # The least mean is 0.4 at size 3, its standard error 0.2: 0.55 at size 2 is near enough.
    blocks = [[2.0, 2.0], [0.5, 0.6], [0.2, 0.6], [0.4, 0.5]]
    found = OneStandardError()(curves_of([1] * 4, [1] * 4, blocks))
    assert found.size == 2
    assert found.upper == 3
    with pytest.raises(DataError, match="needs cross-validated errors"):
        OneStandardError()(curves_of([1.0], [1.0], [[]]))


def test_sizes_and_orders_that_do_not_fit() -> None:
    r = problem(SPARSE, noise=0.1)
    ranking = contribution(r, SPARSE).ranking
    assert reduce_model(ranking, r, sizes=(2, 4), choose=Fixed(3)).size.size == 3
    with pytest.raises(DataError, match="must be between 1 and 20, got 21"):
        reduce_model(ranking, r, choose=Fixed(21))
    with pytest.raises(DataError, match="parameters of the problem, got 1"):
        reduce_model(Ranking("mine", ("p00",), np.zeros(1)), r)
    few = r.part(slice(0, 3))
    with pytest.raises(DataError, match="too few for 7"):
        reduce_model(ranking, few)
