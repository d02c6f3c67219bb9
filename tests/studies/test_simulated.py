"""Experiments `simulation` and `time-history`: closed forms, inverse dynamics, MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ellipk

import mechid
from mechid.errors import MechidError
from mechid.studies.experiment import Row
from mechid.studies.registry import experiment
from mechid.studies.study import load_study

SWING: dict[str, Any] = {"model": "pendulum@point-mass-like", "seconds": 2.0, "rate": 50.0}
PERIOD = 4 * np.sqrt(0.5 / 9.81) * ellipk(np.sin(np.pi / 6) ** 2)  # from 60 degrees, s


def rows(name: str, **settings: Any) -> list[Row]:
    kind = experiment(name)
    (found,) = kind.run([kind.settings(**settings)])
    if isinstance(found, MechidError):
        raise found
    return list(found)


def test_a_pendulum_comes_back_after_its_period() -> None:
    name = mechid.load(SWING["model"]).coordinates[0].name
    given = {**SWING, "seconds": float(PERIOD), "rate": 100 / float(PERIOD)}
    expected = {name: [[PERIOD / 2, -np.pi / 3], [PERIOD, np.pi / 3]]}
    (row,) = rows("simulation", **given, expected=expected)
    assert row["difference"] < 1e-6  # type: ignore[operator]
    assert row["ended"] == pytest.approx(PERIOD)
    assert row["energy_error"] < 1e-8  # type: ignore[operator]


def test_energy_stays_in_a_time_history() -> None:
    found = rows("time-history", **SWING, quantities=("kinetic", "potential", "energy error"))
    value = {
        q: np.array([r["value"] for r in found if r["quantity"] == q], dtype=float)
        for q in ("kinetic", "potential", "energy error")
    }
    total = value["kinetic"] + value["potential"]
    assert np.ptp(total) < 1e-8 * np.ptp(value["kinetic"])
    assert value["energy error"].max() < 1e-8
    assert len(found) == 3 * 101


def test_forces_that_follow_a_motion_give_it_back() -> None:
    (row,) = rows(
        "simulation",
        model="four_bar@example-3",
        seconds=1.0,
        follow={"q1": "0.785 + t"},
        expected={"q1": "0.785 + t"},
    )
    assert row["difference"] < 1e-9  # type: ignore[operator]


def test_what_holds_the_home_pose_holds_it() -> None:
    found = rows("time-history", model="five_bar", hold=True, seconds=0.2, quantities=("q1", "q2"))
    for name in ("q1", "q2"):
        own = np.array([r["value"] for r in found if r["quantity"] == name], dtype=float)
        assert np.ptp(own) < 1e-6


def test_forces_over_time_do_their_work() -> None:
    # A moment of constant power on a free rotor would do P t; here M(t) = 0.1 t on a four-bar.
    given: dict[str, Any] = {"model": "four_bar@example-3", "seconds": 0.5}
    found = rows("time-history", **given, forces={"M_1": "0.1*t"}, quantities=("M_1", "q1", "work"))
    value = {
        q: np.array([r["value"] for r in found if r["quantity"] == q], dtype=float)
        for q in ("M_1", "q1", "work")
    }
    assert value["M_1"] == pytest.approx(0.1 * np.linspace(0, 0.5, 51), abs=1e-12)
    assert value["work"][-1] == pytest.approx(np.trapezoid(value["M_1"], value["q1"]), rel=1e-4)


def test_the_reference_is_another_simulation() -> None:
    loose = {**SWING, "rtol": 1e-4, "atol": 1e-6}
    (row,) = rows("simulation", **loose, reference={"rtol": 1e-11})
    (same,) = rows("simulation", **SWING, reference={"rtol": 1e-9})
    assert 1e-8 < row["difference"] < 1e-2  # type: ignore[operator]
    assert same["difference"] == 0


def test_nothing_is_compared_without_an_expectation() -> None:
    assert rows("simulation", **SWING)[0]["difference"] is None


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"forces": {"M_9": "1"}}, "M_9"),
        ({"expected": {"q9": "t"}}, "q9"),
        ({"follow": {"q9": "t"}}, "q9"),
        ({"reference": {"tolerance": 1}}, "tolerance"),
        ({"formulation": "newton"}, "newton"),
    ],
)
def test_what_is_wrong_is_named(settings: dict[str, Any], part: str) -> None:
    with pytest.raises(MechidError, match=part):
        rows("simulation", **{**SWING, **settings})


def test_quantities_are_named() -> None:
    with pytest.raises(MechidError, match="heat"):
        rows("time-history", **SWING, quantities=("heat",))


def test_the_height_that_the_quarter_vehicle_is_compared_with() -> None:
    pytest.importorskip("mujoco")
    from .quarter_on_mujoco import upright_travel

    cell = load_study("quarter-vehicle").parts[0].cells[0].settings
    written = np.array(cell.expected["z"])[:4]
    heights = upright_travel(mechid.load(cell.model), written[:, 0])
    assert heights == pytest.approx(written[:, 1], abs=2e-10)
