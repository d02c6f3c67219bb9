"""Equations on the tree while loops are open: rows and their derivatives, exact at any state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.regressor import cad_parameters
from mechid.kinematics.kernels.links import advance
from mechid.mechanism.records import Coefficient, Mechanism
from mechid.modelfile import load, zoo_names

from ..elements import torsion_spring
from ..kinematics.mechanisms import four_bar

Array = npt.NDArray[np.float64]
STEP = 1e-5  # of angles, and in parts of the mechanism's size


def threads() -> Mechanism:
    """A screw press whose thread is cut."""
    press = load("screw_press")
    thread = next(j.name for j in press.joints if j.type == "helical")
    return replace(press, cut=(thread,))


def open_state(model: DynamicModel, rng: np.random.Generator) -> tuple[Array, Array]:
    """A state off the closed home pose by tenths of radians, and of the size."""
    k = model.kinematics
    scale = np.array(k.tables.columns.scale)
    q = k.home_q.copy()
    advance(k.tables, q, 0.1 * scale * rng.standard_normal(scale.size), 1.0)
    return q, scale * rng.standard_normal(scale.size)


def engine_of(model: DynamicModel) -> Engine:
    return Engine(model, np.nan_to_num(cad_parameters(model), nan=1.0))


def check(model: DynamicModel, sharp: float = 1.0) -> None:
    """J v and J v̇ + gamma, against central differences of the rows along a straight way.

    Errors of the differences grow with `sharp`, the size of the third derivatives.
    """
    engine = engine_of(model)
    t = engine.kinematics.tables
    row_scale = np.array(t.rows.scale)
    scale = np.array(t.columns.scale)
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, v = open_state(model, rng)
        at = engine.tree(q, v)

        def along(direction: Array, size: float, q: Array = q) -> Array:
            moved = q.copy()
            advance(t, moved, direction, size)
            return engine.tree(moved, np.zeros(scale.size)).values * row_scale

        for c in range(scale.size):
            unit = np.zeros(scale.size)
            unit[c] = scale[c]
            slope = (along(unit, STEP) - along(unit, -STEP)) / (2 * STEP)
            assert slope == pytest.approx(at.J @ unit * row_scale, abs=sharp * 1e-8)
        # Along exp(t v) q, the way of `advance`, speeds are constant: v̇ = 0.
        size = 10 * STEP
        bend = (along(v, size) - 2 * along(v, 0.0) + along(v, -size)) / size**2
        assert bend == pytest.approx(
            at.gamma * row_scale, abs=sharp * 1e-5 * (1 + np.abs(bend).max(initial=0.0))
        )


@pytest.mark.parametrize("name", zoo_names())
def test_rows_of_open_loops_are_exact(name: str) -> None:
    check(dynamic_model(load(name)))


def test_cut_threads_are_exact_off_the_thread() -> None:
    model = dynamic_model(threads())
    thread = next(j for j in model.mechanism.joints if j.type == "helical")
    turns = model.kinematics.size / (thread.pitch / (2 * np.pi))  # over which the sine repeats
    check(model, sharp=turns**2)


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 2, 3)])
@pytest.mark.parametrize("cut", ["B", "C", "D"])
def test_torsion_springs_on_cut_joints_count_turns(
    cut: str, normal: tuple[float, float, float]
) -> None:
    """The crank turns three times, and so does the joint between it and the coupler.

    In the tree the coordinate of the joint counts; cut, it must read the same.
    """
    bars = four_bar(normal=normal)
    springs = tuple(
        torsion_spring(
            f"spring_{joint}", joint, 0, Coefficient(float(k)), Coefficient(0.0), Coefficient(0.1)
        )
        for k, joint in enumerate("BCD", start=1)
    )
    potentials = []
    for choice in (cut, "C" if cut == "B" else "B"):
        model = dynamic_model(
            replace(bars, elements=springs, cut=(choice,), gravity=(0.0, 0.0, 0.0))
        )
        engine = Engine(model, np.ones(len(model.columns)))
        y = np.linspace(0, 6 * np.pi, 200)
        found = []
        for x in y:
            e = engine.reduced(np.array([x]), np.zeros(1))
            found.append((e.potential, *e.h))
        potentials.append(np.array(found))
    assert np.ptp(potentials[0][:, 0]) > 100
    assert potentials[0] == pytest.approx(potentials[1], abs=1e-9)
