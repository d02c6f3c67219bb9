"""Nested problems, greedy steps and deviations against all problems solved one by one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.reduction.curves import reduction_curves
from mechid.reduction.deviation import by_deviation
from mechid.reduction.greedy import _Compressed, _summed
from mechid.reduction.nested import Triangle, fit_of

from ..validation.problems import problem

OLS = OrdinaryLeastSquares()
ORDER = ("p02", "p00", "p03", "p01")


def test_corners_of_a_triangle_are_the_problems_of_the_first_columns() -> None:
    r = problem(np.array([3.0, -1.0, 0.2, 0.5]), noise=0.1)
    triangle = Triangle.of(r, ORDER)
    fixed = np.array([9.0, 9.0, -4.0, 7.0])
    for k in range(1, 5):
        A, t, _ = r.select(ORDER).stacked()
        B = A[:, :k]
        want = np.linalg.lstsq(B, t - A[:, k:] @ fixed[k:])[0]
        np.testing.assert_allclose(triangle.solve(k, fixed), [*want, *fixed[k:]], rtol=1e-9)
        assert triangle.raw_condition(k) == pytest.approx(np.linalg.cond(B))
        unit = B / np.linalg.norm(B, axis=0)
        assert triangle.condition(k) == pytest.approx(np.linalg.cond(unit))
    assert triangle.rows == len(t)
    assert Triangle(np.diag([2.0, 0.0]), np.ones(2), 5).raw_condition(2) == np.inf
    assert Triangle(np.diag([2.0, 0.5]), np.ones(2), 5).raw_condition(2) == 4.0


@pytest.mark.parametrize(("part", "shown"), [(3.0, False), (5.0, True)])
def test_columns_that_rounding_hides_stay_zero(part: float, shown: bool) -> None:
    """Singular values count above so many roundings as there are rows: 4 here."""
    small = part * float(np.finfo(float).eps)
    R = np.array([[1.0, 1.0], [0.0, 2 * small]])  # of unit columns, the second value is `small`
    x = Triangle(R, np.array([1.0, 2 * small]), 4).solve(2, np.zeros(2))
    if shown:
        np.testing.assert_allclose(R @ x, [1.0, 2 * small], atol=1e-15)
        assert x[1] == pytest.approx(1.0, rel=0.3)
    else:
        np.testing.assert_allclose(x, [0.5, 0.5], rtol=1e-3)


def test_too_few_rows_for_the_first_columns() -> None:
    triangle = Triangle(np.eye(3), np.ones(3), 2)
    np.testing.assert_allclose(triangle.solve(2, np.zeros(3)), [1.0, 1.0, 0.0])
    with pytest.raises(DataError, match="2 measured values are too few for 3 parameters"):
        triangle.solve(3, np.zeros(3))


def test_fits_by_other_estimators_are_problems_of_their_own() -> None:
    r = problem(np.array([3.0, -1.0, 0.2, 0.5]), noise=0.1)
    plain, offset = fit_of(OLS, r, ORDER)(3)
    np.testing.assert_array_equal(offset, np.zeros(len(r.channels)))
    np.testing.assert_allclose(plain[:3], OLS(r.select(ORDER[:3])).values, rtol=1e-9)
    assert plain[3] == 0.0
    free = OrdinaryLeastSquares(offsets="estimated")
    values, offset = fit_of(free, r, ORDER)(2)
    alone = free(r.select(ORDER[:2]))
    assert alone.errors is not None
    np.testing.assert_allclose(values, [*alone.values, 0.0, 0.0], rtol=1e-9)
    np.testing.assert_allclose(offset, alone.errors.offset, rtol=1e-9)


def test_a_watch_hears_of_each_size() -> None:
    r = problem(np.array([3.0, -1.0, 0.2]), noise=0.1)
    heard: list[tuple[str, int, float]] = []
    curves = reduction_curves(r.parameters, r, OLS, watch=lambda *x: heard.append(x))
    assert [x[:2] for x in heard] == [("reduction", 1), ("reduction", 2), ("reduction", 3)]
    np.testing.assert_allclose([x[2] for x in heard], curves.identification.mean(axis=1))
    assert curves.validation.shape == (3, 0, len(r.channels))
    assert curves.blocks.shape == (3, 0)
    assert np.isnan(curves.cross).all()


def test_steps_of_a_greedy_order_by_solving_all_problems() -> None:
    """Of one fold: each column dropped, or taken in, with the others at fixed values."""
    rng = np.random.default_rng(8)
    train, test = rng.standard_normal((9, 5)), rng.standard_normal((2, 6, 5))
    fixed = np.array([0.3, -0.2, 0.5, 0.1])
    c = _Compressed(train, test)

    def error(kept: list[int]) -> float:
        x = fixed.copy()
        x[kept] = 0.0
        t = train[:, 4] - train[:, :4] @ x
        x[kept] = np.linalg.lstsq(train[:, kept], t)[0]
        return sum(float(np.linalg.norm(part[:, :4] @ x - part[:, 4])) for part in test)

    kept = [0, 2, 3]
    without = [error([j for j in kept if j != i]) for i in kept]
    np.testing.assert_allclose(c.without(kept, fixed), without, rtol=1e-9)
    fixed = np.zeros(4)
    together = [error([2, i]) for i in (0, 1, 3)]
    np.testing.assert_allclose(c.together([2], [0, 1, 3], fixed), together, rtol=1e-9)


def test_a_long_column_does_not_hide_a_short_one() -> None:
    """Whether a column adds anything is asked of each for itself."""
    rng = np.random.default_rng(9)
    train, test = rng.standard_normal((9, 4)), rng.standard_normal((1, 6, 4))
    long = np.array([1.0, 1.0, 1e18, 1.0])
    plain, other = (_Compressed(train * d, test * d) for d in (np.ones(4), long))
    none = np.zeros(3)
    np.testing.assert_allclose(
        other.together([0], [1, 2], none), plain.together([0], [1, 2], none), rtol=1e-9
    )
    # One that is a multiple of those taken in adds nothing.
    train[:, 1], test[..., 1] = 2 * train[:, 0], 5.0
    c = _Compressed(train, test)
    alone = np.linalg.lstsq(train[:, :1], train[:, 3])[0]
    want = np.linalg.norm(test[0, :, :1] @ alone - test[0, :, 3])
    assert c.together([0], [1], none)[0] == pytest.approx(want, rel=1e-6)


def test_errors_are_summed_over_the_forces() -> None:
    e = np.zeros((2, 2, 3))
    e[0, :, 1] = 3.0, 4.0
    e[1, :, 1] = 0.0, 2.0
    np.testing.assert_array_equal(_summed(e), [0.0, 7.0, 0.0])


def test_exactly_the_ratio_is_kept() -> None:
    """Relative deviations 10, 2 and 1, as an estimator says; nothing is more than ten times one."""
    r = problem(np.array([3.0, -1.0, 0.2]), noise=0.1)
    sizes = {"p00": 10.0, "p01": 1.0, "p02": 2.0}

    def says(regression: Any, prior: Any = None) -> Any:
        return SimpleNamespace(relative=np.array([sizes[n] for n in regression.parameters]))

    estimator: Any = says
    found = by_deviation(r, estimator=estimator)
    assert found.natural == 3
    assert found.order == ("p01", "p02", "p00")
    assert found.score.tolist() == [1.0, 2.0, 10.0]
    assert found.complete
    heard: list[float] = []
    fewer = by_deviation(
        r, estimator=estimator, ratio=2.0, watch=lambda stage, k, x: heard.append(x)
    )
    assert (fewer.natural, fewer.order) == (2, ("p01", "p02", "p00"))
    assert heard == [10.0, 2.0]
    # The last one stays, whatever its deviation.
    sizes |= {"p01": 0.0}
    heard.clear()
    last = by_deviation(
        r, estimator=estimator, ratio=0.5, watch=lambda stage, k, x: heard.append(x)
    )
    assert last.natural == 1
    assert heard == [np.inf, np.inf, np.inf]
