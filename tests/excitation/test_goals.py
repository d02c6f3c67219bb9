"""Goal attainment: the worst of several criteria, relative to its goal."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.excitation.criteria import Criterion, CriterionOptions, Goals

W = np.random.default_rng(3).standard_normal((12, 2, 4)) * [1.0, 2.0, 0.5, 3.0]
KNOWN = np.zeros(W.shape[:2])
LOG = CriterionOptions(log=True)


def goals(first: float, second: float, weights: tuple[float, float] | None = None) -> Goals:
    return Goals((Criterion("condition", LOG), Criterion("a", LOG)), (first, second), weights)


def test_the_worst_missed_goal_counts() -> None:
    kappa, a = Criterion("condition", LOG)(W), Criterion("a", LOG)(W)
    # One goal missed by 2, the other by far less: the smooth worst lies just above.
    assert goals(kappa - 2, a + 5).look(W, KNOWN).value == pytest.approx(2.0, abs=1e-9)
    assert goals(kappa + 3, a - 1).look(W, KNOWN).value == pytest.approx(1.0, abs=1e-9)
    both = goals(kappa - 1, a - 1).look(W, KNOWN).value
    assert 1.0 <= both <= 1.0 + np.log(2) / 20 + 1e-12
    assert goals(kappa + 1, a + 1).look(W, KNOWN).value < 0  # both reached
    assert goals(kappa - 2, a + 5, (4.0, 1.0)).look(W, KNOWN).value == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("weights", [None, (2.0, 0.5)])
def test_gradient_is_that_of_differences(weights: tuple[float, float] | None) -> None:
    kappa, a = Criterion("condition", LOG)(W), Criterion("a", LOG)(W)
    together = goals(kappa - 1.0, a - 1.02, weights)
    gradient = together.look(W, KNOWN).by_W
    rng = np.random.default_rng(1)
    for _ in range(5):
        d = rng.standard_normal(W.shape)
        h = 1e-6
        ahead, behind = (together.look(W + s * d, KNOWN).value for s in (h, -h))
        slope = (ahead - behind) / (2 * h)
        assert np.sum(gradient * d) == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_goals_that_do_not_fit() -> None:
    with pytest.raises(DataError, match="once per criterion"):
        Goals((Criterion("a"),), (1.0, 2.0))
    with pytest.raises(DataError, match="must be > 0"):
        Goals((Criterion("a"),), (1.0,), (0.0,))
