"""Poses carried across a singular one, along a straight way, on the branch of the tangent."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.regressor import cad_parameters
from mechid.kinematics.assembly import link_poses
from mechid.kinematics.tables import Floats
from mechid.modelfile import load

from ..problems.problems import n_four_bar


def four_bar(start: float) -> Engine:
    """A parallelogram, of which all rods are 1 m long, anchored at an angle of its cranks."""
    model = dynamic_model(n_four_bar(1))
    engine = Engine(model, cad_parameters(model))
    for angle in np.linspace(0.0, start, 30):
        engine.reduced(np.array([angle]), np.zeros(1))
    return engine


def cranks(engine: Engine) -> Floats:
    """Return the directions of both cranks at the anchor, from the poses of the links."""
    k = engine.kinematics
    poses = link_poses(k.compiled, engine._state.anchor.q)
    links = [k.compiled.body_link[name] for name in ("crank0", "crank1")]
    return np.array([(poses[i].rotation @ own.rotation)[:2, 1] for i, own in links])


@pytest.mark.parametrize("start", [1.3, 1.5])
@pytest.mark.parametrize("end", [1.6, 1.8])
def test_across_the_pose_where_the_branches_meet(start: float, end: float) -> None:
    """At 90° the rods lie on one line; cranks that were parallel stay so."""
    engine = four_bar(start)
    assert engine._cross(np.array([end]))
    assert engine._state.anchor.y == pytest.approx([end])
    wanted = np.array([-np.sin(end), np.cos(end)])
    np.testing.assert_allclose(cranks(engine), [wanted, wanted], atol=1e-9)


def test_a_way_that_ends_out_of_reach_leads_back() -> None:
    model = dynamic_model(load("five_bar"))
    engine = Engine(model, cad_parameters(model))
    home = model.kinematics.home_y
    before = [x.copy() for x in engine._state.anchor]
    assert not engine._cross(home + np.array([2.5, -2.5]))
    for x, y in zip(engine._state.anchor, before, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-13)
