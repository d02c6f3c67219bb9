"""Loads over time: closed forms, constant loads at every instant, gradients, refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mechid.base.bounds import bounds
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import observation_matrix, observe_path
from mechid.dynamics.simulate import simulate
from mechid.errors import DataError, MechidError, ModelError
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism, TimeHistory
from mechid.modelfile import build, load
from mechid.modelfile.dump import document_of

from ..contract.states import random_course
from .formulations import EVERY
from .gradients import check_gradient

TIGHT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12}
TABLE = {"time": [0, 1, 3], "factor": [0, 1, -1]}


def slider(**elements: Any) -> Mechanism:
    """A block of 2 kg on a rail along x."""
    return build(
        name="slider",
        gravity=[0, 0, 0],
        points={"peg": [1, 0, 0]},
        bodies={"b": {"mass": 2, "center": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}}},
        joints={
            "rail": {"type": "prismatic", "between": ["ground", "b"], "at": "peg", "axis": "x"}
        },
        elements=elements,
        coordinates={"x": {"joint": "rail"}},
    )


PUSH: dict[str, Any] = {"type": "force", "body": "b", "at": "peg", "vector": [6, 0, 8]}
PULL: dict[str, Any] = {"type": "joint_force", "joint": "rail", "force": 6}


@pytest.mark.slow
@pytest.mark.parametrize("formulation", EVERY)
@pytest.mark.parametrize("element", [PUSH, PULL])
def test_driven_block(element: dict[str, Any], formulation: str) -> None:
    """2 ẍ = 6 sin 3t from rest: x = t - sin(3t)/3."""
    model = slider(e={**element, "over_time": "sin(3*t)"})
    time = np.linspace(0, 2, 5)
    found = simulate(model, time, formulation=formulation, **TIGHT)
    np.testing.assert_allclose(found.y[:, 0], time - np.sin(3 * time) / 3, atol=1e-7)
    assert np.abs(found.energy_error).max() < 1e-7
    assert found.work[-1] == pytest.approx((1 - np.cos(6)) ** 2, abs=1e-6)  # m v² / 2


@pytest.mark.parametrize("formulation", ["tree", "reference-point"])
def test_forces_of_a_motion(formulation: Any) -> None:
    model = slider(e={**PUSH, "over_time": TABLE})
    t = np.array([0.0, 0.5, 2.0, 2.5])
    rest = solve_motion(kinematic_model(model), np.zeros((4, 1)), time=t)
    found = inverse_dynamics(rest, reactions=True, formulation=formulation)
    factor = np.array([0, 0.5, 0, -0.5])
    np.testing.assert_allclose(found.tau[:, 0], -6 * factor, atol=1e-13)
    assert found.reactions is not None
    np.testing.assert_allclose(found.reactions.force[:, 0, 2], -8 * factor, atol=1e-12)


def timed(mechanism: Mechanism, history: TimeHistory | None, factor: float = 1.0) -> Mechanism:
    """The mechanism with a force and a moment on its last body, over time or times a factor."""
    force = build(
        name="e",
        bodies={b.name: {} for b in mechanism.bodies},
        joints={b.name: {"type": "free", "between": ["ground", b.name]} for b in mechanism.bodies},
        elements={
            "f": {
                "type": "force",
                "body": mechanism.bodies[-1].name,
                "at": [0, 0.1, 0.2],
                "vector": [3 * factor, -2 * factor, factor],
                "axes": "body",
            },
            "m": {
                "type": "moment",
                "body": mechanism.bodies[-1].name,
                "vector": [factor, 0, 2 * factor],
            },
        },
    ).elements
    added = tuple(replace(e, history=history) for e in force)
    return replace(mechanism, elements=(*mechanism.elements, *added))


@pytest.mark.parametrize("spec", ["four_bar", "spatial_slider_crank"])
def test_each_instant_is_that_of_a_constant_load(spec: str) -> None:
    bare = load(spec)
    model = timed(bare, TimeHistory("2 + cos(t)"))
    k = kinematic_model(model)
    t = np.array([0.4, 1.7, 3.1])
    y, yd, ydd = random_course(k, np.random.default_rng(0)).at(t)
    phi = np.array([c.value or 0.0 for c in dynamic_model(model).columns])
    found = inverse_dynamics(solve_motion(k, y, yd, ydd, time=t), phi, reactions=True)
    seen = observe_path(model, y, yd, ydd, time=t)
    np.testing.assert_allclose(seen.W @ phi + seen.known, found.tau, atol=1e-10)
    memory = replace(seen, W=np.full_like(seen.W, np.nan), known=np.full_like(seen.known, np.nan))
    again = observe_path(model, y, yd, ydd, time=t, out=memory)
    assert again.W is memory.W
    assert np.array_equal(again.W, seen.W)
    assert np.array_equal(again.known, seen.known)
    for i in range(3):
        one = kinematic_model(timed(bare, None, 2 + np.cos(t[i])))
        motion = solve_motion(one, y[i : i + 1], yd[i : i + 1], ydd[i : i + 1])
        want = inverse_dynamics(motion, phi, reactions=True)
        np.testing.assert_allclose(found.tau[i], want.tau[0], rtol=1e-9, atol=1e-9)
        assert found.reactions is not None
        assert want.reactions is not None
        np.testing.assert_allclose(found.reactions.force[i], want.reactions.force[0], atol=1e-8)


def test_gradient() -> None:
    model = dynamic_model(timed(load("four_bar"), TimeHistory("2 + cos(t)")))
    k, rng = model.kinematics, np.random.default_rng(1)
    t = np.array([0.9, 2.2])
    motion = solve_motion(k, *random_course(k, rng).at(t), time=t)
    check_gradient(model, motion, rng)


def test_parameters_do_not_see_loads_over_time() -> None:
    model, bare = slider(e={**PUSH, "over_time": "t"}), slider()
    assert dynamic_model(model).columns == dynamic_model(bare).columns
    assert bounds(model).lower == bounds(bare).lower == 1  # the mass


def test_written_back() -> None:
    model = slider(
        a={**PUSH, "over_time": "2*sin(3*t)"},
        b={**PULL, "over_time": {**TABLE, "interpolation": "cubic"}},
    )
    assert build(**document_of(model)).elements == model.elements


def test_refusals() -> None:
    model = slider(e={**PUSH, "over_time": TABLE})
    rest = np.zeros((1, 1))
    with pytest.raises(DataError, match="the motion has no times"):
        observation_matrix(solve_motion(kinematic_model(model), rest))
    late = solve_motion(kinematic_model(model), rest, time=np.array([4.0]))
    with pytest.raises(DataError, match="there is no force for t = 4 s"):
        observation_matrix(late)
    with pytest.raises(MechidError, match="there is no force for t = 3"):
        simulate(model, np.linspace(0, 4, 3))
    pole = kinematic_model(slider(e={**PUSH, "over_time": "1/t"}))
    with pytest.raises(DataError, match="no value at t = 0 s"):
        observation_matrix(solve_motion(pole, rest, time=np.zeros(1)))
    unknown = {"value": 1, "identify": True}
    for element, words in (
        ({**PULL, "force": unknown, "over_time": "t"}, "cannot be identified"),
        ({**PULL, "over_time": "x + t"}, "x is not known over time"),
        ({**PULL, "over_time": {"time": [0, 1], "factor": [1]}}, "do not make a table"),
        ({**PULL, "over_time": {"time": [1, 0], "factor": [1, 2]}}, "do not make a table"),
        ({**PULL, "over_time": {"time": [0, 1], "factors": [1, 2]}}, "unknown key factors"),
    ):
        with pytest.raises(ModelError, match=words):
            slider(e=element)
