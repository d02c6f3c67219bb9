"""Observation matrices of random states, from which base sets are chosen."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.base.nullspace import null_space
from mechid.base.rules import observed
from mechid.modelfile import load


@pytest.mark.parametrize(("name", "n"), [("five_bar", 2), ("slider_crank", 1)])
def test_rank_of_random_states(name: str, n: int) -> None:
    """As many independent columns as transfers of inertia leave, which need no states."""
    mechanism = load(name)
    null = null_space(mechanism)
    W = observed(mechanism, seed=3)
    assert W.shape == (500 * n, len(null.names))
    lengths = np.linalg.norm(W, axis=0)
    s = np.linalg.svd(W[:, lengths > 0] / lengths[lengths > 0], compute_uv=False)
    assert np.sum(s > 1e-9 * s[0]) == len(null.names) - null.rank
