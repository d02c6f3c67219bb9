"""What was asked before, or could not be solved, does not change later answers."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics import reference_point as rp
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.regressor import cad_parameters
from mechid.errors import ModelError, UnreachablePoseError
from mechid.modelfile import load


@pytest.mark.parametrize("far", [(2.5, -2.5), (-2.5, 2.5)])
def test_a_pose_that_cannot_be_reached_leaves_nothing_behind(far: tuple[float, float]) -> None:
    model = dynamic_model(load("five_bar"))
    engine = Engine(model, cad_parameters(model))
    home, speed = model.kinematics.home_y, np.array([0.3, -0.2])
    before = engine.reduced(home, speed)
    with pytest.raises(UnreachablePoseError):
        engine.reduced(home + far, speed)
    after = engine.reduced(home, speed)
    for name in ("M", "h", "q", "v", "R", "bias"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), atol=1e-13)
    assert after.kinetic == pytest.approx(before.kinetic)
    assert after.potential == pytest.approx(before.potential)


def test_rows_of_a_spin_that_is_not_held() -> None:
    """The spin of a rod between balls has a row in the basis of the method only."""
    mechanism = load("spatial_slider_crank@two-balls")
    y = dynamic_model(mechanism).kinematics.home_y + np.array([[0.0], [0.1]])
    motion = (y, np.ones_like(y), np.zeros_like(y))
    model = rp.reference_model(mechanism, hold_spins=False)
    states = rp.solve_states(model, *motion)
    found = rp.observation_matrix_reference(model, motion, "svd", own_basis=True)
    assert found.W.shape == (2, 2, len(model.columns))
    for k, state in enumerate(states):
        W, known = rp.observe(model, state, "svd", own_basis=True)
        np.testing.assert_allclose(found.W[k], W, atol=1e-12)
        np.testing.assert_allclose(found.known[k], known, atol=1e-12)
    with pytest.raises(ModelError, match="is not held"):
        rp.observation_matrix_reference(model, motion, "svd")
