"""Records of simulations, driven coordinates, forces and sensors in joints, all by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mechid.dynamics.acting import Action, action, checked_forces
from mechid.dynamics.columns import element_terms, inertial_columns
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.drive import driven_coordinates, nothing_driven
from mechid.dynamics.energy_balance import Energies, EnergyGate, Rest, allowed, refusal
from mechid.dynamics.integrate import LEAST_RTOL, integrate
from mechid.dynamics.joint_friction import JointSliding, joint_sliding, sliding_joints
from mechid.dynamics.loads import ForcesOverTime, table_forces
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.reactions import JointReactions, multiplier_unit
from mechid.dynamics.simulate import simulate
from mechid.dynamics.simulation import Simulation, SimulationError, SimulationOptions
from mechid.dynamics.timed_loads import TimedLoads
from mechid.dynamics.wrench import SensedJoint, _rotations, sensed_joints
from mechid.errors import DataError, MechidError
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import solve_motion
from mechid.modelfile import load

Array = np.ndarray


def simulation(**changed: Any) -> Simulation:
    """Return three instants of a pendulum, with numbers that are easy to follow."""
    model = dynamic_model(load("pendulum"))
    n = 3
    column = np.arange(n * 1.0)[:, None]
    values: dict[str, Any] = {
        "model": model, "options": SimulationOptions(), "stabilisation": "none",
        "time": np.arange(3.0), "y": column, "yd": column + 10, "ydd": column + 20, "q": column,
        "v": column, "tau": column, "multipliers": np.zeros((n, 0)),
        "kinetic": np.array([1.0, 4.0, 9.0]), "potential": np.array([5.0, 3.0, 2.0]),
        "work": np.array([0.0, 2.0, 7.0]), "dissipated": np.array([0.0, 1.0, 1.5]),
        "constraint_error": np.zeros(n), "phi": np.arange(10.0), "driven": (),
        "evaluations": 7, "steps": 5, "seconds": 0.1, "events": ((2.0, 0),),
    }  # fmt: skip
    return Simulation(**values | changed)


# ------------------------------------------------------------------------------------ records


def test_the_first_instants_of_a_simulation() -> None:
    whole = simulation()
    part = whole.until(2)
    for name in ("time", "y", "yd", "ydd", "q", "v", "tau", "multipliers", "kinetic", "potential",
                 "work", "dissipated", "constraint_error"):  # fmt: skip
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[:2])
    np.testing.assert_array_equal(part.phi, whole.phi)  # parameters are no instants
    assert part.events == whole.events
    assert part.steps == 5
    assert part.model is whole.model
    assert len(whole.until(0).time) == 0


def test_energy_from_nowhere_by_hand() -> None:
    # E - E(0): 0, 1, 5; less the work 0, 2, 7; and what was dissipated 0, 1, 1.5.
    np.testing.assert_allclose(simulation().energy_error, [0.0, 0.0, -0.5])
    assert (simulation().formulation, simulation().integrator) == ("independent", "DOP853")


def test_options_that_are_changed() -> None:
    usual = SimulationOptions()
    assert usual.changed({"rtol": 1e-6, "stabilise": "none"}) == replace(
        usual, rtol=1e-6, stabilise="none"
    )
    assert (usual.rtol, usual.atol, usual.alpha, usual.beta) == (1e-9, 1e-11, 50.0, 50.0)
    assert usual.max_step == np.inf
    with pytest.raises(DataError, match=r"unknown option 'tol' .*choose one of: formulation, stab"):
        usual.changed({"tol": 1.0})
    error = SimulationError("what", simulation(), where="here", remedy="do this")
    assert error.partial.steps == 5
    assert str(error) == "here: what; do this"


# ------------------------------------------------------------------------------------- energies


NOTHING = Rest(np.zeros((1, 1)), np.zeros(1), np.zeros(1))


def energies(**changed: Any) -> Energies:
    values = {
        "kinetic": np.array([1.0, 4.0]), "potential": np.array([-50.0, -53.0]),
        "work": np.array([0.0, 2.0]), "dissipated": np.array([0.0, 0.5]),
    }  # fmt: skip
    return Energies(**values | changed)


def test_energy_that_is_exchanged() -> None:
    # One joule at the start, three of the potential, two fed in, half a joule taken.
    assert energies().exchanged == pytest.approx(6.5)
    np.testing.assert_allclose(energies().error, [0.0, 4 - 1 - 3 - 2 + 0.5])


@pytest.mark.parametrize(
    ("rtol", "atol", "steps", "part", "little"),
    [
        (1e-9, 0.0, 100, 1e-4, 0.0),  # a thousand times rtol for each step
        (1e-9, 0.0, 0, 1e-6, 0.0),  # one at least
        (1e-3, 0.0, 100, 0.05, 0.0),  # a twentieth at most
        (1e-9, 1e-9, 100, 1e-4, 1e-4),
        (1e-9, 1.0, 100, 1e-4, 0.05),
    ],
)
def test_how_far_a_balance_may_be_off(
    rtol: float, atol: float, steps: int, part: float, little: float
) -> None:
    found = allowed(energies(), SimulationOptions(rtol=rtol, atol=atol), steps, NOTHING)
    assert found == pytest.approx((part + little) * 6.5 + 1e-9 * 53.0)


def test_words_of_a_balance() -> None:
    assert "energy of 0.5 J came from nowhere (6.5 J are exchanged)" in str(
        refusal(0.5, energies())
    )
    assert "energy of 0.5 J went nowhere" in str(refusal(-0.5, energies()))


@pytest.mark.parametrize(("kinetic", "refused"), [(1.04, False), (1.06, True), (0.94, True)])
def test_the_gate_at_a_twentieth(kinetic: float, refused: bool) -> None:
    gate = EnergyGate(SimulationOptions(), NOTHING)
    gate.see(1.0, 0.0, 0.0, 0.0)
    assert [gate.due() for _ in range(128)] == [k % 64 == 63 for k in range(128)]
    if refused:
        with pytest.raises(MechidError, match="nowhere"):
            gate.see(kinetic, 0.0, 0.0, 0.0)
    else:
        gate.see(kinetic, 0.0, 0.0, 0.0)


# ---------------------------------------------------------------------------- driven coordinates


def test_which_coordinates_are_driven() -> None:
    mechanism = load("five_bar")
    driven = driven_coordinates(mechanism, {"q2": lambda t: (t, 1.0, -t)})
    assert driven
    assert (driven.index.tolist(), driven.free.tolist()) == ([1], [0])
    assert driven.names == ("q2",)
    assert [float(x[0]) for x in driven.at(2.0)] == [2.0, 1.0, -2.0]
    y, yd = np.zeros(2), np.zeros(2)
    driven.set(3.0, y, yd)
    assert (y.tolist(), yd.tolist()) == ([0.0, 3.0], [0.0, 1.0])
    still = driven_coordinates(mechanism, {"q1": 0.25})
    assert [x.tolist() for x in still.at(9.0)] == [[0.25], [0.0], [0.0]]
    none = driven_coordinates(mechanism, None)
    assert not none
    assert none.free.tolist() == [0, 1]
    assert nothing_driven(3).free.tolist() == [0, 1, 2]
    nothing_driven(2).set(1.0, y, yd)
    assert y.tolist() == [0.0, 3.0]
    with pytest.raises(DataError, match="no independent coordinate A1 to drive; choose one of: q1"):
        driven_coordinates(mechanism, {"A1": 0.0})


@pytest.mark.parametrize("wrong", [(1.0, 2.0), (1.0, np.nan, 0.0), (1.0, 2.0, 3.0, 4.0)])
def test_motions_that_are_none(wrong: tuple[float, ...]) -> None:
    driven = driven_coordinates(load("pendulum"), {"angle": lambda t: wrong})
    with pytest.raises(DataError, match=r"motion of angle must give three .* at t = 1\.5 s"):
        driven.at(1.5)


# ---------------------------------------------------------------------------------------- forces


def test_forces_that_are_checked() -> None:
    mechanism = load("five_bar")
    driven = driven_coordinates(mechanism, {"q2": 0.0})
    free = nothing_driven(2)
    assert checked_forces(mechanism, free, [1, -2]).tolist() == [1.0, -2.0]
    assert checked_forces(mechanism, driven, [1.0, 0.0]).tolist() == [1.0, 0.0]
    with pytest.raises(DataError, match="the force M2 is given, but q2 is driven"):
        checked_forces(mechanism, driven, [1.0, 1e-9])
    for wrong in ([1.0], [[1.0, 2.0]]):
        with pytest.raises(DataError, match=r"forces must have shape \(2,\), got"):
            checked_forces(mechanism, free, wrong)
    for wrong in ([1.0, np.nan], [np.inf, 0.0]):
        with pytest.raises(DataError, match="forces must be finite"):
            checked_forces(mechanism, free, wrong)


def test_what_acts() -> None:
    mechanism = load("five_bar")
    changes: list[Any] = []
    engine: Any = SimpleNamespace(
        n_i=2,
        model=SimpleNamespace(mechanism=mechanism),
        change=lambda places, sizes: changes.append((places.tolist(), sizes.tolist())),
        phi=np.arange(5.0),
    )
    free = nothing_driven(2)
    rest = action(engine, None, free, None)
    assert rest.constant
    assert not rest.by_state
    assert rest(0.0, np.zeros(2), np.zeros(2)).tolist() == [0.0, 0.0]
    state = action(engine, lambda t, y, yd: np.array([t, y[0]]), free, None)
    assert state.by_state
    assert not state.constant
    assert state(2.0, np.array([5.0, 0.0]), np.zeros(2)).tolist() == [2.0, 5.0]
    timed: Any = SimpleNamespace(places=np.array([3, 4]), at=lambda t: np.array([[t[0], 7.0]]))
    over = ForcesOverTime(lambda t: np.array([t, 0.0]))
    driven = driven_coordinates(mechanism, {"q2": lambda t: (t, 2.0, 3.0)})
    both = Action(engine, over, driven, timed)
    assert not both.by_state
    assert not both.constant
    # Forces, then y, ẏ, ÿ of what is driven, then the loads over time.
    rows = both.given(np.array([0.5, 1.5]))
    np.testing.assert_array_equal(rows, [[0.5, 0, 0.5, 2, 3, 3, 4], [1.5, 0, 1.5, 2, 3, 3, 4]])
    assert changes == [([3, 4], [0.5, 7.0]), ([3, 4], [1.5, 7.0])]
    assert not Action(engine, np.zeros(2), free, timed).constant
    assert not Action(engine, np.zeros(2), driven, None).constant


def test_tables_of_forces_at_their_ends() -> None:
    table = table_forces(np.array([1.0, 2.0, 4.0]), np.array([[0.0], [2.0], [6.0]]))
    # A millionth of the mean step of 1.5 s beyond the ends is rounding.
    assert table.at(1.0 - 1.4e-6) == [0.0]
    assert table.at(4.0 + 1.4e-6) == [6.0]
    for t in (1.0 - 1.6e-6, 4.0 + 1.6e-6):
        with pytest.raises(DataError, match="the table of forces goes from 1 s to 4 s"):
            table.at(t)
    assert table.at(1.25) == pytest.approx([0.5])
    assert table.at(3.0) == pytest.approx([4.0])
    held = table_forces(np.array([1.0, 2.0, 4.0]), np.array([[0.0], [2.0], [6.0]]), "hold")
    assert [held.at(t)[0] for t in (1.0, 1.99, 2.0, 3.99, 4.0)] == [0.0, 0.0, 2.0, 2.0, 6.0]
    with pytest.raises(DataError, match=r"sample 2: force number 1 has no value at t = 4 s"):
        table_forces(np.array([1.0, 2.0, 4.0]), np.array([[0.0], [2.0], [np.nan]]))
    with pytest.raises(DataError, match=r"sample 2: time does not increase: 2 s comes after 2 s"):
        table_forces(np.array([1.0, 2.0, 2.0]), np.zeros((3, 1)))
    with pytest.raises(DataError, match="sample 1: the time is not a finite number"):
        table_forces(np.array([1.0, np.nan]), np.zeros((2, 1)))


def test_loads_over_time_become_known() -> None:
    loads = TimedLoads(
        SimpleNamespace(columns=range(4), mechanism=SimpleNamespace(name="thing")),  # type: ignore[arg-type]
        np.array([1, 3]),
        np.array([0, 2]),
        (lambda t: 2 * t, lambda t: 5.0),
    )
    times = np.array([0.0, 3.0])
    np.testing.assert_array_equal(loads.at(times), [[0.0, 5.0], [6.0, 5.0]])
    W = np.arange(16.0).reshape(2, 2, 4)
    known = np.array([[100.0, 200.0], [300.0, 400.0]])
    left, right = loads.folded(W, known, times)
    np.testing.assert_array_equal(left, W[:, :, [0, 2]])
    wanted = known + W[:, :, 1] * np.array([[0.0], [6.0]]) + 5.0 * W[:, :, 3]
    np.testing.assert_array_equal(right, wanted)
    np.testing.assert_array_equal(loads.parameters(np.array([7.0, 8.0])), [7.0, 0.0, 8.0, 0.0])
    with pytest.raises(DataError, match="loads of thing depend on time, but the motion has no"):
        loads.at(None)


# ------------------------------------------------------------------------------ sensors in joints


def test_rates_of_three_turns() -> None:
    """ω of R(t) by differences is E times the rates of roll, pitch and yaw."""
    rng = np.random.default_rng(0)
    rpy, rate = rng.standard_normal((2, 5, 3)) * 0.6
    R, E = _rotations(rpy)
    step = 1e-6
    after, before = _rotations(rpy + step * rate)[0], _rotations(rpy - step * rate)[0]
    spin = (after - before) / (2 * step) @ np.swapaxes(R, 1, 2)
    omega = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", E, rate), omega, atol=1e-8)


@pytest.mark.parametrize("free", [True, False])
def test_a_sensor_feels_the_same_power(free: bool) -> None:
    """F·v + M·ω = τ·ẏ, whatever the axes; and back."""
    rng = np.random.default_rng(1)
    n = 6 if free else 3
    joint = SensedJoint("J", tuple(range(n - 3, n)), tuple(range(n - 3)), tuple(range(n - 3, n)))
    y, yd, tau = 0.5 * rng.standard_normal((3, 4, n))
    wrench = joint.wrench(y, tau)
    R, E = _rotations(y[:, -3:])
    # Velocities in the axes of frame b.
    omega = np.einsum("nji,njk,nk->ni", R, E, yd[:, -3:])
    power = np.einsum("ni,ni->n", wrench[:, -3:], omega)
    if free:
        power += np.einsum("ni,ni->n", wrench[:, :3], np.einsum("nji,nj->ni", R, yd[:, :3]))
    np.testing.assert_allclose(power, np.einsum("ni,ni->n", tau, yd), atol=1e-12)
    np.testing.assert_allclose(joint.generalised(y, wrench), tau, atol=1e-12)
    names = ("J.Fx", "J.Fy", "J.Fz", "J.Mx", "J.My", "J.Mz")
    assert joint.components == names[6 - n :]
    assert joint.columns == tuple(range(n))
    # At home both are the same numbers.
    np.testing.assert_allclose(joint.wrench(0 * y, tau), tau, atol=1e-12)


def test_mechanisms_without_such_joints() -> None:
    assert sensed_joints(load("five_bar")) == ()


# ---------------------------------------------------------------------------- friction in joints


def test_sliding_of_joints() -> None:
    mechanism = load("slider_crank")
    rng = np.random.default_rng(2)
    y, yd = rng.uniform(0.2, 0.5, (4, 1)), rng.standard_normal((4, 1))
    motion = solve_motion(mechanism, y, yd, 0 * yd)
    found = {s.joint: s for s in joint_sliding(motion)}
    assert set(found) == set(sliding_joints(mechanism))
    for name, sliding in found.items():
        speeds = joint_motion(motion, name).speeds
        assert np.all(sliding.speeds >= 0)
        # Resistances take power: r · speed = (r ∂speed/∂ẏ) · ẏ.
        r = np.abs(rng.standard_normal(sliding.speeds.shape))
        power = np.einsum("ni,ni->n", sliding.forces(r), yd)
        np.testing.assert_allclose(power, np.sum(r * sliding.speeds, axis=1), atol=1e-10)
        if speeds.shape[1] == 1:
            np.testing.assert_allclose(sliding.speeds, np.abs(speeds), atol=1e-12)
    rest = joint_sliding(solve_motion(mechanism, y, 0 * yd, 0 * yd))
    assert all(not s.partials.any() for s in rest)
    one = JointSliding("J", np.ones((1, 2)), np.array([[[1.0, 2.0], [3.0, 4.0]]]))
    np.testing.assert_array_equal(one.forces(np.array([[10.0, 1.0]])), [[13.0, 24.0]])


# ------------------------------------------------------------------------- columns and parameters


def test_ten_columns_of_a_body_by_hand() -> None:
    mechanism = load("five_bar")
    columns = inertial_columns(mechanism)
    assert len(columns) == 10 * len(mechanism.bodies)
    for i, body in enumerate(mechanism.bodies):
        ten = columns[10 * i : 10 * i + 10]
        assert [c.unit for c in ten] == ["kg", *["kg m"] * 3, *["kg m²"] * 6]
        assert {c.owner for c in ten} == {body.name}
        assert [c.name for c in ten][:2] == [f"m_{i + 1}", f"mx_{i + 1}"]
        if body.inertia is not None and not body.massless:
            m, c = body.inertia.mass, np.array(body.inertia.center)
            assert ten[0].value == pytest.approx(m)
            np.testing.assert_allclose([x.value for x in ten[1:4]], m * c)
            # Moments about the origin add up to those about the centre and 2 m c².
            names = [x.name.partition("_")[0] for x in ten[4:]]
            trace = sum(ten[4 + names.index(n)].value for n in ("Ixx", "Iyy", "Izz"))  # type: ignore[misc]
            six = dict(zip(names, body.inertia.inertia_center, strict=True))
            wanted = sum(six[n] for n in ("Ixx", "Iyy", "Izz")) + 2 * m * float(c @ c)
            assert trace == pytest.approx(wanted)


def test_a_massless_body_has_zeros_and_an_unknown_one_nothing() -> None:
    mechanism = load("five_bar")
    first = replace(mechanism.bodies[0], massless=True)
    second = replace(mechanism.bodies[1], inertia=None)
    changed = replace(mechanism, bodies=(first, second, *mechanism.bodies[2:]))
    columns = inertial_columns(changed)
    assert [c.value for c in columns[:10]] == [0.0] * 10
    assert [c.value for c in columns[10:20]] == [None] * 10


def test_parameters_must_fit_and_be_numbers() -> None:
    model = dynamic_model(load("five_bar"))
    p = len(model.columns)
    phi = np.arange(float(p))
    np.testing.assert_array_equal(parameter_values(model, phi), phi)
    with pytest.raises(MechidError, match=rf"phi must have shape \({p},\), got \({p - 1},\)"):
        parameter_values(model, phi[:-1])
    phi[[0, 1]] = np.nan
    owner = model.columns[0].owner
    with pytest.raises(MechidError, match=rf"no value for m_1, mx_1 \({owner}\)"):
        parameter_values(model, phi)
    assert len(element_terms(model.mechanism)) >= p - 10 * len(model.mechanism.bodies)


def test_units_and_shapes_of_reactions() -> None:
    gripper = load("geared_gripper")
    units = [multiplier_unit(gripper, c) for c in gripper.constraints]
    assert units
    assert set(units) <= {"N", "N m"}
    motion = solve_motion(load("five_bar"), np.zeros((2, 2)))
    empty = JointReactions.empty(motion)
    n = len(motion.model.mechanism.joints)
    assert empty.force.shape == empty.moment.shape == (2, n, 3)
    assert empty.undetermined.shape == (2, n, 6)
    assert not empty.undetermined.any()


# --------------------------------------------------------------------------------- integration


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rtol": 0.99 * LEAST_RTOL}, "rtol must be a number of at least"),
        ({"rtol": np.inf}, "rtol must be"),
        ({"rtol": np.nan}, "rtol must be"),
        ({"atol": -1e-30}, "atol must be ≥ 0"),
        ({"atol": np.array([0.0, np.inf])}, "atol must be ≥ 0"),
        ({"max_step": 0.0}, "max_step must be > 0, got 0"),
        ({"max_step": np.nan}, "max_step must be > 0"),
        ({"method": "Euler"}, "unknown integrator 'Euler'"),
        ({"method": "LSODA", "project": lambda t, z: z}, "which LSODA cannot follow"),
    ],
)
def test_bounds_of_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises(MechidError, match=words):
        integrate(lambda t, z: -z, np.ones(2), np.array([0.0, 1.0]), **options)


def test_options_at_their_bounds() -> None:
    found = integrate(lambda t, z: -z, np.ones(1), np.array([0.0, 0.1]), rtol=LEAST_RTOL, atol=0.0)
    assert found.z[-1, 0] == pytest.approx(np.exp(-0.1), rel=1e-13)


def test_a_pendulum_keeps_its_energy_and_its_records() -> None:
    found = simulate(load("pendulum"), np.linspace(0.0, 0.3, 4))
    energy = found.kinetic + found.potential
    np.testing.assert_allclose(energy, energy[0], atol=1e-7)
    assert found.steps > 0
    assert found.evaluations > found.steps
