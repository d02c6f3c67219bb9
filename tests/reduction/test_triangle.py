"""Least squares of the first parameters from a triangle: by hand, with a column of zeros too."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.reduction.nested import Triangle

R = np.array([[2.0, 0.0, 4.0], [0.0, 0.0, 0.0], [0.0, 0.0, 5.0]])
C = np.array([10.0, 0.0, 15.0])


def test_a_parameter_that_no_row_shows_stays_zero() -> None:
    triangle = Triangle(R, C, 3)
    assert triangle.solve(3, np.zeros(3)) == pytest.approx([-1.0, 0.0, 3.0])
    assert triangle.solve(2, np.array([9.0, 9.0, 1.0])) == pytest.approx([3.0, 0.0, 1.0])
    assert triangle.solve(1, np.array([9.0, 7.0, 2.0])) == pytest.approx([1.0, 7.0, 2.0])


def test_fewer_rows_than_parameters() -> None:
    triangle = Triangle(R, C, 2)
    triangle.solve(2, np.zeros(3))
    with pytest.raises(DataError, match="2 measured values are too few for 3 parameters"):
        triangle.solve(3, np.zeros(3))
