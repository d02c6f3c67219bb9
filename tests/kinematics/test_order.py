"""The order of solution: blocks as SciPy's graph routines find them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from mechid.kinematics.order import block_order, independent_rows, row_of_columns


def scipys_blocks(pattern: np.ndarray) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Blocks (rows, columns) by another matching and another search for components."""
    matched = maximum_bipartite_matching(csr_array(pattern), perm_type="row")
    needs = csr_array(pattern[matched].astype(np.int8))
    count, label = connected_components(needs, directed=True, connection="strong")
    columns = [np.flatnonzero(label == b) for b in range(count)]
    return {(tuple(sorted(matched[c].tolist())), tuple(c.tolist())) for c in columns}


@pytest.mark.parametrize("seed", range(40))
def test_blocks_are_those_of_scipy_and_solved_in_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    pattern = rng.random((n, n)) < rng.uniform(0.5, 3.0) / n
    pattern |= np.eye(n, dtype=bool)[rng.permutation(n)]  # not singular
    blocks = block_order(pattern)
    assert {(tuple(r), tuple(c)) for r, c in blocks} == scipys_blocks(pattern)
    known: set[int] = set()
    for rows, columns in blocks:
        known |= set(columns)
        assert set(np.flatnonzero(pattern[rows].any(axis=0)).tolist()) <= known


def test_a_long_row_of_exchanges() -> None:
    """Each column takes the row of the one before, until the last one has the first row left."""
    n = 1500
    pattern = np.eye(n, dtype=bool) | np.roll(np.eye(n, dtype=bool), 1, axis=1)
    pattern[0, 0] = False
    matched = row_of_columns(pattern)
    assert sorted(matched.tolist()) == list(range(n))
    assert pattern[matched, np.arange(n)].all()


def test_nothing_to_solve() -> None:
    assert block_order(np.zeros((0, 0), dtype=bool)) == []


@pytest.mark.parametrize("redundant", [0, 3])
def test_independent_rows(redundant: int) -> None:
    rng = np.random.default_rng(5)
    J = rng.standard_normal((6, 6))
    J = np.vstack([J, rng.standard_normal((redundant, 6)) @ J])
    kept = independent_rows(J, 6)
    assert len(kept) == 6
    assert kept == sorted(scipy.linalg.qr(J.T, mode="economic", pivoting=True)[2][:6])
