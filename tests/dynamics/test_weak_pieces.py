"""Poses where the order of solution meets a singular block, and all rows together do not."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.kernels.observe import observe_batch
from mechid.dynamics.regressor import observation_matrix, observe_path
from mechid.dynamics.sensitivities import observation_sensitivity
from mechid.kinematics.kernels.closure import SINGULAR_RATIO
from mechid.kinematics.motion import Motion, solve_motion

from ..kinematics.mechanisms import Build, Z

CRANK, START = 0.5, 0.7
# The second rod, which is solved first, lies flat where the wheels have turned by this angle.
DEAD = np.pi / 2 - START


def locomotive() -> DynamicModel:
    """Two wheels and two rods, a quarter of a turn apart.

    Each rod makes a parallelogram, which cannot be solved where it lies flat; the other one, though
    it is redundant elsewhere, carries the wheels over.
    """
    build = Build("locomotive")
    hubs = [np.zeros(3), np.array([2.0, 0.0, 0.0])]
    wheels = [build.body(f"wheel_{i + 1}", hub) for i, hub in enumerate(hubs)]
    for i, (wheel, hub) in enumerate(zip(wheels, hubs, strict=True)):
        build.joint(f"axle_{i + 1}", "revolute", "ground", wheel, hub, Z)
    for name, angle in (("a", START), ("b", START + np.pi / 2)):
        pins = [hub + CRANK * np.array([np.cos(angle), np.sin(angle), 0.0]) for hub in hubs]
        rod = build.body(f"rod_{name}", pins[0])
        for i, (wheel, pin) in enumerate(zip(wheels, pins, strict=True)):
            build.joint(f"pin_{name}{i + 1}", "revolute", wheel, rod, pin, Z)
    build.drive("axle_1")
    return dynamic_model(build.mechanism())


def parameters(model: DynamicModel) -> tuple[np.ndarray, float]:
    """Wheels with an inertia about their axles, rods with masses; and the inertia of the whole."""
    phi = np.zeros((4, 10))
    phi[:2, 9] = 0.3, 0.4
    phi[2:, 0] = 2.0, 3.0
    assert len(model.columns) == phi.size
    return phi.ravel(), 0.3 + 0.4 + CRANK**2 * (2.0 + 3.0)


def over_the_dead_centre(model: DynamicModel) -> Motion:
    """The third sample lies on it."""
    y = DEAD + np.array([[0.2], [0.1], [0.0], [-0.1]])
    return solve_motion(model.kinematics, y, np.full_like(y, -2.0), np.full_like(y, 3.0))


def test_the_order_of_solution_is_weak_there() -> None:
    model = locomotive()
    motion = over_the_dead_centre(model)
    k = model.kinematics
    W, known, ratio = np.zeros((4, 1, 40)), np.zeros((4, 1)), np.ones(4)
    observe_batch(
        k.tables, k.order, model.tables, 0, 4, motion.q, motion.v, motion.vd, W, known, ratio
    )
    assert np.array_equal(ratio > SINGULAR_RATIO, [True, True, False, True])


def test_observation_matrix_at_a_weak_piece() -> None:
    model = locomotive()
    phi, inertia = parameters(model)
    motion = over_the_dead_centre(model)
    for seen in (
        observation_matrix(motion, model),
        observe_path(model, motion.y, motion.yd, motion.ydd),
    ):
        assert seen.W @ phi + seen.known == pytest.approx(np.full((4, 1), 3.0 * inertia), rel=1e-12)


def test_sensitivity_at_a_weak_piece() -> None:
    """The inertia is the same everywhere: only the acceleration changes the force."""
    model = locomotive()
    phi, inertia = parameters(model)
    motion = over_the_dead_centre(model)
    for direction, slope in enumerate((0.0, 0.0, inertia)):
        W, known = observation_sensitivity(motion, direction, model)
        assert W @ phi + known == pytest.approx(np.full((4, 1), slope), rel=1e-10, abs=1e-10)


def test_equations_at_a_weak_piece() -> None:
    """The engine comes to the pose, stands on it and goes on."""
    model = locomotive()
    phi, inertia = parameters(model)
    engine = Engine(model, phi)
    for y in DEAD + np.array([0.2, 0.1, 0.0, 1e-12, -0.1, 0.0, 0.1]):
        found = engine.reduced(np.array([y]), np.array([-2.0]))
        assert found.M[0, 0] == pytest.approx(inertia, rel=1e-12)
        assert found.h[0] == pytest.approx(0.0, abs=1e-10)
        assert found.gap < 1e-12
        moved = engine.accelerate(np.array([y]), np.array([-2.0]), np.array([1.5]))
        assert moved.ydd[0] == pytest.approx(1.5 / inertia, rel=1e-10)
        assert moved.kinetic == pytest.approx(0.5 * inertia * 4.0, rel=1e-12)


def test_an_engine_can_start_at_a_weak_piece() -> None:
    model = locomotive()
    phi, inertia = parameters(model)
    motion = over_the_dead_centre(model)
    engine = Engine(model, phi)
    engine.anchor(motion.y[2], motion.q[2])
    for k in (2, 3, 1):
        assert engine.reduced(motion.y[k], motion.yd[k]).M[0, 0] == pytest.approx(
            inertia, rel=1e-12
        )
