"""Numbers of valid choices, against trying every one."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from mechid.base.baseset import base_set
from mechid.base.count import (
    _estimate,
    count_bases,
    count_choices,
    independent_parts,
    ranked,
    sample_choices,
)

from .cases import SUSPENSION, null_of, stacked


def enumerated(rows: np.ndarray) -> int:
    n, r = rows.shape
    return sum(np.linalg.matrix_rank(rows[list(s)]) == r for s in combinations(range(n), r))


@pytest.mark.parametrize("seed", range(12))
def test_count_is_that_of_trying_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(3, 11)), int(rng.integers(1, 4))
    # Small whole numbers: many dependent sets.
    rows = rng.integers(-1, 2, (n + r, r)).astype(float)
    rows[:r] = np.eye(r)
    rows = rows[np.any(rows != 0, axis=1)]
    assert count_bases(rows) == enumerated(rows)


def test_spanning_trees_of_a_complete_graph() -> None:
    """Cayley: 6⁴, counted and estimated from 4000 random picks, of which 43 % are trees."""
    edges = list(combinations(range(6), 2))
    incidence = np.zeros((len(edges), 6))
    for k, (a, b) in enumerate(edges):
        incidence[k, a], incidence[k, b] = 1, -1
    assert count_bases(incidence[:, 1:]) == 6**4
    found = _estimate(incidence[:, 1:], np.random.default_rng(0))
    five_sigma = 5 * math.sqrt((1 / 0.43 - 1) / 4000) / math.log(10)
    assert found == pytest.approx(4 * math.log10(6), abs=five_sigma)


@pytest.mark.parametrize("spec", ["four_bar", "slider_crank", "five_bar", "spatial_slider_crank"])
def test_small_models(spec: str) -> None:
    null = null_of(spec)
    found = count_choices(null)
    chosen = base_set(null, sample_choices(null, 1)[0])
    at = {n: i for i, n in enumerate(null.names)}
    free = [at[n] for n in null.names if n not in null.without_effect]
    always = [at[n] for n in null.without_effect]
    U = np.linalg.svd(null.matrix, full_matrices=False)[0][:, : null.rank]
    tried = sum(
        np.linalg.svd(U[[*always, *s]], compute_uv=False)[-1] > 1e-9
        for s in combinations(free, len(chosen.dependent))
    )
    assert found.exact == tried
    assert len(sample_choices(null, 5 * tried)) <= tried


def test_count_of_the_suspension() -> None:
    found = count_choices(null_of(SUSPENSION))
    assert found.exact is not None
    assert found.log10 == pytest.approx(math.log10(found.exact))
    assert sorted(found.parts)[:12] == [(2, 1)] * 12  # the tensors of the struts
    assert found.exact < found.bound < math.comb(115, 32)


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 17, 40])
def test_choices_with_and_without_a_parameter_are_all_choices(place: int) -> None:
    """Rows without one, and what the others add to it, are other matrices in another order."""
    rows = max(independent_parts(null_of(SUSPENSION)), key=len)
    e = rows[place] / np.linalg.norm(rows[place])
    others = np.delete(rows, place, axis=0)
    across = np.linalg.svd(e[None, :])[2][1:].T
    without, beside = count_bases(others), count_bases(others @ across)
    assert without is not None
    assert beside is not None
    assert count_bases(rows) == without + beside


def test_too_many_states_are_not_counted() -> None:
    rows = np.random.default_rng(0).standard_normal((24, 12))
    assert count_bases(rows, most=50) is None


def test_ranking_by_condition_number() -> None:
    null = null_of("puma560@bare")
    choices = sample_choices(null, 5)
    assert len(set(choices)) == 5
    found = ranked(null, choices, stacked("puma560@bare"))
    assert [x.condition for x in found] == sorted(x.condition for x in found)
    assert all(x.terms == x.base_set.n_terms for x in found)
