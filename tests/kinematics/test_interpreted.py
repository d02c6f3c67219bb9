"""Kernels without compilation, inside a block: the same numbers but for rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mechid.cli.check import checked, report
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.reaction_tables import reaction_tables
from mechid.dynamics.timed_loads import timed_loads
from mechid.kinematics.kernels.jit import Kernel, interpreted, is_interpreted
from mechid.kinematics.kernels.rows import row_value
from mechid.kinematics.mobility import mobility
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build, load

# Redundant constraints; balls and points as coordinates; threads; passive spins; a floating body;
# no loops; couplings; distances as coordinates; starts away from the home pose.
CASES = (
    "four_bar", "sla_suspension", "screw_press@guided", "spatial_slider_crank@two-balls",
    "double_wishbone@free", "puma560", "geared_gripper", "five_bar@distances",
    "andrews_squeezer", "four_bar@example-1",
)  # fmt: skip


def loaded_over_time() -> Mechanism:
    """A block on a rail that is pushed more and less."""
    return build(
        name="slider",
        gravity=[0, 0, 0],
        points={"peg": [1, 0, 0]},
        bodies={"b": {"mass": 2, "center": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}}},
        joints={
            "rail": {"type": "prismatic", "between": ["ground", "b"], "at": "peg", "axis": "x"}
        },
        elements={
            "push": {"type": "joint_force", "joint": "rail", "force": 6, "over_time": "sin(3*t)"}
        },
        coordinates={"x": {"joint": "rail"}},
    )


@pytest.mark.parametrize("spec", CASES)
def test_what_check_says_is_the_same(spec: str) -> None:
    mechanism = load(spec)
    compiled = report(kinematic_model(mechanism), mobility(mechanism))
    plain = checked(spec)
    sizes = ("closure_residual", "rank_gap")  # rounding, and what is divided by it
    assert {k: v for k, v in plain.items() if k not in (*sizes, "coordinates")} == {
        k: v for k, v in compiled.items() if k not in (*sizes, "coordinates")
    }
    assert plain["closure_residual"] < 1e-12
    for a, b in zip(plain["coordinates"], compiled["coordinates"], strict=True):
        assert a.pop("assembled") == pytest.approx(b.pop("assembled"), rel=1e-12, abs=1e-12)
        assert a == b


@pytest.mark.parametrize("spec", CASES)
def test_poses_and_motions_are_the_same(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = load(spec)
    compiled = kinematic_model(mechanism)
    y = compiled.home_y + np.array([[0.0], [0.01]])
    motion = solve_motion(compiled, y, np.ones_like(y))
    with interpreted(), monkeypatch.context() as patch:
        patch.setattr(Kernel, "entry", property(lambda self: pytest.fail("compiled")))
        plain = kinematic_model(mechanism)
        again = solve_motion(plain, y, np.ones_like(y))
        bodies = again.bodies()
        dynamic_model(mechanism)
    np.testing.assert_allclose(plain.home_q, compiled.home_q, rtol=0, atol=1e-12)
    assert plain.order.items.tolist() == compiled.order.items.tolist()
    for a, b in (
        (again.q, motion.q),
        (again.v, motion.v),
        (again.vd, motion.vd),
        (bodies.acceleration, motion.bodies().acceleration),
    ):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * max(1.0, float(np.abs(b).max())))


def test_models_are_kept_apart() -> None:
    mechanism = load("four_bar")
    before = kinematic_model(mechanism)
    with interpreted():
        assert is_interpreted()
        inside = kinematic_model(mechanism)
        assert inside is not before
        assert inside is kinematic_model(mechanism)
        assert dynamic_model(mechanism).kinematics.home_q is inside.home_q
    assert kinematic_model(mechanism) is before
    assert solve_motion(mechanism, before.home_y[None]).q.shape == (1, 3)


@pytest.mark.parametrize("made", [timed_loads, reaction_tables])
def test_tables_are_kept_apart(made: Callable[[Mechanism], object]) -> None:
    """What rests on a model rests on the one of its own mode, whichever was asked for first."""
    mechanism = loaded_over_time()
    with interpreted():
        inside = made(mechanism)
        assert made(mechanism) is inside
    outside = made(mechanism)
    assert outside is not inside
    assert made(mechanism) is outside
    with interpreted():
        assert made(mechanism) is inside


def test_loads_over_time_use_the_model_of_their_mode() -> None:
    mechanism = loaded_over_time()
    with interpreted():
        inside = timed_loads(mechanism)
        assert inside is not None
        assert inside.model is dynamic_model(inside.model.mechanism)
    outside = timed_loads(mechanism)
    assert outside is not None
    assert outside.model is dynamic_model(outside.model.mechanism)
    assert outside.model is not inside.model


def test_a_kernel_looks_like_its_function() -> None:
    assert row_value.__name__ == "row_value"
    assert "Value of a row" in row_value.__doc__
