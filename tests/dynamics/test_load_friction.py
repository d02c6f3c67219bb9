"""Friction that grows with the transmitted force: closed forms, differences, power, both ways."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mechid
from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.load_friction import load_friction
from mechid.dynamics.regressor import (
    observation_blocks,
    observation_matrix,
    observe_path,
    observe_path_blocks,
)
from mechid.dynamics.sensitivities import observation_sensitivity
from mechid.dynamics.simulate import FORMULATIONS
from mechid.errors import ModelError
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import Mechanism

from ..elements import element

MU = 0.2


def rubbing(mechanism: Mechanism, joints: list[str], **given: Any) -> Mechanism:
    """A mechanism with friction that depends on the load in joints."""
    given = {"load": MU} | given
    more = [element(f"gear_{name}", "friction", (), ((name, 0),), **given) for name in joints]
    return replace(mechanism, elements=(*mechanism.elements, *more))


FIVE = mechid.load("five_bar")
DRIVEN = [c.joint for c in FIVE.coordinates]  # type: ignore[union-attr]
PASSIVE = next(j.name for j in FIVE.joints if j.name not in DRIVEN)


def moved(mechanism: Mechanism, n: int = 90) -> Motion:
    t = np.linspace(0, 2, n)
    w, a = np.array([3.0, 4.3]), np.array([0.25, 0.2])
    home = dynamic_model(mechanism).kinematics.home_y
    y, yd, ydd = (
        shape * a * w**k
        for k, shape in enumerate((np.sin(np.outer(t, w)), np.cos(np.outer(t, w)),
                                   -np.sin(np.outer(t, w))))
    )  # fmt: skip
    return mechid.solve_motion(mechanism, home + y, yd, ydd, time=t)


def test_a_pendulum_in_closed_form() -> None:
    """L = m l² q̈ + m g l sin q of a point mass; a fifth more while lifting, less while lowering."""
    plain = mechid.load("pendulum@point-mass-like")  # 1.2 kg, 0.5 m below the pivot
    model = rubbing(plain, [plain.joints[0].name])
    y = np.array([[0.3], [0.3], [0.3], [-0.4], [0.3]])
    yd = np.array([[1.0], [-1.0], [0.0], [1.0], [2.0]])
    ydd = np.array([[0.0], [0.0], [3.0], [0.0], [-30.0]])
    sign = np.sign(mechid.inverse_dynamics(mechid.solve_motion(plain, [[0.3]])).tau[0, 0])
    load = 1.2 * 0.25 * ydd + sign * 1.2 * 9.81 * 0.5 * np.sin(sign * y)
    expected = load + MU * np.abs(load) * np.sign(yd)
    motion = mechid.solve_motion(model, y, yd, ydd)
    np.testing.assert_allclose(mechid.inverse_dynamics(motion).tau, expected, atol=1e-12)
    gears = load_friction(model)
    assert gears is not None
    np.testing.assert_allclose(gears.transmitted(expected, yd), load, atol=1e-12)


def test_forces_are_w_times_parameters_by_every_way() -> None:
    model = rubbing(FIVE, DRIVEN)
    motion = moved(model, 30)
    found = mechid.inverse_dynamics(motion)
    load = mechid.inverse_dynamics(moved(FIVE, 30)).tau
    np.testing.assert_allclose(found.tau, load + MU * np.abs(load) * np.sign(motion.yd), atol=1e-9)
    seen = observation_matrix(motion)
    np.testing.assert_allclose(seen.W @ found.phi + seen.known, found.tau, atol=1e-9)
    path = (motion.y, motion.yd, motion.ydd)
    others = [
        observe_path(model, *path, time=motion.time),
        mechid.observation_matrix_reference(model, motion),
        mechid.observation_matrix_reference(model, path),
    ]
    for other in others:
        np.testing.assert_allclose(other.W, seen.W, atol=1e-9)
        np.testing.assert_allclose(other.known, seen.known, atol=1e-9)
    for part, block in (
        *observation_blocks(motion, 12),
        *observe_path_blocks(model, *path, time=motion.time, size=12),
    ):
        np.testing.assert_allclose(block.W, seen.W[part], atol=1e-9)
    second = mechid.inverse_dynamics(motion, formulation="reference-point")
    np.testing.assert_allclose(second.tau, found.tau, atol=1e-7)


def test_the_direction_is_that_of_the_parameters_given() -> None:
    model = rubbing(FIVE, DRIVEN)
    motion = moved(model)
    phi = -mechid.inverse_dynamics(motion).phi  # all forces change their sign
    load = mechid.inverse_dynamics(moved(FIVE), phi).tau
    tau = mechid.inverse_dynamics(motion, phi).tau
    np.testing.assert_allclose(tau, load + MU * np.abs(load) * np.sign(motion.yd), atol=1e-9)


def test_ranks_stay() -> None:
    with_it, without = (
        np.linalg.matrix_rank(observation_matrix(moved(m)).W.reshape(180, -1))
        for m in (rubbing(FIVE, DRIVEN), FIVE)
    )
    assert with_it == without


def test_reactions_are_those_behind_the_gears() -> None:
    found = mechid.inverse_dynamics(moved(rubbing(FIVE, DRIVEN), 10), reactions=True)
    plain = mechid.inverse_dynamics(moved(FIVE, 10), reactions=True)
    assert found.reactions is not None
    assert plain.reactions is not None
    np.testing.assert_allclose(found.reactions.force, plain.reactions.force, atol=1e-9)
    np.testing.assert_allclose(found.reactions.moment, plain.reactions.moment, atol=1e-9)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_gradients_by_differences_and_by_complex_steps(smoothing: float) -> None:
    model = rubbing(FIVE, DRIVEN, smoothing=smoothing)
    d, motion = dynamic_model(model), moved(model, 7)
    rng = np.random.default_rng(0)
    seen = observation_matrix(motion)
    G, g = rng.standard_normal(seen.W.shape), rng.standard_normal(seen.known.shape)
    gradients = observation_gradient(d, motion, G, g)
    n_i, path = 2, (motion.y, motion.yd, motion.ydd)
    for direction in range(3 * n_i):
        order, i = divmod(direction, n_i)
        dW, dknown = observation_sensitivity(motion, direction)
        by_forward = np.einsum("njk,njk->n", G, dW) + np.einsum("nj,nj->n", g, dknown)
        ends = []
        for step in (1e-6, -1e-6):
            there = [x.copy() for x in path]
            there[order][:, i] += step
            end = observe_path(model, *there, ordered=False)
            ends.append(np.einsum("njk,njk->n", G, end.W) + np.einsum("nj,nj->n", g, end.known))
        np.testing.assert_allclose(gradients[order][:, i], by_forward, rtol=1e-8, atol=1e-8)
        slope = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(gradients[order][:, i], slope, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_simulated_motions_need_the_forces_they_were_given(formulation: str) -> None:
    model = rubbing(FIVE, DRIVEN, smoothing=0.05)
    times = np.linspace(0, 0.2, 21)
    given = np.array([0.7, -0.4])
    done = mechid.simulate(model, times, forces=given, formulation=formulation, rtol=1e-7)
    np.testing.assert_allclose(done.tau, np.tile(given, (21, 1)), atol=1e-12)
    motion = mechid.solve_motion(model, done.y, done.yd, done.ydd, time=times)
    np.testing.assert_allclose(mechid.inverse_dynamics(motion).tau, done.tau, atol=1e-5)
    # What the drives feed in is kept, or lost in the gears.
    fed = given @ (done.y[-1] - done.y[0])
    assert done.work[-1] == pytest.approx(fed, rel=1e-5)
    gears = load_friction(model)
    assert gears is not None
    lost = np.sum((done.tau - gears.transmitted(done.tau, done.yd)) * done.yd, axis=1)
    assert np.all(lost >= 0)
    assert done.dissipated[-1] == pytest.approx(np.trapezoid(lost, times), rel=0.02)


def test_driven_coordinates_need_more_than_the_load() -> None:
    model = rubbing(FIVE, DRIVEN)
    motion = moved(model, 6)
    first, second = (c.name for c in FIVE.coordinates)

    def drive(i: int) -> Any:
        home, w, a = dynamic_model(model).kinematics.home_y[i], (3.0, 4.3)[i], (0.25, 0.2)[i]
        return lambda t: (
            home + a * np.sin(w * t), a * w * np.cos(w * t), -a * w * w * np.sin(w * t)
        )  # fmt: skip

    assert motion.time is not None
    done = mechid.simulate(model, motion.time, drive={first: drive(0), second: drive(1)})
    np.testing.assert_allclose(done.tau, mechid.inverse_dynamics(motion).tau, atol=1e-7)


def test_forces_of_other_drives_need_not_be_known() -> None:
    """A gap in the force of a drive without this friction leaves its rows as they are."""
    gears = load_friction(rubbing(FIVE, DRIVEN[:1]))
    assert gears is not None
    motion = moved(FIVE)
    plain, seen = observation_matrix(motion), observation_matrix(motion)
    loads = mechid.inverse_dynamics(motion).tau
    loads[:, 1] = np.nan
    gears.apply(seen.W, seen.known, motion.yd, loads)
    np.testing.assert_array_equal(seen.W[:, 1], plain.W[:, 1])
    factors = 1 + MU * np.sign(motion.yd[:, :1] * loads[:, :1])
    np.testing.assert_allclose(seen.W[:, 0], plain.W[:, 0] * factors, atol=1e-12)


def test_refusals() -> None:
    with pytest.raises(ModelError, match=f"depends on the load of {PASSIVE}, which no drive moves"):
        observation_matrix(moved(rubbing(FIVE, [PASSIVE])))
    twice = rubbing(rubbing(FIVE, DRIVEN[:1], load=0.6), DRIVEN[:1], load=0.5)
    with pytest.raises(ModelError, match=r"must be < 1, got 1\.1"):
        observation_matrix(moved(twice))
