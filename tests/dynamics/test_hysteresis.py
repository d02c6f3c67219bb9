"""Friction that remembers where a motion turned: closed forms, differences, power, both ways."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechid
from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.hysteresis import dahl, dahl_gradient
from mechid.dynamics.regressor import (
    observation_blocks,
    observation_matrix,
    observe_path,
    observe_path_blocks,
    observe_stream,
)
from mechid.dynamics.simulate import FORMULATIONS
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Coefficient, Mechanism

from ..elements import element

WIDTH = 0.05


# ------------------------------------------------------------------------------- the law


def test_a_way_and_back_in_closed_form() -> None:
    """1 - exp(-x/w) on the way, -1 + (1 + h) exp(-x/w) on the way back, whatever the samples."""
    rng = np.random.default_rng(0)
    up = np.sort(np.concatenate([[0.0, 0.4], rng.uniform(0, 0.4, 50)]))
    down = 0.4 - np.sort(rng.uniform(0, 0.5, 60))
    h = dahl(np.concatenate([up, down]), WIDTH)
    np.testing.assert_allclose(h[:52], 1 - np.exp(-up / WIDTH), atol=1e-14)
    top = 1 - np.exp(-0.4 / WIDTH)
    np.testing.assert_allclose(h[52:], -1 + (1 + top) * np.exp(-(0.4 - down) / WIDTH), atol=1e-14)


def test_as_a_differential_equation() -> None:
    """An integrator of dh/dt = (ṡ - |ṡ| h) / w, which knows nothing of reversals."""
    t = np.linspace(0, 3, 3001)

    def speed(t: float) -> float:
        return float(np.cos(2 * t) + 0.8 * np.cos(7 * t))

    s = np.sin(2 * t) / 2 + 0.8 * np.sin(7 * t) / 7
    solved = solve_ivp(
        lambda t, h: (speed(t) - abs(speed(t)) * h) / WIDTH, (0, 3), [0.0], t_eval=t,
        rtol=1e-10, atol=1e-12, max_step=0.005,
    )  # fmt: skip
    np.testing.assert_allclose(dahl(s, WIDTH), solved.y[0], atol=1e-4)


def test_rests_and_short_paths() -> None:
    rng = np.random.default_rng(1)
    path = np.cumsum(rng.standard_normal(500) * (rng.random(500) < 0.6))
    moving = np.diff(path, prepend=np.nan) != 0
    h = dahl(path, 2.0)
    np.testing.assert_allclose(h[moving], dahl(path[moving], 2.0), atol=1e-13)  # rests do nothing
    assert len(dahl(path[:0], 1.0)) == 0
    assert dahl(path[:1], 1.0, 0.3).tolist() == [0.3]
    np.testing.assert_allclose(dahl(np.zeros(4), 1.0, 0.3), 0.3)
    np.testing.assert_allclose(dahl(-path, 2.0), -h)
    assert np.abs(h).max() <= 1


def test_what_a_cycle_dissipates() -> None:
    """Of a way a and back, again and again: 2 (a - 2 w tanh(a/2w)), by hand."""
    a = 0.12
    # From the end of one stretch, -b, over a way a: b = 1 - (1 + b) exp(-a/w), b = tanh(a/2w).
    once = np.concatenate([np.linspace(0, a, 4001), np.linspace(a, 0, 4001)[1:]])
    path = np.concatenate([once, *[once[1:]] * 9])
    h = dahl(path, WIDTH)
    last = slice(-8001, None)
    b = np.tanh(a / (2 * WIDTH))
    assert h[-1] == pytest.approx(-b, abs=1e-9)
    # ∫ h ds over a stretch: a - (1 + b) w (1 - exp(-a/w)) = a - 2 w b; there are two.
    work = np.trapezoid(h[last], path[last])
    assert work == pytest.approx(2 * (a - 2 * WIDTH * b), rel=1e-6)
    assert work > 0


def test_gradient_by_differences() -> None:
    rng = np.random.default_rng(2)
    path, weights = np.cumsum(rng.standard_normal(40)), rng.standard_normal(40)
    found = dahl_gradient(path, 1.5, dahl(path, 1.5), weights)
    for k in range(40):
        step = np.zeros(40)
        step[k] = 1e-6
        ends = [weights @ dahl(path + sign * step, 1.5) for sign in (1, -1)]
        assert found[k] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


# ------------------------------------------------------------------------------- mechanisms


def turning(mechanism: Mechanism, joints: list[str], **given: Any) -> Mechanism:
    """A mechanism with hysteresis in joints, to be identified."""
    size = given.pop("size", Coefficient(2.0, True))
    more = [
        element(f"turn_{name}", "friction", (), ((name, 0),), hysteresis=size,
                hysteresis_width=WIDTH, **given)
        for name in joints
    ]  # fmt: skip
    return replace(mechanism, elements=(*mechanism.elements, *more))


FOUR = mechid.load("four_bar")
JOINTS = [joint.name for joint in FOUR.joints]


def course(n: int = 120) -> tuple[Floats, Floats, Floats, Floats]:
    t = np.linspace(0, 2, n)
    y = np.asarray(mechid.solve_motion(FOUR, [[0.0]]).model.home_y) + 0.3 * np.sin(3 * t)[:, None]
    return t, y, 0.9 * np.cos(3 * t)[:, None], -2.7 * np.sin(3 * t)[:, None]


def moved(mechanism: Mechanism, n: int = 120) -> Motion:
    t, y, yd, ydd = course(n)
    return mechid.solve_motion(mechanism, y, yd, ydd, time=t)


@pytest.fixture(scope="module")
def four() -> Mechanism:
    return turning(FOUR, JOINTS)


def columns_of(mechanism: Mechanism, joints: list[str]) -> list[int]:
    names = [c.name for c in dynamic_model(mechanism).columns]
    return [names.index(f"hysteresis_turn_{joint}") for joint in joints]


def test_power_of_every_joint(four: Mechanism) -> None:
    """What actuators supply is h ṡ of the joint, in the tree or cut; h from its own coordinate."""
    motion = moved(four)
    seen = observation_matrix(motion)
    for joint, column in zip(JOINTS, columns_of(four, JOINTS), strict=True):
        own = joint_motion(motion, joint)
        h = dahl(own.coordinates[:, 0], WIDTH)
        power = np.einsum("ni,ni->n", seen.W[:, :, column], motion.yd)
        np.testing.assert_allclose(power, h * own.speeds[:, 0], atol=1e-12)


def test_all_ways_to_the_same_columns(four: Mechanism) -> None:
    t, y, yd, ydd = course()
    motion, d = moved(four), dynamic_model(four)
    seen = observation_matrix(motion)
    near = {"rtol": 1e-9, "atol": 1e-11}
    np.testing.assert_allclose(observe_path(four, y, yd, ydd, time=t).W, seen.W, **near)
    for size in (1, 7, 50, 500):
        blocks = [b.W.copy() for _, b in observe_path_blocks(four, y, yd, ydd, time=t, size=size)]
        np.testing.assert_allclose(np.concatenate(blocks), seen.W, **near)
        blocks = [b.W for _, b in observation_blocks(motion, size)]
        np.testing.assert_allclose(np.concatenate(blocks), seen.W, **near)
    ends = [slice(k, k + 13) for k in range(0, len(t), 13)]
    parts = [(t[part], y[part], yd[part], ydd[part]) for part in ends]
    stream = [b.W.copy() for b in observe_stream(d, parts, len(t))]
    np.testing.assert_allclose(np.concatenate(stream), seen.W, **near)
    some = motion.part(slice(0, 12))
    second = mechid.observation_matrix_reference(four, some)
    np.testing.assert_allclose(second.W, observation_matrix(some).W, atol=1e-9)


def test_known_and_identified_are_the_same_force(four: Mechanism) -> None:
    known = turning(FOUR, JOINTS, size=Coefficient(2.0))
    tau = mechid.inverse_dynamics(moved(four)).tau
    np.testing.assert_allclose(mechid.inverse_dynamics(moved(known)).tau, tau, atol=1e-11)
    second = mechid.inverse_dynamics(moved(known, 8), formulation="reference-point").tau
    np.testing.assert_allclose(second, mechid.inverse_dynamics(moved(known, 8)).tau, atol=1e-8)


def test_reactions_of_both_formulations(four: Mechanism) -> None:
    motion = moved(four, 6)
    a, b = (
        mechid.inverse_dynamics(motion, reactions=True, formulation=word).reactions
        for word in ("tree", "reference-point")
    )
    assert a is not None
    assert b is not None
    np.testing.assert_allclose(a.force, b.force, atol=1e-6)
    np.testing.assert_allclose(a.moment, b.moment, atol=1e-6)


def test_gradients_by_differences(four: Mechanism) -> None:
    t, y, yd, ydd = course(25)
    d, rng = dynamic_model(four), np.random.default_rng(3)
    motion = moved(four, 25)
    G = rng.standard_normal(observation_matrix(motion).W.shape)
    by_y, _, _ = observation_gradient(d, motion, G)
    for k in (1, 8, 16, 24):
        ends = []
        for sign in (1, -1):
            near = y.copy()
            near[k] += sign * 1e-6
            ends.append(np.sum(G * observe_path(four, near, yd, ydd, time=t).W))
        assert by_y[k, 0] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-5)


def test_states_alone_have_no_past() -> None:
    """Without times, or one by one: friction of the speed, and the order does not matter."""
    mechanism = turning(mechid.load("pendulum"), ["hinge"])
    y, yd = np.array([[0.1], [0.4], [0.2]]), np.array([[0.3], [-0.02], [0.0]])
    (column,) = columns_of(mechanism, ["hinge"])
    wanted = yd / (np.abs(yd) + WIDTH)
    alone = observation_matrix(mechid.solve_motion(mechanism, y, yd)).W[:, :, column]
    np.testing.assert_allclose(alone, wanted)
    states = observe_path(mechanism, y, yd, time=np.arange(3.0), ordered=False)
    np.testing.assert_allclose(states.W[:, :, column], wanted)
    one = mechid.solve_motion(mechanism, y[:1], yd[:1], time=np.zeros(1))
    np.testing.assert_allclose(observation_matrix(one).W[:, :, column], wanted[:1])
    path = mechid.solve_motion(mechanism, y, yd, time=np.arange(3.0))
    np.testing.assert_allclose(
        observation_matrix(path).W[:, 0, column], dahl(y[:, 0], WIDTH), atol=1e-14
    )


# ------------------------------------------------------------------------------- simulation

SLIDE = mechid.build(
    name="sledge",
    points={"O": [0, 0, 0]},
    bodies={
        "sledge": {"mass": 2, "center": [0, 0, 0], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    },
    joints={
        "guide": {"type": "prismatic", "between": ["ground", "sledge"], "at": "O", "axis": "x"}
    },
    coordinates={"x": {"joint": "guide"}},
)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_sledge_that_is_braked(formulation: str) -> None:
    """Until it stops, m v²/2 falls by F (x - w (1 - exp(-x/w))), the work of the friction."""
    sledge = turning(SLIDE, ["guide"], size=Coefficient(3.0))
    t = np.linspace(0, 0.6, 61)
    found = mechid.simulate(sledge, t, yd0=[1.0], formulation=formulation, rtol=1e-9, atol=1e-11)
    x, v = found.y[:, 0], found.yd[:, 0]
    assert v[-1] > 0.05
    work = 3.0 * (x - WIDTH * (1 - np.exp(-x / WIDTH)))
    np.testing.assert_allclose(v**2, 1 - work, atol=1e-7)
    np.testing.assert_allclose(found.dissipated, work, atol=1e-7)
    np.testing.assert_allclose(found.work, 0, atol=1e-9)


@pytest.mark.slow
def test_simulation_and_inverse_dynamics_agree() -> None:
    """Forces that a simulated motion takes are those that made it; to and fro, in a loop."""
    level = replace(FOUR, gravity=(0.0, 0.0, 0.0))
    four = turning(level, JOINTS[1:], size=Coefficient(5.0))
    t = np.linspace(0, 1.0, 501)
    forces = mechid.table_forces(t, 60 * np.cos(20 * t)[:, None], "cubic")
    found = mechid.simulate(four, t, forces=forces, rtol=1e-7, atol=1e-9)
    assert np.sum(np.diff(np.sign(found.yd[1:, 0])) != 0) > 2
    assert found.dissipated[-1] > 0.1 * found.kinetic.max()
    # Samples tell where the motion turned to a part of a step only.
    tau = mechid.inverse_dynamics(mechid.simulated_motion(found)).tau
    np.testing.assert_allclose(tau, found.tau, atol=0.01)
