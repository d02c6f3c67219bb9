"""Newton's method on a pose: how many matrices it fills, and that nothing is left open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mechid.kinematics.kernels import closure
from mechid.kinematics.kernels.jit import interpreted
from mechid.kinematics.kernels.links import advance
from mechid.kinematics.model import kinematic_model
from mechid.modelfile import load


@pytest.mark.parametrize(("off", "most"), [(1e-3, 4), (1e-4, 3), (1e-6, 2), (1e-7, 2), (1e-11, 2)])
@pytest.mark.parametrize("spec", ["four_bar", "sla_suspension", "delta"])
def test_factors_serve_for_the_last_step_too(
    spec: str, off: float, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pose is the same, to rounding, from wherever it is reached."""
    filled: list[int] = []
    fill = closure.factor_piece

    def counted(t: Any, order: Any, p: int, work: Any) -> Any:
        filled.append(p)
        return fill(t, order, p, work)

    with interpreted():
        model = kinematic_model(load(spec))
        t, order, q = model.tables, model.order, model.home_q.copy()
        work = closure.make_work(t, order, q)
        status, _, _ = closure.close_sample(t, order, model.home_y, q, -1.0, work)
        assert status == closure.OK
        exact, matrix = q.copy(), work.factors.copy()
        step = off * np.random.default_rng(0).uniform(-1.0, 1.0, len(t.columns))
        step[[c.piece < 0 for c in order.columns]] = 0.0  # these are given
        advance(t, q, step, 1.0)
        monkeypatch.setattr(closure, "factor_piece", counted)
        status, _, _ = closure.close_sample(t, order, model.home_y, q, -1.0, work)
    assert status == closure.OK
    assert max(filled.count(p) for p in filled) <= most
    # what the last matrix was filled at, too
    np.testing.assert_allclose(q, exact, rtol=0, atol=2e-14)
    np.testing.assert_allclose(work.factors, matrix, rtol=1e-11, atol=1e-12)
