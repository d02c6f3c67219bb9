"""Condition numbers against their closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.estimation.linear import condition


@pytest.mark.parametrize("angle", [0.1, 1.0, 3.0])
def test_condition_of_two_columns(angle: float) -> None:
    """Of unit vectors at an angle a: √((1 + |cos a|) / (1 - |cos a|)); lengths do not matter."""
    A = np.array([[5.0, 1e-3 * np.cos(angle)], [0.0, 1e-3 * np.sin(angle)]])
    c = abs(np.cos(angle))
    assert condition(A) == pytest.approx(np.sqrt((1 + c) / (1 - c)), rel=1e-9)


@pytest.mark.parametrize(
    "A", [np.zeros((3, 0)), np.ones((1, 2)), np.array([[1.0, 0.0], [0.0, 0.0]])]
)
def test_condition_of_dependent_columns(A: np.ndarray) -> None:
    """No columns, more columns than rows, a column of zeros."""
    assert condition(A) == np.inf
