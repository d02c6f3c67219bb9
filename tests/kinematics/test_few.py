"""Kernels as plain Python for a few poses: the same numbers to the bit, and nothing is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mechid.kinematics import frames
from mechid.kinematics.kernels import few as few_poses
from mechid.kinematics.kernels.dense import dense_rows, fill_rows
from mechid.kinematics.kernels.few import few
from mechid.kinematics.kernels.jit import Kernel, interpreted
from mechid.kinematics.kernels.links import advance, place_links
from mechid.kinematics.kernels.observe import observe_frames
from mechid.kinematics.model import KinematicModel, kinematic_model, model_of_geometry
from mechid.kinematics.motion import Motion, solve_motion
from mechid.modelfile import load, zoo

NAMES = tuple(entry.name for entry in zoo())
VARIANTS = ("double_wishbone@free", "screw_press@guided", "five_bar@distances")


@pytest.fixture
def nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """As in a first process after installation."""
    monkeypatch.setattr(Kernel, "ready", property(lambda self: False))
    monkeypatch.setattr(few_poses, "_plain", {})
    return monkeypatch


def moved(spec: str) -> Motion:
    model = kinematic_model(load(spec))
    y = model.home_y + 0.01 * np.random.default_rng(0).standard_normal((3, model.n_independent))
    return solve_motion(model, y, np.ones_like(y), np.ones_like(y), ordered=False)


def seen(motion: Motion) -> list[np.ndarray]:
    """What the kernels leave."""
    model, q = motion.model, motion.q[0].copy()
    t, c = model.tables, model.compiled
    values, J = dense_rows(t, q)
    few(advance, 1)(t, q, 0.1 * np.ones(c.n_v), 1.0)
    rotation, origin = np.zeros((t.links.size, 3, 3)), np.zeros((t.links.size, 3))
    rotation[0], axes = np.eye(3), np.zeros((c.n_v, 3))
    every = np.arange(t.links.size)
    few(place_links, 1)(t, every, 1, t.links.size, q, rotation, origin, axes)
    bodies = motion.bodies()
    found = (bodies.position, bodies.rotation, bodies.velocity, bodies.acceleration, bodies.alpha)
    return [values, J, q, rotation, origin, axes, *found]


@pytest.mark.parametrize("spec", [*NAMES, *VARIANTS])
def test_results_are_the_same_to_the_bit(spec: str, nothing_compiled: pytest.MonkeyPatch) -> None:
    with nothing_compiled.context() as patch:
        patch.setattr(Kernel, "ready", property(lambda self: True))
        motion = moved(spec)
        compiled = seen(motion)
    with nothing_compiled.context() as patch:
        patch.setattr(Kernel, "entry", property(lambda self: pytest.fail("compiled")))
        plain = seen(motion)
    for a, b in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_mechanism_is_made_ready_without_compilation(
    nothing_compiled: pytest.MonkeyPatch,
) -> None:
    compiled = kinematic_model(load("sla_suspension"))
    nothing_compiled.setattr(Kernel, "entry", property(lambda self: pytest.fail("compiled")))
    model_of_geometry.cache_clear()
    kinematic_model.cache_clear()
    plain: KinematicModel = kinematic_model(load("sla_suspension"))
    assert plain is not compiled
    np.testing.assert_array_equal(plain.home_q, compiled.home_q)
    np.testing.assert_array_equal(plain.order.items, compiled.order.items)


def test_many_poses_are_left_to_compiled_kernels(nothing_compiled: pytest.MonkeyPatch) -> None:
    assert few(fill_rows, few_poses._MOST + 1) is fill_rows
    assert few(fill_rows, few_poses._MOST) is not fill_rows
    assert few(fill_rows, 1) is fill_rows  # they have been many by now
    assert few(advance, 1) is not advance
    nothing_compiled.setattr(Kernel, "ready", property(lambda self: True))
    assert few(observe_frames, 1) is observe_frames


def test_complex_numbers_are_left_to_compiled_kernels(
    nothing_compiled: pytest.MonkeyPatch,
) -> None:
    motion = moved("four_bar")
    nothing_compiled.setattr(frames, "few", lambda *args: pytest.fail("plain"))
    q = motion.q.astype(complex)
    found = frames.frame_motion(motion.model, q, motion.v + 0j, motion.vd + 0j, [])
    assert found.position.shape == (3, 0, 3)


def test_blocks_without_compilation_are_what_they_were(
    nothing_compiled: pytest.MonkeyPatch,
) -> None:
    with interpreted():
        assert few(fill_rows, 1) is fill_rows


def test_numbers_that_python_refuses_are_left_to_compiled_kernels(
    nothing_compiled: pytest.MonkeyPatch,
) -> None:
    """Python does not divide by zero; what was written until then is taken back."""
    called: list[Any] = []

    def half_done(tables: Any, x: np.ndarray) -> None:
        x += 1.0
        raise ZeroDivisionError

    tables = kinematic_model(load("pendulum")).tables
    plain = few(fill_rows, 1)
    nothing_compiled.setattr(plain, "function", half_done)
    nothing_compiled.setattr(plain, "kernel", lambda tables, x: called.append(x.copy()))
    plain(tables, np.zeros(2))
    assert [x.tolist() for x in called] == [[0.0, 0.0]]
