"""Gradients of a criterion of W: against differences, at weak poses, in parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import observation_matrix
from mechid.kinematics.motion import Motion, solve_motion

from ..contract.states import EPS, is_angle, solve_course, zoo_course, zoo_model
from .gradients import check_gradient, random_weights
from .test_weak_pieces import locomotive, over_the_dead_centre

# Central differences of sixth order, as for the sensitivities.
STEP = 2e-4
OFFSETS = np.arange(-3, 4)
WEIGHTS = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60


def course(spec: str, n: int) -> Motion:
    """A motion in which no speed is near zero, where friction jumps."""
    there = solve_course(zoo_model(spec), zoo_course(spec), np.linspace(0.2, 5.8, n))
    yd = np.where(np.abs(there.yd) < 0.05, 0.05, there.yd)
    return solve_motion(there.model, there.y, yd, there.ydd)


@pytest.mark.parametrize(
    "spec",
    ["four_bar@example-1", "screw_press@guided", "macpherson", "five_bar@distances", "puma560"],
)
def test_gradient_of_a_criterion(spec: str) -> None:
    """Of log det Σ WᵀW + 1, as in the design of experiments, by coordinate, speed, acceleration."""
    motion = course(spec, 4)
    model = dynamic_model(motion.model.mechanism)
    n, n_i = motion.y.shape
    p = len(model.columns)

    def criterion(m: Motion) -> tuple[float, np.ndarray]:
        W = observation_matrix(m, model).W
        M = np.eye(p) + np.einsum("nip,niq->pq", W, W)
        return np.linalg.slogdet(M)[1], 2 * W @ np.linalg.inv(M)

    found = observation_gradient(model, motion, criterion(motion)[1])
    for direction in range(3 * n_i):
        c, group = direction % n_i, direction // n_i
        h = STEP * (1 if is_angle(motion.model.mechanism, c) else motion.model.size)
        for s in range(n):
            values = []
            for offset in OFFSETS:
                inputs = [a.copy() for a in (motion.y, motion.yd, motion.ydd)]
                inputs[group][s, c] += h * offset
                values.append(criterion(solve_motion(motion.model, *inputs))[0])
            want = WEIGHTS @ np.array(values) / h
            size = max(1.0, float(np.abs(found[group]).max()))
            assert abs(found[group][s, c] - want) <= 1e-8 * size, (direction, s)


def test_weak_pieces() -> None:
    """Where the order of solution breaks down, all rows together do it."""
    upright = replace(locomotive().mechanism, gravity=(0.0, -9.81, 0.0))
    model = dynamic_model(upright)
    # 0.1 rad away from the dead centre
    check_gradient(model, over_the_dead_centre(model), np.random.default_rng(0), 100.0)


def test_gradient_is_linear_in_the_weights() -> None:
    motion = course("sla_suspension", 5)
    model = dynamic_model(motion.model.mechanism)
    rng = np.random.default_rng(3)
    G, H = random_weights(model, motion, rng), random_weights(model, motion, rng)
    parts = [observation_gradient(model, motion, x) for x in (G, H, G - 2 * H)]
    for g, h, both in zip(*parts, strict=True):
        size = np.abs(g).max() + 2 * np.abs(h).max()
        assert np.abs(g - 2 * h - both).max() <= 1000 * EPS * size


def test_samples_in_any_layout() -> None:
    """Many samples, shared out among threads, and a G that is not contiguous: the same numbers."""
    motion = course("five_bar", 700)
    model = dynamic_model(motion.model.mechanism)
    G = random_weights(model, motion, np.random.default_rng(4))
    whole = observation_gradient(model, motion, np.asfortranarray(G))
    for part in (slice(0, 1), slice(123, 400), slice(650, 700)):
        alone = observation_gradient(model, motion.part(part), G[part])
        assert all(np.array_equal(a, b[part]) for a, b in zip(alone, whole, strict=True))


def test_nothing_to_do() -> None:
    motion = course("four_bar", 3)
    model = dynamic_model(motion.model.mechanism)
    none = observation_gradient(model, motion.part(slice(0, 0)), np.zeros((0, 1, 30)))
    assert [x.shape for x in none] == [(0, 1)] * 3


def test_weights_of_another_shape() -> None:
    motion = course("four_bar", 3)
    model = dynamic_model(motion.model.mechanism)
    with pytest.raises(ValueError, match=r"shape \(3, 1, 29\).*\(3, 1, 30\)"):
        observation_gradient(model, motion, np.zeros((3, 1, 29)))
    with pytest.raises(ValueError, match=r"shape \(3, 2\).*\(3, 1\)"):
        observation_gradient(model, motion, np.zeros((3, 1, 30)), np.zeros((3, 2)))
