"""Criteria of many motions at once: which of them are too near to singular for that."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.excitation.criteria.batch import _spread, criterion_values, on_processor
from mechid.excitation.criteria.criterion import Criterion


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_columns_that_are_almost_parallel(scale: float) -> None:
    """The second column leaves the first by an angle of 2e-10, or of 0.5e-10, too little."""
    R = np.array([[[1.0, 3.0], [0.0, 3.0 * s]] for s in (1.0, 2e-10, 0.5e-10)])
    J, weak = _spread(Criterion("d"), scale * R, on_processor())
    assert weak.tolist() == [False, False, True]
    for k in (0, 1):
        np.testing.assert_allclose(J[k] @ (scale * R[k]), np.eye(2), atol=1e-6)


def test_many_motions_as_one_by_one() -> None:
    """Also those with dependent columns."""
    rng = np.random.default_rng(4)
    R = np.triu(rng.normal(size=(6, 3, 3)))
    R[4, 2, 2] = 0.0
    for name in ("d", "a", "e", "condition"):
        one = [Criterion(name)(r[:, None, :]) for r in R]
        np.testing.assert_allclose(
            criterion_values(Criterion(name), R, on_processor()), one, rtol=1e-9
        )
