"""Orders made from the data: by relative deviation, and greedy by cross-validated errors."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.regression import Regression
from mechid.reduction.deviation import by_deviation
from mechid.reduction.greedy import Direction, greedy
from mechid.reduction.rest import Rest, restrict
from mechid.validation.blocks import Blocks
from mechid.validation.crossvalidate import block_error, force_rms

from ..validation.problems import knowing, problem

OLS = OrdinaryLeastSquares()
SPARSE = np.zeros(20)
SPARSE[[3, 7, 8, 12, 19]] = [3.0, -2.0, 1.5, 4.0, -1.5]
MATTER = {"p03", "p07", "p08", "p12", "p19"}


def dense(r: Regression) -> Regression:
    """Mix the columns a little, so that parameters depend on each other."""
    b = len(r.parameters)
    mix = np.eye(b) + 0.3 * np.random.default_rng(5).standard_normal((b, b)) / np.sqrt(b)
    return replace(r, W=r.W @ mix)


def test_deviation_keeps_what_can_be_told() -> None:
    r = problem(SPARSE, noise=0.1, samples=200)
    found = by_deviation(r)
    assert set(found.order[: found.natural]) == MATTER
    assert found.natural == 5
    # What is left keeps the rule, and one more would not.
    relative = OLS(r.select(found.order[:5])).relative
    assert relative.max() <= 10 * relative.min()
    relative = OLS(r.select(found.order[:6])).relative
    assert relative.max() > 10 * relative.min()
    assert set(by_deviation(r, at_once=True).order[:5]) == MATTER


def test_deviation_drops_the_worst_first() -> None:
    r = dense(problem(SPARSE, noise=0.1, samples=100))
    found = by_deviation(r)
    kept = list(r.parameters)
    for name, score in zip(found.order[::-1], found.score[::-1], strict=True):
        if len(kept) == found.natural:
            break
        relative = OLS(r.select(kept)).relative
        assert name == kept[int(np.argmax(relative))]
        assert score == pytest.approx(relative.max())
        kept.remove(name)


def test_deviations_are_compared_with_the_smallest() -> None:
    """Orthogonal unit columns: relative deviations are as 1/|x|, here 1, 4, 20, 60 and 90."""
    x = 1 / np.array([1.0, 4.0, 20.0, 60.0, 90.0])
    W = np.linalg.qr(np.random.default_rng(3).standard_normal((60, 6)))[0]
    r = replace(
        problem(x, noise=1.0, samples=60, channels=1),
        W=W[:, None, :5],
        tau=(W[:, :5] @ x + 1e-3 * W[:, 5])[:, None],
    )
    for ratio, natural in ((3.0, 1), (19.0, 2), (21.0, 3), (61.0, 4), (91.0, 5)):
        assert by_deviation(r, ratio=ratio).natural == natural
        assert by_deviation(r, ratio=ratio, at_once=True).natural == natural


def test_a_wider_ratio_keeps_more() -> None:
    r = dense(problem(SPARSE, noise=0.1, samples=100))
    sizes = [by_deviation(r, ratio=ratio).natural for ratio in (2.0, 10.0, 100.0, 1e9)]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 20


def test_dropped_parameters_may_stay_at_their_cad_values() -> None:
    x = SPARSE + 0.02
    r = problem(x, noise=0.2, samples=200)
    found = by_deviation(r, prior=knowing(x), rest="cad")
    assert set(found.order[: found.natural]) == MATTER


@pytest.mark.parametrize("direction", ["backward", "forward"])
@pytest.mark.parametrize("rest", ["zero", "cad"])
def test_greedy_is_brute_force(rest: Rest, direction: Direction) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal(6) * np.array([1, 1, 0.1, 0.1, 0.01, 1])
    r = dense(problem(x, noise=0.3, samples=60, known=0.2))
    r = replace(r, tau=r.tau * np.array([1.0, 30.0]), W=r.W * np.array([1.0, 30.0])[:, None])
    prior = knowing(x + 0.1 * rng.standard_normal(6))
    found = greedy(r, Blocks(4), direction=direction, prior=prior, rest=rest)
    scale = force_rms(r.tau, r.valid)

    def error(kept: list[str]) -> float:
        small = restrict(r, kept, rest=rest, prior=prior)
        totals = []
        for fold in Blocks(4).folds(60):
            train, test = small.part(fold.train), small.part(fold.test)
            A, t, channel = train.stacked()
            w = 1 / scale[channel]
            values = np.linalg.lstsq(A * w[:, None], t * w)[0]
            totals.append(block_error(test.W @ values + test.known, test, scale).sum())
        return float(np.mean(totals))

    if direction == "forward":
        for k in range(6):
            errors = {n: error([*found.order[:k], n]) for n in found.order[k:]}
            assert found.order[k] == min(errors, key=lambda n: errors[n])
            assert found.score[k] == pytest.approx(errors[found.order[k]])
        return
    kept = list(r.parameters)
    for name, score in zip(found.order[:0:-1], found.score[:0:-1], strict=True):
        errors = {n: error([k for k in kept if k != n]) for n in kept}
        assert name == min(errors, key=lambda n: errors[n])
        assert score == pytest.approx(errors[name])
        kept.remove(name)
    assert kept == [found.order[0]]


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_greedy_finds_what_matters(direction: Direction) -> None:
    found = greedy(problem(SPARSE, noise=0.2, samples=150), direction=direction)
    assert set(found.order[:5]) == MATTER
    assert found.complete


def test_forward_copes_with_dependent_columns() -> None:
    r = problem(SPARSE, noise=0.2, samples=150)
    W = r.W.copy()
    W[..., 5] = 1e3 * W[..., 3]  # cannot add anything once p03 is there, or the other way round
    W[..., 6] = 0
    found = greedy(replace(r, W=W), direction="forward")
    assert len(MATTER & set(found.order[:5])) >= 4
    assert {"p03", "p05"} & set(found.order[:5])
    assert np.isfinite(found.score).all()
    assert found.score.max() < 3


def test_order_of_parameters_and_units_do_not_matter() -> None:
    r = dense(problem(SPARSE[:10], noise=0.2))
    rng = np.random.default_rng(0)
    units = 10.0 ** rng.uniform(-3, 3, 10)
    names = [r.parameters[i] for i in rng.permutation(10)]
    other = replace(r, W=r.W / units).select(names)
    for direction in ("backward", "forward"):
        assert greedy(r, direction=direction).order == greedy(other, direction=direction).order
    assert by_deviation(r).order == by_deviation(other).order
    assert by_deviation(r, at_once=True).order == by_deviation(other, at_once=True).order


def test_stopped_and_watched() -> None:
    r = problem(SPARSE, noise=0.2)
    for rule in (greedy, partial(greedy, direction="forward"), by_deviation):
        seen: list[tuple[str, int, float]] = []
        found = rule(r, watch=lambda *x, seen=seen: seen.append(x), stop=lambda s=seen: len(s) == 3)
        assert not found.complete
        assert sorted(found.order) == sorted(r.parameters)
        assert len(seen) == 3


def test_bad_input() -> None:
    with pytest.raises(DataError, match="direction must be"):
        greedy(problem(SPARSE), direction="up")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="too few for 20"):
        greedy(problem(SPARSE, samples=12), Blocks(3))
