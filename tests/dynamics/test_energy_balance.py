"""The balance of energy: closed forms of what may be off, and refusals at both sides of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.dynamics.energy_balance import Energies, EnergyGate, allowed
from mechid.dynamics.simulate import SimulationError, _refuse_free_energy, simulate
from mechid.dynamics.simulation import SimulationOptions
from mechid.errors import MechidError
from mechid.modelfile import load

KINETIC = np.array([1.0, 4.0, 2.0])
POTENTIAL = np.array([10.0, 7.0, 8.0])
WORK = np.array([0.0, 0.5, 0.25])
DISSIPATED = np.array([0.0, 0.25, 0.75])
ENERGIES = Energies(KINETIC, POTENTIAL, WORK, DISSIPATED)


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
    assert allowed(ENERGIES, options, steps) == pytest.approx(wanted, rel=1e-12)


def test_little_energy_counts_as_one_joule_for_atol() -> None:
    small = Energies(*(1e-3 * x for x in (KINETIC, POTENTIAL, WORK, DISSIPATED)))
    options = SimulationOptions(rtol=1e-8, atol=1e-10)
    wanted = 5.25e-3 * 1e-3 + 1e-9 * 0.01 + 1e-10 * 1e3 * 100
    assert allowed(small, options, 100) == pytest.approx(wanted, rel=1e-12)


def test_the_gate_looks_at_every_64th_step() -> None:
    gate = EnergyGate(SimulationOptions())
    assert [k for k in range(1, 200) if gate.due()] == [64, 128, 192]


@pytest.mark.parametrize(("error", "refused"), [(0.04, False), (0.06, True), (-0.06, True)])
def test_the_gate_refuses_what_is_far_off(error: float, refused: bool) -> None:
    """By a twentieth of 2 J: 1 J of kinetic energy at the start, and 1 J that was stored."""
    gate = EnergyGate(SimulationOptions(rtol=1e-12, atol=1e-14))
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
    _refuse_free_energy(result)
    kinetic = result.kinetic + np.where(np.arange(6) < 3, 0.0, 100.0)
    with pytest.raises(SimulationError, match=r"stopped at t = 0\.3 s.*came from") as error:
        _refuse_free_energy(replace(result, kinetic=kinetic))
    np.testing.assert_array_equal(error.value.partial.time, result.time[:3])
