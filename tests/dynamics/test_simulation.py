"""Simulation: stabilisation, integrators, events, and motions or inputs that are refused."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.forward.formulation import Baumgarte
from mechid.dynamics.forward.gibbs_appell import GibbsAppell
from mechid.dynamics.integrate import METHODS, ONE_STEP, integrate
from mechid.dynamics.loads import table_forces
from mechid.dynamics.regressor import cad_parameters
from mechid.dynamics.simulate import SimulationError, _Run, initial_state, simulate
from mechid.errors import DataError, KinematicsError, MechidError, ModelError, UnreachablePoseError
from mechid.mechanism.records import CadInertia, Mechanism
from mechid.modelfile import build, load

from ..kinematics.mechanisms import four_bar
from .formulations import EVERY, FAST, ON_TREE
from .methods import methods

Array = npt.NDArray[np.float64]
SECOND = np.linspace(0, 1, 5)
# Angle of the falling four-bar after 1 s, as two other engines give it.
AFTER_ONE_SECOND = -1.334765597


# --------------------------------------------------------------------------- stabilisation


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ON_TREE)
def test_only_stabilisation_keeps_the_loops_closed(formulation: str) -> None:
    """Errors of the steps open the loops more and more, unless something holds them.

    Φ'' = 0 keeps what the steps leave in Φ' and adds it up: in four times the time the loops open
    at least about four times as far. Baumgarte's terms forget within a few 1/β.
    """
    falling = load("four_bar@example-2")
    times = np.linspace(0, 4, 81)
    options: dict[str, Any] = {"formulation": formulation, "rtol": 1e-6, "atol": 1e-8}
    none = simulate(falling, times, stabilise="none", **options).constraint_error
    held = simulate(falling, times, stabilise="baumgarte", **options).constraint_error
    projected = simulate(falling, times, stabilise="projection", **options).constraint_error
    assert none[60:].max() > 3 * none[:20].max()
    assert held[60:].max() < 10 * held[:20].max()
    assert held.max() < none.max() / 100
    assert projected.max() < 1e-12


def test_reduction_to_independent_coordinates_cannot_drift() -> None:
    found = simulate(load("four_bar@example-2"), np.linspace(0, 4, 41), rtol=1e-4, atol=1e-6)
    assert found.stabilisation == "none"
    assert found.constraint_error.max() < 1e-12


@pytest.mark.parametrize("spec", ["four_bar@example-2", "spatial_slider_crank"])
def test_baumgarte_pulls_open_loops_back(spec: str) -> None:
    """From an open loop at rest with α = β, every row follows Φ = Φ0 (1 + β t) exp(-β t).

    Without weight nothing else moves: speeds are of the size of Φ0, and what they change in the
    law is of second order.
    """
    model = dynamic_model(replace(load(spec), gravity=(0.0, 0.0, 0.0), elements=()))
    engine = Engine(model, cad_parameters(model))
    beta = 8.0
    chosen = GibbsAppell(engine, Baumgarte(beta, beta))
    q, v = initial_state(model, None, np.zeros(model.kinematics.n_independent))
    q[int(model.kinematics.tables.links.q[2])] += 1e-6  # a screw
    rate = lambda t, z: chosen.evaluate(z, np.zeros(engine.n_i)).rate  # noqa: E731
    times = np.linspace(0, 0.5, 6)
    trace = integrate(rate, chosen.start(q, v), times, rtol=1e-10, atol=1e-16)
    rows = np.array([engine.tree(*chosen.tree(z)).values[engine.closure] for z in trace.z])
    law = (1 + beta * times) * np.exp(-beta * times)
    assert np.abs(rows[0]).max() > 1e-8
    assert np.abs(rows - np.outer(law, rows[0])).max() < 1e-4 * np.abs(rows[0]).max()


@pytest.mark.parametrize("spec", ["four_bar@example-2", "delta", "spatial_slider_crank@two-balls"])
def test_projection_closes_and_changes_nothing_twice(spec: str) -> None:
    model = dynamic_model(load(spec))
    engine = Engine(model, cad_parameters(model))
    chosen = GibbsAppell(engine, Baumgarte())
    q, v = initial_state(model, None, np.full(model.kinematics.n_independent, 0.3))
    z = chosen.start(q, v)
    assert chosen.project(z) == pytest.approx(z, abs=1e-12)  # closed already
    rng = np.random.default_rng(0)
    moved = z + 1e-4 * rng.standard_normal(z.size)
    assert chosen.constraint_error(moved) > 1e-6
    once = chosen.project(moved)
    assert chosen.constraint_error(once) < 1e-12
    q, v = chosen.tree(once)
    scale = np.array(model.kinematics.tables.rows.scale)[engine.closure]
    assert np.abs(scale * (engine.tree(q, v).J[engine.closure] @ v)).max() < 1e-12
    assert np.abs(once - z).max() < 1e-2
    assert chosen.project(once) == pytest.approx(once, abs=1e-12)


# --------------------------------------------------------------------------- integrators


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["independent", "gibbs-appell"])
@pytest.mark.parametrize("method", methods(*METHODS))
def test_every_integrator_reaches_the_accuracy_asked(method: str, formulation: str) -> None:
    """Errors of single steps stay below rtol; their sum over the steps of this fall, where each is

    passed on with a factor of a few, stays below a thousand times that.
    """
    rtol = 1e-5 if method == "RK23" else 1e-7
    found = simulate(
        load("four_bar@example-2"),
        SECOND,
        integrator=method,
        formulation=formulation,
        rtol=rtol,
        atol=rtol / 100,
    )
    assert found.y[-1, 0] == pytest.approx(AFTER_ONE_SECOND, abs=1000 * rtol)
    assert found.time == pytest.approx(SECOND, abs=1e-12)
    assert found.steps > 3
    assert found.evaluations > found.steps or method not in ONE_STEP


@pytest.mark.parametrize("method", methods(*METHODS))
def test_forces_are_asked_for_within_the_times_only(method: str) -> None:
    """A table of forces that ends with the simulation is long enough."""
    forces = table_forces(SECOND, np.zeros((5, 1)))
    found = simulate(faller(), SECOND, forces=forces, integrator=method, rtol=1e-6)
    assert found.y[-1, 0] == pytest.approx(-9.81 / 2, rel=1e-4)


@pytest.mark.parametrize("method", methods(*METHODS))
def test_events_end_a_simulation(method: str) -> None:
    """A block falls on an event at a height of -1 m, after sqrt(2/g); another would come later."""
    g = 9.81
    end = np.sqrt(2 / g)
    found = simulate(
        faller(),
        np.linspace(0, 1, 11),
        integrator=method,
        rtol=1e-8,
        atol=1e-10,
        events=[lambda t, y, yd: t - 0.9, lambda t, y, yd: y[0] + 1],
    )
    assert found.time[-1] == pytest.approx(end, abs=1e-6)
    assert found.time[:-1] == pytest.approx(np.linspace(0, 0.4, 5), abs=1e-12)
    assert [number for _, number in found.events] == [1]
    assert found.events[0][0] == found.time[-1]
    assert found.y[-1, 0] == pytest.approx(-1, abs=1e-6)


def test_an_event_that_is_zero_at_the_start_is_not_the_end() -> None:
    found = simulate(faller(), np.linspace(0, 0.3, 4), events=[lambda t, y, yd: y[0]])
    assert found.time[-1] == pytest.approx(0.3)
    assert not found.events


def test_progress_is_reported() -> None:
    seen: list[float] = []
    simulate(faller(), SECOND, watch=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)


def faller(**body: Any) -> Mechanism:
    """One block on a vertical rail."""
    cad: dict[str, Any] = {
        "mass": 2,
        "center": [0, 0, 0],
        "inertia": {"xx": 1, "yy": 1, "zz": 1},
    }
    return build(
        name="faller",
        gravity=[0, 0, -9.81],
        bodies={"block": {"frame": {"origin": [0, 0, 0]}, **(body or cad)}},
        joints={
            "rail": {
                "type": "prismatic",
                "between": ["ground", "block"],
                "at": [0, 0, 0],
                "axis": "z",
            }
        },
        coordinates={"z": {"joint": "rail"}},
    )


# --------------------------------------------------------------------------- dead centres


def rocker() -> Mechanism:
    """A four-bar whose first bar cannot turn fully; it is thrown at the end of its range."""
    bars = four_bar(crank=0.9, coupler=0.5, rocker=0.7, base=0.8, angle=0.9)
    cad = CadInertia(1.0, (0.2, 0.0, 0.0), (0.1, 0.0, 0.0, 0.1, 0.0, 0.1))
    bodies = tuple(replace(b, inertia=cad) for b in bars.bodies)
    return replace(bars, bodies=bodies, gravity=(0.0, 0.0, 0.0))


THROWN = np.array([1.0])


@pytest.mark.parametrize("method", methods(*METHODS))
def test_a_motion_out_of_reach_keeps_what_was_computed(method: str) -> None:
    """Evaluations that find no pose shorten the steps, in vain; the error has the rest.

    A function of the forces stands for the mechanism here, so that the end is known.
    """
    tried = [0]

    def edge(t: float, y: Array, yd: Array) -> Array:
        tried[0] += 1
        if t > 0.55:
            raise UnreachablePoseError("no pose has this height", remedy="turn back")
        return np.zeros(1)

    with pytest.raises(SimulationError, match="no pose has this height; turn back") as caught:
        simulate(faller(), np.linspace(0, 1, 11), forces=edge, integrator=method, rtol=1e-5)
    partial = caught.value.partial
    n = len(partial.time)
    assert re.search(r"stopped at t = 0\.[2-5]\d* s: no pose", str(caught.value))
    assert partial.time == pytest.approx(np.linspace(0, 1, 11)[:n])
    assert n == 6 if method not in ("BDF", "LSODA") else 1 <= n <= 6  # these give up sooner
    assert partial.y[:, 0] == pytest.approx(-9.81 / 2 * partial.time**2, abs=1e-4)
    assert len(partial.kinetic) == len(partial.q) == len(partial.energy_error) == n
    assert tried[0] < 2000
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.partial.y == pytest.approx(partial.y)


@pytest.mark.parametrize("formulation", ON_TREE)
def test_tree_formulations_pass_dead_centres(formulation: str) -> None:
    """Nothing is singular there on the tree: energy is kept, and the bar swings back."""
    found = simulate(rocker(), np.linspace(0, 2, 21), yd0=THROWN, formulation=formulation)
    assert np.abs(found.energy_error).max() < 1e-7 * found.kinetic[0]
    assert found.yd[0, 0] > 0 > found.yd[-1, 0]


DEAD_CENTRE = 0.89395  # s, where the bar thrown at 1 rad/s turns back, as on the tree


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("method", methods(*METHODS))
def test_reduced_coordinates_do_not_bounce_off_dead_centres(method: str, rtol: float) -> None:
    """Beyond the dead centre the mechanism is on its other branch, which the angle cannot tell."""
    times = np.linspace(0, 2, 21)
    right = simulate(rocker(), times, yd0=THROWN, formulation="gibbs-appell").y
    with pytest.raises(SimulationError, match="dead centre") as caught:
        simulate(rocker(), times, yd0=THROWN, integrator=method, rtol=rtol, atol=rtol / 100)
    partial = caught.value.partial
    assert len(partial.time) == 9  # 0 … 0.8 s
    assert partial.y == pytest.approx(right[:9], abs=100 * rtol)
    text = str(caught.value)
    assert text.count("t = ") == 1
    when = float(text.split("t = ")[1].split(" s")[0])
    assert when == pytest.approx(DEAD_CENTRE, abs=0.01)


def test_the_tree_turns_back_at_the_dead_centre() -> None:
    found = simulate(
        rocker(),
        np.linspace(0, 2, 21),
        yd0=THROWN,
        formulation="gibbs-appell",
        events=[lambda t, y, yd: yd[0]],
    )
    assert found.time[-1] == pytest.approx(DEAD_CENTRE, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("short", "end"), [(0.15, 2.0), (0.02, 4.0), (0.003, 4.0)])
@pytest.mark.parametrize("method", methods(*METHODS))
def test_motions_that_turn_back_before_a_dead_centre_are_regular(
    method: str, short: float, end: float
) -> None:
    """A moment brakes the bar: all speeds change sign, as little as `short` before the end."""
    times = np.linspace(0, end, 21)
    energy = simulate(rocker(), times[:1], yd0=THROWN).kinetic[0]
    options: dict[str, Any] = {"forces": np.array([-energy / (0.66385 - short)]), "yd0": THROWN}
    right = simulate(rocker(), times, formulation="gibbs-appell", **options)
    found = simulate(rocker(), times, integrator=method, rtol=1e-4, atol=1e-6, **options)
    assert right.yd[0, 0] > 0 > right.yd.min()
    assert found.y == pytest.approx(right.y, abs=5e-2)


# --------------------------------------------------------------------------- wrong input


def test_missing_values_are_named() -> None:
    with pytest.raises(ModelError, match=r"no value for m_1, mx_1, my_1, mz_1, … \(block\)"):
        simulate(faller(color="#112233"), SECOND)
    with pytest.raises(ModelError, match="m_1"):
        simulate(faller(color="#112233"), SECOND, formulation="gibbs-appell")
    phi = np.array([2, *[0] * 3, 1, 0, 0, 1, 0, 1])
    found = simulate(faller(color="#112233"), SECOND, phi=phi)
    assert found.y[-1, 0] == pytest.approx(-9.81 / 2)


@pytest.mark.parametrize("formulation", EVERY)
def test_motions_without_mass_are_refused(formulation: str) -> None:
    with pytest.raises(ModelError, match="moves no mass"):
        simulate(faller(massless=True), SECOND, formulation=formulation)
    with pytest.raises(ModelError, match="moves no mass"):
        simulate(load("four_bar"), SECOND, phi=np.zeros(30), formulation=formulation)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"forces": np.zeros(2)}, r"forces must have shape \(1,\), got \(2,\)"),
        ({"forces": np.array([np.nan])}, "forces must be finite"),
        ({"forces": lambda t, y, yd: np.zeros(2)}, r"forces must have shape \(1,\), got \(2,\)"),
        ({"forces": lambda t, y, yd: 0.0}, r"forces must have shape \(1,\), got \(\)"),
        ({"forces": lambda t, y, yd: np.array([np.nan])}, "forces must be finite"),
        ({"phi": np.zeros(9)}, r"phi must have shape \(10,\), got \(9,\)"),
        ({"y0": np.zeros(2)}, "y must have shape"),
        ({"yd0": np.zeros(2)}, "yd must have shape"),
        ({"y0": np.array([np.inf])}, "not a finite number"),
        ({"rtol": -1e-6}, "rtol must be a number of at least 2.2e-14, got -1e-06"),
        ({"rtol": np.nan}, "rtol must be"),
        ({"atol": -1e-6}, "atol must be ≥ 0"),
        ({"max_step": 0.0}, "max_step must be > 0"),
        ({"formulation": "newton"}, "unknown formulation 'newton'.*gibbs-appell"),
        ({"integrator": "euler"}, "unknown integrator 'euler'.*DOP853"),
        ({"formulation": "gibbs-appell", "stabilise": "glue"}, "unknown stabilisation 'glue'"),
        (
            {"formulation": "gibbs-appell", "stabilise": "projection", "integrator": "BDF"},
            "projection moves the state, which BDF cannot follow",
        ),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(MechidError, match=words):
        simulate(faller(), SECOND, **options)


@pytest.mark.parametrize(
    "times",
    [[], [[0, 1]], [0, np.nan], [0, -1], [0, 1, 0.5], [0, 0.5, 0.5]],
    ids=["none", "table", "nan", "backwards", "unsorted", "twice"],
)
def test_times_must_increase(times: list[Any]) -> None:
    with pytest.raises(DataError, match="times must"):
        simulate(faller(), np.array(times))


@pytest.mark.slow
@pytest.mark.parametrize("method", methods(*METHODS))
def test_an_integrator_that_fails(method: str) -> None:
    """ẍ = 6 x² has the solution (1 - t)⁻², which ends at t = 1: no step is small enough.

    The error names the time and the cause, and what was computed is the solution.
    """

    def forces(t: float, y: Array, yd: Array) -> Array:
        return 2 * (6 * y**2 + 9.81)

    start = {"y0": np.ones(1), "yd0": 2 * np.ones(1)}
    options: dict[str, Any] = {"integrator": method, "rtol": 1e-6, "atol": 1e-8}
    with pytest.raises(SimulationError) as caught:
        simulate(faller(), 0.35 * np.arange(5), forces=forces, **start, **options)
    partial = caught.value.partial
    assert partial.time == pytest.approx(0.35 * np.arange(3))
    when = float(str(caught.value).split("stopped at t = ")[1].split(" s: ")[0])
    assert when == pytest.approx(1.0, abs=1e-4)
    assert f"{method} gave up" in str(caught.value)
    assert partial.y[:, 0] == pytest.approx((1 - partial.time) ** -2, rel=1e-3)
    assert np.all(np.isfinite(partial.energy_error))


@pytest.mark.parametrize("method", methods("DOP853", "LSODA", "BDF", "CVODE", "IDA"))
def test_forces_that_fail_on_the_way(method: str) -> None:
    """What was computed until then is kept."""

    def forces(t: float, y: Array, yd: Array) -> Array:
        return np.array([np.nan if t > 0.5 else 0.0])

    with pytest.raises(SimulationError, match="forces must be finite") as caught:
        simulate(faller(), np.linspace(0, 1, 11), forces=forces, integrator=method)
    assert caught.value.partial.time[-1] <= 0.5
    assert caught.value.partial.y[:, 0] == pytest.approx(
        -9.81 / 2 * caught.value.partial.time**2, abs=1e-6
    )


def test_a_start_that_cannot_be_evaluated_is_refused() -> None:
    """At once, and as what it is: integrators would look for a first step for ever."""

    def nowhere(t: float, y: Array, yd: Array) -> Array:
        raise UnreachablePoseError("no pose at all")

    with pytest.raises(UnreachablePoseError, match="no pose at all"):
        simulate(faller(), SECOND, forces=nowhere)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_poses_of_no_number_are_refused(value: float) -> None:
    model = dynamic_model(rocker())
    engine = Engine(model, cad_parameters(model))
    with pytest.raises(UnreachablePoseError, match="no pose on this branch"):
        engine.reduced(np.array([value]), np.zeros(1))
    with pytest.raises(UnreachablePoseError):
        engine.reduced(np.zeros(1), np.array([value]))
    assert np.isfinite(engine.reduced(np.array([0.1]), np.zeros(1)).q).all()


@pytest.mark.parametrize("method", methods("CVODE", "CVODE-Adams", "IDA"))
def test_nothing_is_printed(method: str, capfd: pytest.CaptureFixture[str]) -> None:
    """SUNDIALS would tell of failures on its own; the error says it."""
    with pytest.raises(SimulationError):
        simulate(rocker(), np.linspace(0, 2, 21), yd0=THROWN, integrator=method)
    seen = capfd.readouterr()
    assert not seen.out
    assert not seen.err


def test_a_start_out_of_reach_is_refused() -> None:
    with pytest.raises(KinematicsError):
        simulate(rocker(), SECOND, y0=np.array([2.0]))


@pytest.mark.parametrize("formulation", FAST)
def test_one_time_is_the_start(formulation: str) -> None:
    found = simulate(load("four_bar"), np.array([0.3]), formulation=formulation)
    assert found.time == pytest.approx([0.3])
    assert found.y == pytest.approx(np.array([[0.785]]))
    assert found.work == found.dissipated == 0


def test_evaluations_are_counted_one_by_one() -> None:
    now = SimpleNamespace(rate=np.array([3.0]), power=4.0, dissipated=5.0)
    chosen = SimpleNamespace(evaluate=lambda state, force, t: now)
    run = _Run(chosen, lambda t, y, yd: 0.0, SimpleNamespace())  # type: ignore[arg-type]
    run.act.by_state = False  # type: ignore[attr-defined, misc]
    assert run.evaluations == 0
    for k in range(1, 4):
        assert run.rate(0.0, np.zeros(3)).tolist() == [3.0, 4.0, 5.0]
        assert run.evaluations == k
