"""Whiteness: formulas on small series, and the level of the test over many."""

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from mechid.errors import DataError
from mechid.validation.whiteness import whiteness


def coloured(a: float, n: int, rng: np.random.Generator) -> np.ndarray:
    e = rng.standard_normal(n)
    for k in range(1, n):
        e[k] += a * e[k - 1]
    return e


def test_by_hand() -> None:
    # Mean zero; products at lag 1: -2, -2, 0; at lag 2: 1, 0.
    e = np.array([1.0, -2.0, 1.0, 0.0])
    found = whiteness(e[:, None], lags=2)
    power = 6.0
    r1, r2 = (-2 - 2 + 0) / power, (1 + 0) / power
    assert found.lag_one[0] == pytest.approx(r1)
    assert found.durbin_watson[0] == pytest.approx((9 + 9 + 1) / power)
    q = 4 * 6 * (r1**2 / 3 + r2**2 / 2)
    assert found.ljung_box[0] == pytest.approx(q)
    assert found.p[0] == pytest.approx(chi2.sf(q, 2))


def test_white_residuals_pass_as_often_as_claimed() -> None:
    rng = np.random.default_rng(3)
    p = whiteness(rng.standard_normal((400, 500))).p
    assert kstest(p, "uniform").pvalue > 0.01
    # With a tenth of the samples missing, too.
    e = rng.standard_normal((400, 500))
    e[rng.random(e.shape) < 0.1] = np.nan
    assert kstest(whiteness(e).p, "uniform").pvalue > 0.01


def test_coloured_residuals_are_found_and_explained() -> None:
    rng = np.random.default_rng(4)
    e = np.column_stack([coloured(0.7, 500, rng), coloured(-0.5, 500, rng)])
    found = whiteness(e)
    assert (found.p < 1e-6).all()
    np.testing.assert_allclose(found.lag_one, [0.7, -0.5], atol=0.1)
    np.testing.assert_allclose(found.durbin_watson, 2 * (1 - found.lag_one), atol=0.02)
    clean = whiteness(e, colour=(np.array([0.7]), np.array([-0.5])))
    assert (clean.p > 1e-3).all()


def test_gaps_do_not_hide_colour() -> None:
    e = coloured(0.7, 4000, np.random.default_rng(5))
    whole = whiteness(e[:, None])
    e[::3] = np.nan
    torn = whiteness(e[:, None])
    assert torn.lag_one[0] == pytest.approx(whole.lag_one[0], abs=0.1)
    assert torn.durbin_watson[0] == pytest.approx(whole.durbin_watson[0], abs=0.2)
    assert torn.p[0] < 1e-6


def test_nothing_to_test() -> None:
    e = np.zeros((20, 2))
    e[:, 1] = np.nan
    found = whiteness(e)
    assert np.isnan(found.p).all()
    assert np.isnan(found.lag_one).all()
    with pytest.raises(DataError, match="lags"):
        whiteness(e, lags=20)
