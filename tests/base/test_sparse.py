"""Sparse elimination against dense singular values."""

from __future__ import annotations

import numpy as np
import pytest
from flint import ctx

from mechid.base.nullspace import RANK_TOLERANCE, NullSpace, null_space
from mechid.base.sparse import sparse_basis
from mechid.exact.numbers import PRECISION
from mechid.modelfile import load, zoo_names


def transfers(spec: str) -> NullSpace:
    with ctx.workprec(PRECISION):
        null = null_space(load(spec))
        assert null.basis
        return null


@pytest.mark.parametrize("spec", zoo_names())
def test_rank_is_that_of_singular_values(spec: str) -> None:
    null = transfers(spec)
    U, s, _ = np.linalg.svd(null.matrix, full_matrices=False)
    rank = int(np.sum(s > RANK_TOLERANCE * s[0]))
    assert null.rank == rank
    # A unit vector lies in the span if nothing of it is left.
    inside = U[:, :rank] @ U[:, :rank].T
    left = np.linalg.norm(np.eye(len(inside)) - inside, axis=1)
    assert null.without_effect == tuple(
        name for name, x in zip(null.names, left, strict=True) if x < 1e-7
    )


@pytest.mark.parametrize("seed", range(5))
def test_random_vectors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, (12, 20)) * (rng.uniform(size=(12, 20)) < 0.2)
    A = np.vstack([A, A[:4] + A[4:8]])
    rows = [row / np.linalg.norm(row) for row in A if row.any()]
    vectors = [{i: float(x) for i, x in enumerate(row) if x} for row in rows]
    basis = sparse_basis(vectors, 1e-9)
    assert basis.rank == np.linalg.matrix_rank(A)
    assert all(basis.contains(v, 1e-9) for v in vectors)
    assert not basis.contains({i: float(x) for i, x in enumerate(rng.normal(size=20))}, 1e-9)


def test_what_is_small_is_not_nothing() -> None:
    """m - h² I on a thread of small lead h: neither parameter is without effect."""
    basis = sparse_basis([{0: 1.0, 1: -1e-6}], 1e-9)
    assert not basis.contains({0: 1.0}, 1e-9)
