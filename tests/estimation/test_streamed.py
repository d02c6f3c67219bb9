"""Rows that come in blocks: triangles and estimates are those of all rows at once."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.streamed import streamed_regression, streamed_triangles

from .problems import regression


@pytest.mark.parametrize("ends", [[], [7], [1, 2, 30, 31], [20, 40]])
def test_triangles_and_estimate_of_all_rows(ends: list[int]) -> None:
    r = regression(np.random.default_rng(1), [1.0, -2.0, 3.0], [0.1, 1.0, 10.0], n=50, known=1.0)
    rows = np.concatenate([r.W, r.target[..., None]], axis=2)
    R, n = streamed_triangles(np.split(rows, ends))
    assert n == 50
    assert R.shape == (3, 4, 4)
    for j in range(3):
        np.testing.assert_allclose(R[j].T @ R[j], rows[:, j].T @ rows[:, j], atol=1e-10)
        np.testing.assert_array_equal(R[j], np.triu(R[j]))
    small = streamed_regression(np.split(rows, ends), r.parameters, r.channels, r.units)
    np.testing.assert_array_equal(small.zeros, 46)
    assert small.time.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert (small.channels, small.units) == (r.channels, r.units)
    found, wanted = OrdinaryLeastSquares()(small), OrdinaryLeastSquares()(r)
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-9)
    np.testing.assert_allclose(found.covariance, wanted.covariance, rtol=1e-9)
    np.testing.assert_allclose(found.noise, wanted.noise, rtol=1e-9)


def test_few_samples() -> None:
    """One more than the rows of the triangles: four for three parameters."""
    rows = np.random.default_rng(2).normal(size=(5, 1, 4))
    names = ("a", "b", "c"), ("f",), ("N",)
    np.testing.assert_array_equal(streamed_regression([rows], *names).zeros, 1)
    with pytest.raises(DataError, match="4 samples are too few for 3 parameters"):
        streamed_regression([rows[:4]], *names)
    with pytest.raises(DataError, match="there are no samples"):
        streamed_triangles([])
