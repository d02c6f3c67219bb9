"""Further columns: against least squares with the column, and error rates with coloured noise."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.validation.added_columns import fitted_problem, memory, try_columns, with_column
from mechid.validation.blocks import Blocks
from mechid.validation.held_out_columns import choose_columns

from .problems import knowing, problem
from .worlds import coloured

X = np.array([1.0, -2.0, 0.5])
NOISE = np.array([0.1, 0.3])


def stacked(r, prior=None, columns=None):
    """Rows in units of the noise, with those of the prior (unit deviations); the last column is
    further."""
    A = (r.W / NOISE[:, None]).reshape(-1, r.W.shape[-1])
    t = (r.target / NOISE).ravel()
    if prior is not None:
        sigma = np.sqrt(np.diag(prior.covariance))
        A, t = np.vstack([A, np.diag(1 / sigma)]), np.append(t, prior.values / sigma)
    if columns is not None:
        Z = (columns / NOISE[:, None]).reshape(-1, columns.shape[-1])
        A = np.column_stack([A, np.pad(Z, ((0, len(A) - len(Z)), (0, 0)))])
    return A, t


@pytest.mark.parametrize("prior", [None, knowing(X + 0.1, 0.05)])
def test_factor_and_gain_are_those_of_least_squares(prior) -> None:
    rng = np.random.default_rng(1)
    r = problem(X, noise=0.2, seed=2)
    columns = rng.standard_normal((*r.tau.shape, 3))
    added = try_columns(fitted_problem(r, NOISE, prior), columns)
    A, t = stacked(r, prior)
    before = np.linalg.lstsq(A, t, rcond=None)[1][0]
    for k in range(3):
        B, _ = stacked(r, prior, columns[..., k : k + 1])
        x, after = np.linalg.lstsq(B, t, rcond=None)[:2]
        assert added.factor[k] == pytest.approx(x[-1])
        assert added.gain[k] == pytest.approx(before - after[0])
        whole = np.sum((added.factor[k] * columns[..., k] / NOISE) ** 2)
        assert added.whole[k] == pytest.approx(whole)


def test_residuals_with_columns_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(1)
    r = problem(X, noise=0.2, seed=2)
    columns = rng.standard_normal((*r.tau.shape, 2))
    B, t = stacked(r, None, columns)
    e = t - B @ np.linalg.lstsq(B, t, rcond=None)[0]
    found = with_column(fitted_problem(r, NOISE), columns).residuals() / NOISE
    np.testing.assert_allclose(found.ravel(), e, atol=1e-12)


def test_what_parameters_imitate_adds_nothing() -> None:
    r = problem(X, noise=0.2, seed=2)
    added = try_columns(fitted_problem(r, NOISE), r.W[..., 1:2])
    assert (added.factor, added.gain) == (0.0, 0.0)
    assert added.p == 1.0


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_probabilities_hold_for_correlated_noise(correlation: float) -> None:
    """A slow column, which coloured noise imitates most easily; white theory would find it in a
    third of all cases."""
    n = 600
    slow = np.zeros((n, 3, 1))
    slow[:, 0, 0] = 1.0
    base = problem(X, samples=n, channels=3)
    found = []
    for seed in range(150):
        e = coloured(np.random.default_rng(seed), correlation)
        r = type(base)(
            base.W, base.tau + e, base.known, base.time, base.parameters, base.channels,
            base.units, base.valid,
        )  # fmt: skip
        found.append(float(try_columns(fitted_problem(r, np.ones(3)), slow).p[0]))
    # 5 % ± 3 standard deviations of a share of 150
    assert np.mean(np.array(found) < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)
    assert np.mean(np.array(found) < 0.5) > 0.3


def test_memory_is_that_of_an_autoregressive_process() -> None:
    logs = np.zeros(600, dtype=np.int64)
    each = [memory(coloured(np.random.default_rng(k), 0.5)[:, :1], logs) for k in range(40)]
    assert np.mean(each) == pytest.approx(3.0, rel=0.1)


@pytest.mark.parametrize("prior", [None, knowing(X + 0.1, 0.05)])
def test_held_out_errors_are_those_of_refits(prior) -> None:
    rng = np.random.default_rng(1)
    r = problem(X, noise=0.2, seed=2)
    columns = rng.standard_normal((*r.tau.shape, 4))
    r = type(r)(
        r.W, r.tau + columns[..., 2], r.known, r.time, r.parameters, r.channels, r.units, r.valid
    )
    folds = Blocks(4).folds(len(r.time))
    found = choose_columns(r, columns, NOISE, folds, prior, fixed=1)
    assert found.columns == (2,)
    for taken, errors in zip(([0], [0, 2]), found.errors, strict=True):
        for fold, error in zip(folds, errors, strict=True):
            A, t = stacked(r.part(fold.train), prior, columns[fold.train][..., taken])
            B, u = stacked(r.part(fold.test), None, columns[fold.test][..., taken])
            e = u - B @ np.linalg.lstsq(A, t, rcond=None)[0]
            assert error == pytest.approx(np.mean(e**2))
    assert found.after < 0.5 * found.before


def test_columns_of_noise_are_not_chosen() -> None:
    chosen = []
    for seed in range(20):
        r = problem(X, noise=0.2, seed=seed, samples=300)
        columns = np.random.default_rng(seed).standard_normal((*r.tau.shape, 20))
        found = choose_columns(r, columns, NOISE, Blocks(8).folds(300))
        chosen.append(len(found.columns))
    assert np.mean(np.array(chosen) > 0) <= 0.05
