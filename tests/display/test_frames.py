"""Tables hold the numbers of the records, under the names of the files."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import mechid
from mechid.errors import MechidError
from mechid.excitation.families import Sine


@pytest.fixture(scope="module")
def model() -> mechid.Mechanism:
    return mechid.load("quarter_vehicle")


@pytest.fixture(scope="module")
def motion(model: mechid.Mechanism) -> mechid.Motion:
    return mechid.tour(model).part(slice(0, 30))


def test_motion(motion: mechid.Motion) -> None:
    table = motion.to_frame()
    assert list(table) == ["time", "z", "z.d", "z.dd", "spin", "spin.d", "spin.dd"]
    np.testing.assert_array_equal(table["spin.dd"], motion.ydd[:, 1])


def test_mechanism_has_the_inertia_of_its_bodies(model: mechid.Mechanism) -> None:
    table = model.to_frame()
    for i, body in enumerate(model.bodies, start=1):
        assert table.cad[f"m_{i}"] == body.inertia.mass
        assert table.owner[f"m_{i}"] == body.name
        np.testing.assert_allclose(
            table.cad[f"mx_{i}"], body.inertia.mass * body.inertia.center[0], atol=1e-15
        )


def test_observation_times_parameters_is_force(
    model: mechid.Mechanism, motion: mechid.Motion
) -> None:
    table = mechid.observation_matrix(motion).to_frame()
    known = table.pop("known")
    phi = model.to_frame().cad[table.columns]
    tau = mechid.inverse_dynamics(motion).to_frame()[["F_z", "M_spin"]]
    np.testing.assert_allclose((table @ phi + known).to_numpy().reshape(-1, 2), tau, atol=1e-9)


def test_reactions_and_simulation(model: mechid.Mechanism, motion: mechid.Motion) -> None:
    found = mechid.inverse_dynamics(motion, reactions=True)
    table = found.reactions.to_frame()
    j = found.reactions.joints.index("A")
    np.testing.assert_array_equal(table["A.fz"], found.reactions.force[:, j, 2])
    fall = mechid.simulate(model, np.linspace(0, 0.1, 6))
    energy = fall.to_frame()[["energy.kinetic", "energy.potential", "energy.dissipated"]]
    np.testing.assert_allclose(np.ptp(energy.sum(axis=1)), 0, atol=1e-6)


def test_base_parameters(model: mechid.Mechanism) -> None:
    found = mechid.base_parameters(mechid.load("four_bar"))
    table = found.to_frame()
    assert list(table.index) == list(found.chosen.base)
    assert table.expression["mx_1"] == "mx_1 + l1*m_2 + Izz_3*l1/l3**2"
    assert table.unit["mx_1"] == "kg m"


def test_trajectory() -> None:
    sine = mechid.Trajectory.of({"z": Sine(0.1, 2.0)}, duration=1.0, rate=200.0)
    table = sine.to_frame()
    w = 4 * np.pi
    np.testing.assert_allclose(table["z.d"] ** 2 + (w * table["z"]) ** 2, (0.1 * w) ** 2)


def test_pandas_is_missing(motion: mechid.Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MechidError, match="pip install pandas"):
        motion.to_frame()
