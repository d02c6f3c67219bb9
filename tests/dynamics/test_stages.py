"""Stages evaluated together, by kernels and by generated code, against one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.forward.compiled import CompiledStages
from mechid.dynamics.integrate import integrate
from mechid.dynamics.integrators.task import Tableau
from mechid.dynamics.integrators.with_scipy import IN_STAGES
from mechid.dynamics.loads import table_forces
from mechid.dynamics.simulate import SimulationError, simulate
from mechid.kinematics.engine.choice import engine
from mechid.modelfile import load

from .test_simulation import DEAD_CENTRE, THROWN, faller, rocker

Array = npt.NDArray[np.float64]


# --------------------------------------------------------------------------- integrators


def swing(t: float, z: Array) -> Array:
    return np.array([z[1], -np.sin(z[0]) + 0.3 * np.cos(2.0 * t)])


class Together:
    """Stages of `swing`, which cannot be evaluated together after some times."""

    def __init__(self, fails: Callable[[float, int], bool]) -> None:
        self.fails = fails
        self.calls = 0

    def run(
        self, table: Tableau, first: int, last: int, t: float, h: float, z: Array, K: Array
    ) -> Array | None:
        if self.fails(t, first):
            K[first:last] = np.nan  # what a call leaves behind when it fails
            return None
        self.calls += 1
        for s in range(first, last):
            state = z + h * (table.A[s, :s] @ K[:s])
            K[s] = swing(t + h * table.C[s], state)
        return state


@pytest.mark.parametrize("method", IN_STAGES)
@pytest.mark.parametrize(
    "fails",
    [
        lambda t, first: False,
        lambda t, first: t % 1.0 > 0.5,
        lambda t, first: first > 1,
        lambda t, first: True,
    ],
    ids=["never", "steps", "interpolants", "always"],
)
def test_steps_and_interpolants_are_those_of_scipy(
    method: str, fails: Callable[[float, int], bool]
) -> None:
    """Errors of rounding change the steps a little, and the solution by a part of its error."""
    times = np.linspace(0.0, 3.0, 101)
    options: dict[str, Any] = {"method": method, "rtol": 1e-6, "atol": 1e-8}
    plain = integrate(swing, np.array([1.0, 0.0]), times, **options)
    stages = Together(fails)
    found = integrate(swing, np.array([1.0, 0.0]), times, stages=stages, **options)
    assert found.steps == plain.steps
    assert found.z == pytest.approx(plain.z, abs=1e-8)
    assert (stages.calls > 0) == (not fails(0.0, 1))


# --------------------------------------------------------------------------- what acts


@pytest.mark.parametrize("method", IN_STAGES)
def test_forces_over_time_and_a_function_are_the_same(method: str) -> None:
    """A function may depend on the state, and is asked at every evaluation."""
    model = dynamic_model(load("four_bar"))
    times = np.linspace(0.0, 0.5, 11)
    table = table_forces(times, 0.3 * np.sin(4 * times)[:, None], "cubic")
    options: dict[str, Any] = {"integrator": method, "rtol": 1e-7, "atol": 1e-9}
    together = simulate(model, times, forces=table, **options)
    one_by_one = simulate(model, times, forces=lambda t, y, yd: table(t, y, yd), **options)
    assert together.evaluations == one_by_one.evaluations
    for name in ("y", "yd", "ydd", "q", "v", "tau", "kinetic", "potential", "work"):
        expected = getattr(one_by_one, name)
        assert getattr(together, name) == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("choice", ["tables", "compiled"])
def test_driven_coordinates(choice: str) -> None:
    """On the tree they are constraints, solved in another way."""
    model = load("five_bar")
    name = model.coordinates[0].name
    start = dynamic_model(model).kinematics.home_y[0]

    def motion(t: float) -> tuple[float, float, float]:
        return start + 0.2 * np.sin(3 * t), 0.6 * np.cos(3 * t), -1.8 * np.sin(3 * t)

    times = np.linspace(0.0, 0.3, 7)
    with engine(choice):
        found = simulate(model, times, drive={name: motion})
    other = simulate(model, times, drive={name: motion}, formulation="gibbs-appell")
    assert found.y == pytest.approx(other.y, abs=1e-8)
    assert found.tau == pytest.approx(other.tau, rel=1e-6, abs=1e-6)
    assert found.work == pytest.approx(other.work, rel=1e-6, abs=1e-8)


# --------------------------------------------------------------------------- generated code


def test_generated_code_is_used_and_left_where_its_pivots_do_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A linkage that falls through all its poses: most of them by code, the others by kernels."""
    by_code: list[bool] = []
    run = CompiledStages.run

    def counted(self: CompiledStages, *arguments: Any) -> Any:
        state = run(self, *arguments)
        by_code.append(not self.engine._anchored)  # the code does not keep the kernels' arrays
        return state

    monkeypatch.setattr(CompiledStages, "run", counted)
    model = dynamic_model(load("four_bar@example-2"))
    times = np.linspace(0, 4, 41)
    options = {"rtol": 1e-10, "atol": 1e-12}
    with engine("compiled"):
        found = simulate(model, times, **options)
    assert 0.2 < np.mean(by_code) < 1.0
    assert np.abs(found.energy_error).max() < 1e-7 * np.ptp(found.potential)
    plain = simulate(model, times, formulation="gibbs-appell", **options)
    assert found.y == pytest.approx(plain.y, abs=1e-6)


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_dead_centres_are_refused_by_generated_code(rtol: float) -> None:
    times = np.linspace(0, 2, 21)
    with engine("compiled"), pytest.raises(SimulationError, match="dead centre") as caught:
        simulate(rocker(), times, yd0=THROWN, rtol=rtol, atol=rtol / 100)
    assert len(caught.value.partial.time) == 9  # 0 … 0.8 s
    when = float(str(caught.value).split("t = ")[1].split(" s")[0])
    assert when == pytest.approx(DEAD_CENTRE, abs=0.01)


def test_code_is_generated_on_the_way_of_long_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    """And gives the same motion."""
    model = dynamic_model(load("pendulum@point-mass-like"))
    times = np.linspace(0, 3, 4)
    with engine("tables"):
        plain = simulate(model, times)
    monkeypatch.setattr("mechid.kinematics.engine.choice._WORTH_IT", plain.evaluations // 2)
    assert "forward_code" not in model.__dict__
    assert simulate(model, times).y == pytest.approx(plain.y, abs=1e-12)
    assert model.__dict__["forward_code"] is not None


@pytest.mark.parametrize("choice", ["tables", "compiled"])
def test_more_instants_than_are_evaluated_in_one_call(choice: str) -> None:
    """A block that falls freely is where it should be at each of them."""
    times = np.linspace(0.0, 0.4, 2501)
    with engine(choice):
        found = simulate(faller(), times)
    assert found.y[:, 0] == pytest.approx(-9.81 / 2 * times**2, abs=1e-9)
    assert found.kinetic == pytest.approx((9.81 * times) ** 2, abs=1e-8)
