"""Steps, events and records of integrations: as `solve_ivp` has them, and in closed form."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import DOP853, RK23, RK45, solve_ivp

from mechid.dynamics.integrate import LEAST_RTOL, integrate
from mechid.dynamics.integrators.task import (
    CREEPING,
    CREEPING_PART,
    NO_PROGRESS,
    STALLED,
    TOO_SHORT,
    IntegrationError,
    Recorder,
    Tableau,
    Task,
)
from mechid.dynamics.integrators.with_scipy import _step, tableau
from mechid.errors import DataError, MechidError

from .methods import methods

Floats = npt.NDArray[np.float64]
EXPLICIT = {"RK23": RK23, "RK45": RK45, "DOP853": DOP853}


def bumpy(t: float, z: Floats) -> Floats:
    """Van der Pol's oscillator with a force: steps get longer, shorter, and are repeated."""
    return np.array([z[1], 8.0 * (1 - z[0] ** 2) * z[1] - z[0] + 3.0 * np.sin(5 * t)])


class Together:
    """All stages of a step in one call, but where it refuses."""

    def __init__(self, refuse: Any = lambda t, first: False) -> None:
        self.refuse, self.calls = refuse, 0

    def run(
        self, table: Tableau, first: int, last: int, t: float, h: float, z: Floats, K: Floats
    ) -> Floats | None:
        if self.refuse(t, first):
            return None
        self.calls += 1
        state = z
        for s in range(first, last):
            state = z + h * table.A[s, :s] @ K[:s]
            K[s] = bumpy(t + h * table.C[s], state)
        return state


REFUSALS = {
    "never": lambda t, first: False,
    "some steps": lambda t, first: int(10 * t) % 3 == 0,
    "between": lambda t, first: first > 5 and t > 1.0,  # rows that only serve the interpolant
}


@pytest.mark.parametrize("refuse", REFUSALS)
@pytest.mark.parametrize("max_step", [np.inf, 0.05])
@pytest.mark.parametrize("method", EXPLICIT)
def test_steps_of_scipy(method: str, max_step: float, refuse: str) -> None:
    """The same steps, and the same states between them."""
    times = np.linspace(0.3, 6.0, 60)
    given = {"method": method, "rtol": 1e-5, "atol": np.array([1e-7, 1e-6]), "max_step": max_step}
    stages = Together(REFUSALS[refuse])
    z = np.array([2.0, -0.5])
    found = integrate(bumpy, z, times, stages=stages, **given)  # type: ignore[arg-type]
    own = solve_ivp(bumpy, (times[0], times[-1]), z, dense_output=True, **given)
    assert stages.calls > 5
    assert found.steps == len(own.t) - 1
    np.testing.assert_array_equal(found.time, times)
    np.testing.assert_allclose(found.z, own.sol(times).T, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("method", EXPLICIT)
def test_coefficients(method: str) -> None:
    """Each stage is where its weights add up to; the interpolant ends where the step does."""
    table = tableau(EXPLICIT[method])
    np.testing.assert_allclose(table.A.sum(axis=1), table.C, atol=1e-13)
    assert table.C[table.last] == 1.0
    assert not np.triu(table.A).any()
    np.testing.assert_allclose(table.P.sum(axis=1)[: table.last], table.A[table.last, : table.last])
    np.testing.assert_allclose(table.P.sum(axis=1)[table.last :], 0.0, atol=1e-12)


def circle(t: float, z: Floats) -> Floats:
    return np.array([z[1], -z[0]])


START = np.array([1.0, 0.0])  # cos t, -sin t


@pytest.mark.parametrize("method", methods("RK45", "DOP853", "Radau", "LSODA", "CVODE", "IDA"))
def test_the_first_of_several_events_ends_it(method: str) -> None:
    """cos t is 0 at π/2, and 0.5 at π/3; what was wanted before is there, and the state then."""
    times = np.linspace(0.0, 3.0, 13)
    events = (lambda t, z: z[0], lambda t, z: z[0] - 0.5, lambda t, z: t + 1.0)
    found = integrate(circle, START, times, method=method, rtol=1e-9, events=events)
    ((when, which),) = found.events
    assert which == 1
    assert when == pytest.approx(np.pi / 3, abs=1e-7)
    np.testing.assert_allclose(found.time, [*times[times < np.pi / 3], np.pi / 3], atol=1e-7)
    np.testing.assert_allclose(found.z[:, 0], np.cos(found.time), atol=1e-6)
    np.testing.assert_allclose(found.z[:, 1], -np.sin(found.time), atol=1e-6)


def test_an_event_at_the_end_of_a_step_and_one_at_the_start() -> None:
    """A zero that the start has is none; one that the end of a step has is found there."""
    ends: list[float] = []
    found = integrate(
        circle,
        START,
        np.array([0.0, 2.0]),
        max_step=0.25,
        rtol=1e-6,
        events=[lambda t, z: 0.0 if t == 0.0 else 1.0, lambda t, z: 0.0 if t >= 1.0 else -1.0],
        inspect=lambda t, z: ends.append(t),
    )
    ((when, which),) = found.events
    assert which == 1
    assert when == ends[-1] >= 1.0
    assert found.time.tolist() == [0.0, when]


def test_nothing_to_integrate() -> None:
    found = integrate(circle, START, np.array([0.5]))
    assert (found.time.tolist(), found.z.tolist(), found.steps) == ([0.5], [[1.0, 0.0]], 0)


def test_states_are_projected_after_every_step() -> None:
    """Onto the unit circle, though steps are coarse; the watch sees all steps but none twice."""
    seen: list[float] = []

    def project(t: float, z: Floats) -> Floats:
        return z / np.linalg.norm(z)

    times = np.linspace(0.0, 20.0, 21)
    found = integrate(
        circle, START, times, method="RK23", rtol=1e-2, project=project, watch=seen.append
    )
    np.testing.assert_allclose(np.linalg.norm(found.z, axis=1), 1.0, atol=1e-14)
    assert len(seen) == found.steps
    assert seen == sorted(set(seen))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"method": "Euler"}, "unknown integrator 'Euler'"),
        ({"rtol": 0.99 * LEAST_RTOL}, "rtol must be a number of at least 2.2e-14"),
        ({"rtol": np.inf}, "rtol must be"),
        ({"rtol": np.nan}, "rtol must be"),
        ({"atol": -1e-9}, "atol must be ≥ 0"),
        ({"atol": np.array([0.0, np.inf])}, "atol must be ≥ 0"),
        ({"max_step": 0.0}, "max_step must be > 0"),
        ({"method": "BDF", "project": lambda t, z: z}, "which BDF cannot follow"),
    ],
)
def test_what_integrators_do_not_take(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(MechidError, match=words):
        integrate(circle, START, np.array([0.0, 1.0]), **wrong)


def test_bounds_that_are_taken() -> None:
    start = np.array([0.6, 0.8])
    found = integrate(circle, start, np.array([0.0, 0.1]), rtol=LEAST_RTOL, atol=0.0)
    c, s = np.cos(0.1), np.sin(0.1)
    assert found.z[-1] == pytest.approx([0.6 * c + 0.8 * s, 0.8 * c - 0.6 * s], abs=1e-13)


def test_an_inspection_that_rejects_a_step() -> None:
    """Nothing of the step is kept; the time is that of the last one before."""
    ends: list[float] = []

    def inspect(t: float, z: Floats) -> None:
        if t > 0.7:
            raise DataError("too far", remedy="stop")
        ends.append(t)

    with pytest.raises(IntegrationError, match="too far") as caught:
        integrate(circle, START, np.linspace(0, 1, 11), max_step=0.1, inspect=inspect)
    assert caught.value.time == ends[-1]
    assert caught.value.remedy == "stop"
    assert caught.value.trace.steps == len(ends)
    assert caught.value.trace.time[-1] <= ends[-1] + 1e-12


def recorder(end: float = 10.0, wanted: int = 11) -> Recorder:
    task = Task(circle, START, np.linspace(0.0, end, wanted), "toy", 1e-6, 1e-9, np.inf)
    return Recorder(task)


def test_times_that_are_due() -> None:
    """Also one that a step misses by rounding."""
    of = recorder()
    assert (of.time, of.reached, of.steps) == ([0.0], 0.0, 0)
    assert of.due(0.5).tolist() == []
    assert of.due(3.0 - 1e-12).tolist() == [1.0, 2.0, 3.0]
    assert of.due(3.0 - 1e-11).tolist() == [1.0, 2.0]
    of.take([1.0], [START])
    assert of.due(2.5).tolist() == [2.0]


def test_an_event_at_a_time_that_was_taken() -> None:
    of = recorder()
    of.take([1.0], [START])
    of.stop_at((1.0, 0), START)
    assert of.trace().time.tolist() == [0.0, 1.0]
    of.stop_at((1.5, 0), START)
    assert of.trace().time.tolist() == [0.0, 1.0, 1.5]
    assert of.trace().events == ((1.0, 0), (1.5, 0))


@pytest.mark.parametrize("part", [0.99, 1.01])
def test_steps_that_do_not_come_to_an_end(part: float) -> None:
    """3000 steps within 1e-5 of the whole time."""
    of = recorder()
    times = 4.0 + np.linspace(0.0, part * CREEPING_PART * 10.0, CREEPING)
    for t in times[:-1]:
        of.step_to(t, START)
    if part > 1:
        of.step_to(times[-1], START)
        assert of.steps == CREEPING
        return
    with pytest.raises(IntegrationError, match=TOO_SHORT) as caught:
        of.step_to(times[-1], START)
    assert caught.value.time == times[-1]


def solver(t: float, t_old: float, **more: Any) -> Any:
    given = {"t": t, "t_old": t_old, "y": START, "status": "running", "step": lambda: None}
    return SimpleNamespace(**(given | more))


def test_steps_that_do_not_change_the_time() -> None:
    of = recorder()
    assert _step(solver(1.0, 1.0), of, 7) == 8
    assert _step(solver(1.1, 1.0), of, 7) == 0
    assert _step(solver(1.0, 1.0), of, STALLED - 1) == STALLED
    with pytest.raises(IntegrationError, match=NO_PROGRESS):
        _step(solver(1.0, 1.0), of, STALLED)


def test_steps_that_fail() -> None:
    of = recorder()
    with pytest.raises(IntegrationError, match=r"toy gave up: too small;"):
        _step(solver(1.0, 0.5, status="failed", step=lambda: "too small."), of, 0)
    with pytest.raises(IntegrationError, match="not finite") as caught:
        _step(solver(1.0, 0.5, y=np.array([1.0, np.nan])), of, 0)
    assert caught.value.time == 0.5
    factor = np.array([1e-5, 1e9])
    _step(solver(1.0, 0.5, jac_factor=factor), of, 0)
    assert factor.tolist() == [1e-5, 1e-3]
