"""Small parts of the proof and of the transfers, against answers that are written out."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from flint import arb

from mechid.base.loop_transfers import _order
from mechid.base.proof import _rank
from mechid.base.verify import _regular

NAMES = ["monopole", *["dipole"] * 3, *["quadrupole"] * 6]


@pytest.mark.parametrize(("first", "name"), list(enumerate(NAMES)))
def test_a_distribution_has_the_name_of_its_lowest_moment(first: int, name: str) -> None:
    """Mass, its first moments, its second moments."""
    assert _order([sp.Integer(k == first) for k in range(10)]) == name
    assert _order([sp.Integer(k >= first) for k in range(10)]) == name


def test_no_distribution_has_no_name() -> None:
    assert _order([sp.Integer(0)] * 10) == ""


def test_rank_of_rows_relative_to_the_largest() -> None:
    assert _rank(np.zeros((0, 3))) == 0
    assert _rank(np.array([[1e-3, 0.0], [0.0, 1e-3], [1e-3, 1e-3]])) == 2
    assert _rank(1e9 * np.array([[1.0, 2.0], [2.0, 4.0]])) == 1


@pytest.mark.parametrize(
    ("rows", "regular"),
    [
        ([], True),
        ([[2.0]], True),
        ([[1.0, 2.0], [3.0, 4.0]], True),
        ([[1.0, 2.0], [2.0, 4.0]], False),
        ([[0.0, 2.0], [0.0, 4.0]], False),
        ([[1e-30, 1.0], [0.0, 1.0]], True),
    ],
)
def test_determinants_that_exclude_zero(rows: list[list[float]], regular: bool) -> None:
    """Also where the columns are of very different size."""
    assert _regular([[arb(x) for x in row] for row in rows]) is regular


def test_a_ball_that_holds_zero_excludes_nothing() -> None:
    assert not _regular([[arb(1.0, 2.0)]])
    assert _regular([[arb(1.0, 0.5)]])
