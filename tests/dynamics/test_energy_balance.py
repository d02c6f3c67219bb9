"""The balance of energy: closed forms of what may be off, and refusals at both sides of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.dynamics.energy_balance import Energies, EnergyGate, Rest, allowed
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.simulate import (
    FORMULATIONS,
    SimulationError,
    _refuse_free_energy,
    simulate,
)
from mechid.dynamics.simulation import SimulationOptions
from mechid.errors import MechidError
from mechid.kinematics.motion import solve_motion
from mechid.modelfile import load

from .methods import methods

KINETIC = np.array([1.0, 4.0, 2.0])
POTENTIAL = np.array([10.0, 7.0, 8.0])
WORK = np.array([0.0, 0.5, 0.25])
DISSIPATED = np.array([0.0, 0.25, 0.75])
ENERGIES = Energies(KINETIC, POTENTIAL, WORK, DISSIPATED)
NOTHING = Rest(np.zeros((1, 1)), np.zeros(1), np.zeros(1))


def test_energy_from_nowhere() -> None:
    np.testing.assert_allclose(ENERGIES.error, [0.0, -0.25, -0.5])
    assert ENERGIES.exchanged == pytest.approx(1.0 + 3.0 + 0.5 + 0.75)


@pytest.mark.parametrize(
    ("rtol", "atol", "steps", "wanted"),
    [
        # 1e3 rtol and 1e3 atol a step, of 5.25 J; 1e-9 of 10 J.
        (1e-8, 1e-9, 100, 5.25 * (1e-3 + 1e-4) + 1e-8),
        (1e-8, 1e-9, 0, 5.25 * (1e-5 + 1e-6) + 1e-8),
        # At most a twentieth of it, each.
        (1e-3, 1e-9, 100, 5.25 * (0.05 + 1e-4) + 1e-8),
        (1e-8, 1e-3, 100, 5.25 * (1e-3 + 0.05) + 1e-8),
    ],
)
def test_how_far_the_balance_may_be_off(
    rtol: float, atol: float, steps: int, wanted: float
) -> None:
    options = SimulationOptions(rtol=rtol, atol=atol)
    assert allowed(ENERGIES, options, steps, NOTHING) == pytest.approx(wanted, rel=1e-12)


def test_little_energy_counts_as_one_joule_for_atol() -> None:
    small = Energies(*(1e-3 * x for x in (KINETIC, POTENTIAL, WORK, DISSIPATED)))
    options = SimulationOptions(rtol=1e-8, atol=1e-10)
    wanted = 5.25e-3 * 1e-3 + 1e-9 * 0.01 + 1e-10 * 1e3 * 100
    assert allowed(small, options, 100, NOTHING) == pytest.approx(wanted, rel=1e-12)


def test_the_gate_looks_at_every_64th_step() -> None:
    gate = EnergyGate(SimulationOptions(), NOTHING)
    assert [k for k in range(1, 200) if gate.due()] == [64, 128, 192]


@pytest.mark.parametrize(("error", "refused"), [(0.04, False), (0.06, True), (-0.06, True)])
def test_the_gate_refuses_what_is_far_off(error: float, refused: bool) -> None:
    """By a twentieth of 2 J: 1 J of kinetic energy at the start, and 1 J that was stored."""
    gate = EnergyGate(SimulationOptions(rtol=1e-12, atol=1e-14), NOTHING)
    gate.see(1.0, 0.0, 0.0, 0.0)
    gate.due()
    if refused:
        with pytest.raises(MechidError, match="came from" if error > 0 else "went"):
            gate.see(2.0 * error, 1.0, 0.0, 0.0)
    else:
        gate.see(2.0 * error, 1.0, 0.0, 0.0)


def test_what_was_right_before_is_kept() -> None:
    """Energy that is there from the fourth instant on."""
    result = simulate(load("pendulum"), np.linspace(0.0, 0.5, 6), y0=[1.0])
    _refuse_free_energy(result, NOTHING)
    kinetic = result.kinetic + np.where(np.arange(6) < 3, 0.0, 100.0)
    with pytest.raises(SimulationError, match=r"stopped at t = 0\.3 s.*came from") as error:
        _refuse_free_energy(replace(result, kinetic=kinetic), NOTHING)
    np.testing.assert_array_equal(error.value.partial.time, result.time[:3])


# --------------------------------------------------------------------------------- standing still


def test_energy_of_what_cannot_be_told_from_rest() -> None:
    """Two coordinates, 3 kg m² and 2 kg, under 5 N: 10 steps of 1e-6, loops closed to 1e-3."""
    rest = Rest(np.diag([3.0, 2.0]), np.array([0.0, 5.0]), np.array([0.0, 1e-3]))
    wanted = 0.5 * (3.0 * 1e-5**2 + 2.0 * (1e-5 + 1e-3) ** 2) + 5.0 * 1e-3
    assert rest.energy(1e-6, 10) == pytest.approx(wanted, rel=1e-12)
    still = Energies(*np.zeros((4, 2)))
    assert allowed(still, SimulationOptions(atol=1e-6), 10, rest) == pytest.approx(wanted)


ALL = methods("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA", "CVODE", "CVODE-Adams", "IDA")


def stands_still(formulation: str, integrator: str) -> bool:
    """Tell whether a robot does that stands level and has no springs: nothing is exchanged."""
    times = np.linspace(0, 0.1, 6)
    found = simulate(load("planar_3rrr"), times, formulation=formulation, integrator=integrator)
    return bool(np.abs(found.y - found.y[0]).max() < 1e-9)


@pytest.mark.parametrize("integrator", ALL)
@pytest.mark.parametrize("formulation", [f for f in FORMULATIONS if f != "augmented"])
def test_a_mechanism_without_forces_stands_still(formulation: str, integrator: str) -> None:
    assert stands_still(formulation, integrator)


@pytest.mark.parametrize("integrator", ["RK45", "DOP853"])
def test_so_it_does_in_the_formulation_augmented(integrator: str) -> None:
    """With two integrators, because it is slow."""
    assert stands_still("augmented", integrator)


@pytest.mark.parametrize("end", [1e-6, 1e3, 1e6])
@pytest.mark.parametrize("integrator", methods("DOP853", "Radau", "LSODA"))
def test_it_stands_still_for_any_time(integrator: str, end: float) -> None:
    times = np.linspace(0, end, 6)
    found = simulate(load("planar_3rrr"), times, formulation="gibbs-appell", integrator=integrator)
    assert np.abs(found.y - found.y[0]).max() < 1e-9


HELD = (
    "bricard", "delta", "five_bar", "flyball_governor", "four_bar",
    "n_four_bar", "n_pendulum", "pendulum", "pushrod_suspension", "quarter_vehicle",
    "rssr_linkage", "sla_suspension", "spatial_slider_crank", "stewart_platform",
    "three_rps",
)  # fmt: skip


@pytest.mark.parametrize("integrator", ["DOP853", "LSODA"])
@pytest.mark.parametrize("formulation", ["independent", "gibbs-appell"])
@pytest.mark.parametrize("name", HELD)
def test_a_mechanism_that_its_drives_hold(name: str, formulation: str, integrator: str) -> None:
    """Weights and springs do not move it: what is exchanged is rounding."""
    model = load(name)
    start = simulate(model, np.zeros(1)).y
    none = np.zeros_like(start)
    at_rest = solve_motion(model, start, none, none)
    found = simulate(
        model,
        np.linspace(0, 0.1, 6),
        formulation=formulation,
        integrator=integrator,
        y0=start[0],
        yd0=none[0],
        forces=inverse_dynamics(at_rest).tau[0],
    )
    assert np.abs(found.y - found.y[0]).max() < 1e-6


@pytest.mark.parametrize("speed", [1e-5, 1e-2, 1.0])
@pytest.mark.parametrize("formulation", ["independent", "gibbs-appell"])
def test_wrong_forces_are_noticed_however_slow(
    monkeypatch: pytest.MonkeyPatch, formulation: str, speed: float
) -> None:
    """Accelerations that are off by the speed per second: energy grows by a fifth."""
    import mechid.dynamics.simulate as module

    plain, model = module.integrate, load("planar_3rrr")
    times, yd0 = np.linspace(0, 0.1, 11), np.array([speed, 0.0, 0.0])
    assert simulate(model, times, formulation=formulation, yd0=yd0).time[-1] == 0.1

    def wrong(f, z, times, **options):  # type: ignore[no-untyped-def]
        half = (len(z) - 2) // 2

        def rate(t, z):  # type: ignore[no-untyped-def]
            found = f(t, z)
            found[half : 2 * half] += z[half : 2 * half]
            return found

        return plain(rate, z, times, **options)

    monkeypatch.setattr(module, "integrate", wrong)
    monkeypatch.setattr(module, "CompiledStages", lambda *_: None)
    with pytest.raises(SimulationError, match="came from nowhere"):
        simulate(model, times, formulation=formulation, yd0=yd0)
