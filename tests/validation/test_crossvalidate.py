"""Blocks of time, and predictions of each from the others."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechid.errors import DataError
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.validation.blocks import Blocks, Fold, log_folds
from mechid.validation.crossvalidate import cross_validate

from .problems import problem


@given(st.integers(2, 9), st.integers(0, 7), st.integers(40, 120))
def test_blocks_partition_the_samples(count: int, gap: int, n: int) -> None:
    folds = Blocks(count, gap).folds(n)
    assert np.array_equal(np.concatenate([f.test for f in folds]), np.arange(n))
    for f in folds:
        assert np.all(np.diff(f.test) == 1)
        apart = np.abs(f.train[:, None] - f.test[None, :]).min(axis=1)
        assert apart.min() > gap
        # Nothing is lost but the gaps.
        lost = n - len(f.train) - len(f.test)
        inner = int(f.test[0] > 0) + int(f.test[-1] < n - 1)
        assert lost <= gap * inner
        assert len(f.test) in (n // count, n // count + 1)


@given(
    st.integers(2, 9),
    st.integers(0, 5),
    st.lists(st.integers(20, 60), min_size=2, max_size=12),
)
def test_blocks_end_with_their_log(count: int, gap: int, lengths: list[int]) -> None:
    log = np.repeat(np.arange(len(lengths)), lengths)
    folds = Blocks(count, gap).folds(log)
    assert np.array_equal(np.concatenate([f.test for f in folds]), np.arange(len(log)))
    assert len(folds) >= max(count, len(lengths))
    for f in folds:
        own = log[f.test[0]]
        assert np.all(log[f.test] == own)
        assert np.all(np.diff(f.test) == 1)
        # A gap ends with the log, too: all samples of other logs are used.
        assert np.count_nonzero(log[f.train] != own) == np.count_nonzero(log != own)
        near = f.train[log[f.train] == own]
        assert np.abs(near[:, None] - f.test[None, :]).min(initial=gap + 1) > gap


def test_as_many_blocks_as_asked_for_shared_by_length() -> None:
    log = np.repeat([0, 1, 2], [100, 300, 100])
    lengths = [len(f.test) for f in Blocks(5).folds(log)]
    assert lengths == [100] * 5
    assert [len(f.test) for f in Blocks(2).folds(log)] == [100, 300, 100]


def test_each_log_from_the_others() -> None:
    log = np.array([2, 2, 0, 0, 0, 5])
    folds = log_folds(log)
    assert [f.test.tolist() for f in folds] == [[0, 1], [2, 3, 4], [5]]
    assert [f.train.tolist() for f in folds] == [[2, 3, 4, 5], [0, 1, 5], [0, 1, 2, 3, 4]]
    with pytest.raises(DataError, match="at least 2 logs"):
        log_folds(np.zeros(4, dtype=np.int64))


def test_cross_validation_knows_the_logs() -> None:
    """Two logs of different offsets: a block over their border would be half of each."""
    r = problem(np.array([1.0, -2.0]), noise=0.1, seed=2)
    two = replace(r, log=np.repeat([0, 1], [12, 48]))
    found = cross_validate(OrdinaryLeastSquares(), two, folds=Blocks(3))
    by_hand = cross_validate(
        OrdinaryLeastSquares(),
        r,
        folds=[
            Fold(np.setdiff1d(np.arange(60), test), test)
            for test in (np.arange(12), np.arange(12, 36), np.arange(36, 60))
        ],
    )
    np.testing.assert_allclose(found.errors, by_hand.errors, rtol=1e-12)


def test_blocks_that_make_no_sense() -> None:
    with pytest.raises(DataError, match="cannot be split"):
        Blocks(5).folds(4)
    with pytest.raises(DataError, match="cannot be split"):
        Blocks(1).folds(10)
    with pytest.raises(DataError, match="leave none of 10 samples"):
        Blocks(2, gap=10).folds(10)


def test_exact_data_are_predicted() -> None:
    x = np.array([1.0, -2.0, 3.0])
    found = cross_validate(OrdinaryLeastSquares(), problem(x, known=2.0))
    np.testing.assert_allclose(found.errors, 0.0, atol=1e-13)
    np.testing.assert_allclose(found.values, np.tile(x, (5, 1)))
    assert found.complete


def test_errors_are_those_of_the_definition() -> None:
    r = problem(np.array([1.0, -2.0]), noise=0.5, seed=7)
    found = cross_validate(OrdinaryLeastSquares(), r, folds=Blocks(3))
    test, train = slice(0, 20), slice(20, None)
    A, t = r.W[train].reshape(-1, 2), r.tau[train].ravel()
    x = np.linalg.lstsq(A, t)[0]
    e = np.sqrt(np.mean((r.W[test] @ x - r.tau[test]) ** 2, axis=0))
    np.testing.assert_allclose(found.errors[0], e / np.sqrt(np.mean(r.tau**2, axis=0)))
    totals = found.errors.sum(axis=1)
    assert found.mean == pytest.approx(totals.mean())
    assert found.standard_error == pytest.approx(totals.std(ddof=1) / np.sqrt(3))


def test_progress_and_stop() -> None:
    r = problem(np.array([1.0, -2.0]), noise=0.5)
    seen: list[tuple[str, int, float]] = []
    found = cross_validate(
        OrdinaryLeastSquares(), r, watch=lambda *x: seen.append(x), stop=lambda: len(seen) == 2
    )
    assert [step for _, step, _ in seen] == [1, 2]
    assert found.errors.shape == (2, 2)
    assert not found.complete
    with pytest.raises(DataError, match="stopped before"):
        cross_validate(OrdinaryLeastSquares(), r, stop=lambda: True)


def test_a_block_that_fails_is_named() -> None:
    r = problem(np.ones(4), samples=12, channels=1)
    folds = [Fold(np.arange(6), np.arange(6, 12)), Fold(np.arange(3), np.arange(3, 12))]
    with pytest.raises(DataError, match="block 2 of 2: 3 measured values are too few"):
        cross_validate(OrdinaryLeastSquares(), r, folds=folds)
