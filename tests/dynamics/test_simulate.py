"""What stands between formulations and integrators, with a formulation of two numbers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.drive import driven_coordinates, nothing_driven
from mechid.dynamics.energy_balance import Rest
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.forward.formulation import Instant
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.simulate import (
    FORMULATIONS,
    _formulation,
    _Refusals,
    _refuse_free_energy,
    _Run,
    _stopped,
    _times,
    initial_state,
)
from mechid.dynamics.simulation import SimulationError, SimulationOptions
from mechid.errors import DataError, KinematicsError, MechidError
from mechid.kinematics.model import kinematic_model
from mechid.modelfile import load

from .test_records_and_forces import simulation

Array = np.ndarray


class Two:
    """State (y, ẏ) with ÿ = τ; no pose beyond y = 10."""

    def evaluate(self, z: Array, tau: Array, t: float = 0.0) -> Instant:
        if z[0] > 10:
            raise KinematicsError("out of reach")
        rate = np.array([z[1], tau[0]])
        return Instant(rate, tau, np.zeros(0), 0.5 * z[1] ** 2, 3.0, tau[0] * z[1], 7.0)

    def independent(self, z: Array, t: float = 0.0) -> tuple[Array, Array]:
        return z[:1], z[1:]

    def independent_acceleration(self, z: Array, rate: Array, t: float = 0.0) -> Array:
        return rate[1:]

    def tree(self, z: Array, t: float = 0.0) -> tuple[Array, Array]:
        return 2 * z[:1], 3 * z[1:]

    def constraint_error(self, z: Array, t: float = 0.0) -> float:
        return 0.125

    def project(self, z: Array, t: float = 0.0) -> Array:
        return z + t


def run(by_state: bool = False, most: float = 1.0, **more: Any) -> _Run:
    class Act:
        def __init__(self) -> None:
            self.by_state = by_state
            self.seen: list[tuple[float, int, int]] = []

        def __call__(self, t: float, y: Array, yd: Array) -> Array:
            self.seen.append((t, len(y), len(yd)))
            return np.array([4.0])

    return _Run(chosen=Two(), act=Act(), refused=_Refusals(most), **more)  # type: ignore[arg-type]


def test_the_rate_of_the_whole_state() -> None:
    one = run()
    assert one.evaluations == 0
    np.testing.assert_allclose(one.rate(0.0, np.array([1.0, 2.0, 5.0, 6.0])), [2, 4, 8, 7])
    assert one.evaluations == 1
    found = one.rate(0.0, np.array([1.0, np.nan, 0.0, 0.0]))
    assert np.isnan(found).all()
    assert found.shape == (4,)
    assert one.evaluations == 2
    # Coordinates are computed only if forces depend on them.
    assert one.act.seen == [(0.0, 2, 2)]  # type: ignore[attr-defined]
    other = run(by_state=True, stages=SimpleNamespace(evaluations=40))
    other.rate(0.5, np.array([1.0, 2.0, 5.0, 6.0]))
    assert other.act.seen == [(0.5, 1, 1)]  # type: ignore[attr-defined]
    assert other.evaluations == 41


def test_poses_out_of_reach_ask_for_shorter_steps() -> None:
    one = run()
    out = np.array([11.0, 2.0, 0.0, 0.0])
    found = one.rate(0.25, out)
    assert np.isnan(found).all()
    assert [t for t, _ in one.cause] == [0.25]
    one.rate(0.5, out)
    assert [t for t, _ in one.cause] == [0.5]  # the last one only
    for _ in range(198):  # two hundred in a row are only refused steps
        one.rate(0.5, out)
    with pytest.raises(KinematicsError, match="out of reach"):
        one.rate(0.5, out)


def test_refusals_start_anew_when_time_goes_on() -> None:
    refused = _Refusals(0.5)
    most = next(k for k in range(100_000) if refused.too_many(1.0))
    assert refused.too_many(1.5)  # not beyond
    assert not refused.too_many(1.51)
    assert [refused.too_many(1.6) for _ in range(most)] == [False] * (most - 1) + [True]


def test_projection_and_events_see_the_state_alone() -> None:
    one = run()
    np.testing.assert_allclose(one.project(2.0, np.array([1.0, 2.0, 5.0, 6.0])), [3, 4, 5, 6])
    event = one.event(lambda t, y, yd: float(100 * t + 10 * y[0] + yd[0]))
    assert event(3.0, np.array([1.0, 2.0, 5.0, 6.0])) == 312.0


def test_why_an_integration_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    one = run()
    monkeypatch.setattr(one, "_sharp_friction", list)
    failure: Any = SimpleNamespace(
        __cause__=None, time=1.0, what="no step is short enough", last=None
    )
    assert one.reason(failure) is failure
    error = KinematicsError("out of reach")
    one.cause[:] = [(0.9, error)]
    assert one.reason(failure) is failure  # it was before, and is forgotten
    one.cause[:] = [(1.0, error)]
    assert one.reason(failure) is error
    caused: Any = SimpleNamespace(__cause__=error, time=1.0)
    assert one.reason(caused) is caused
    one.cause.clear()
    monkeypatch.setattr(one, "_sharp_friction", lambda: ["a", "b"])
    assert str(one.reason(failure)).startswith(
        "no step is short enough; the friction of a, b changes its sign at once; give the"
    )


# A mechanism whose rest is known exactly.
NOTHING = Rest(np.zeros((1, 1)), np.zeros(1), np.zeros(1))


def trace(*z: list[float]) -> Any:
    return SimpleNamespace(time=np.arange(float(len(z))), z=np.array(z))


def test_what_is_collected_at_the_instants() -> None:
    columns, left = run().collect(trace([1.0, 2.0, 0.0, 0.0], [3.0, 4.0, 5.0, 6.0]))
    assert left is None
    wanted = {
        "y": [[1], [3]], "yd": [[2], [4]], "ydd": [[4], [4]], "q": [[2], [6]], "v": [[6], [12]],
        "tau": [[4], [4]], "kinetic": [2, 8], "potential": [3, 3], "work": [0, 5],
        "dissipated": [0, 6], "constraint_error": [0.125, 0.125],
    }  # fmt: skip
    for name, values in wanted.items():
        np.testing.assert_allclose(columns[name], values)
    assert columns["multipliers"].shape == (2, 0)


def test_what_is_collected_up_to_a_pose_out_of_reach() -> None:
    rows = [[1.0, 2.0, 0.0, 0.0], [3.0, 4.0, 5.0, 6.0], [11.0, 0.0, 0.0, 0.0], [1.0] * 4]
    columns, left = run().collect(trace(*rows))
    assert isinstance(left, KinematicsError)
    assert all(len(values) == 2 for values in columns.values())
    # What compiled stages fill in is not evaluated again.
    filled: list[int] = []

    def instants(time: Array, z: Array, k: int, columns: dict[str, Array]) -> int:
        filled.append(k)
        return 3 if k < 3 else k

    stages: Any = SimpleNamespace(instants=instants, evaluations=0)
    columns, left = run(stages=stages).collect(trace(*rows))
    assert left is None
    assert filled == [1, 4]
    assert columns["y"][:, 0].tolist() == [1.0, 0.0, 0.0, 1.0]


def test_energy_is_looked_at_every_now_and_then() -> None:
    one = run()
    one.chosen = Two()
    z = np.array([1.0, 2.0, 0.0, 0.0])
    inspect = one.inspector(0.0, z, 1.0, SimulationOptions(), NOTHING)
    # 2 J at the start. Work of 3 J that the kinetic energy does not show is missed at step 64.
    wrong = np.array([1.0, 2.0, 3.0, 0.0])
    for k in range(63):
        inspect(0.01 * k, wrong)
    with pytest.raises(MechidError, match="energy of 3 J went nowhere"):
        inspect(0.64, wrong)


def test_a_result_is_cut_where_energy_came_from_nowhere() -> None:
    fine = simulation(
        kinetic=np.array([1.0, 2.0, 3.0]), potential=np.array([3.0, 2.0, 1.0]),
        work=np.zeros(3), dissipated=np.zeros(3),
    )  # fmt: skip
    _refuse_free_energy(fine, NOTHING)
    wrong = simulation(
        kinetic=np.array([1.0, 2.0, 4.0]), potential=np.array([3.0, 2.0, 1.0]),
        work=np.zeros(3), dissipated=np.zeros(3),
    )  # fmt: skip
    with pytest.raises(SimulationError, match=r"stopped at t = 2 s: energy of 1 J came from") as e:
        _refuse_free_energy(wrong, NOTHING)
    assert e.value.partial.time.tolist() == [0.0, 1.0]
    lost = simulation(kinetic=np.array([1.0, np.nan, 3.0]))
    with pytest.raises(SimulationError, match=r"stopped at t = 1 s"):
        _refuse_free_energy(lost, NOTHING)
    stopped = _stopped(1.5, MechidError("why", remedy="do this"), fine)
    assert str(stopped) == "the simulation stopped at t = 1.5 s: why; do this"


@pytest.mark.parametrize("wrong", [[], [[0.0, 1.0]], [0.0, 0.0], [1.0, 0.0], [0.0, np.nan]])
def test_times_that_are_none(wrong: Any) -> None:
    with pytest.raises(DataError, match="times must"):
        _times(np.array(wrong))


def test_where_a_simulation_starts() -> None:
    model = dynamic_model(load("five_bar"))
    home = kinematic_model(model.mechanism).home_y
    q, v = initial_state(model, None, None)
    assert not v.any()
    driven = driven_coordinates(model.mechanism, {"q2": lambda t: (home[1] + t, 0.5, 0.0)})
    moved, speeds = initial_state(model, None, None, driven, 0.1)
    far, fast = initial_state(model, home + np.array([0.0, 0.1]), np.array([0.0, 0.5]))
    np.testing.assert_allclose(moved, far, atol=1e-12)
    np.testing.assert_allclose(speeds, fast, atol=1e-12)
    assert not np.allclose(moved, q)


def test_formulations_and_what_keeps_loops_closed() -> None:
    model = dynamic_model(load("five_bar"))
    engine = Engine(model, parameter_values(model))
    free = nothing_driven(2)
    for name in FORMULATIONS:
        for integrator, stabilise, wanted in (
            ("DOP853", None, "projection"), ("LSODA", None, "baumgarte"),
            ("DOP853", "none", "none"), ("DOP853", "baumgarte", "baumgarte"),
        ):  # fmt: skip
            options = SimulationOptions(name, stabilise, alpha=7.0, beta=8.0, integrator=integrator)
            chosen, found = _formulation(engine, options, free)
            assert chosen.name == name
            assert found == ("none" if name == "independent" else wanted)
            if name in ("gibbs-appell", "udwadia-kalaba"):
                pulls = chosen.baumgarte  # type: ignore[attr-defined]
                both = (7.0, 8.0) if wanted == "baumgarte" else (0.0, 0.0)
                assert (pulls.alpha, pulls.beta) == both
    for changed, words in (
        ({"formulation": "newton"}, "unknown formulation 'newton'; choose one of independent"),
        ({"stabilise": "glue"}, "unknown stabilisation 'glue'; choose one of"),
    ):
        with pytest.raises(MechidError, match=words):
            _formulation(engine, SimulationOptions().changed(changed), free)
