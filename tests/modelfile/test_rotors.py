"""A rotor in the line of its joint is the transmission written at length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.errors import ModelError
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build, dumps, loads


def slider(rotor: Any = None, joint_type: str = "R", **words: Any) -> Mechanism:
    joint: dict[str, Any] = {
        "type": joint_type,
        "between": ["ground", "b"],
        "at": [0, 0, 0],
        "axis": "z",
    }
    if rotor is not None:
        joint["rotor"] = rotor
    return build(
        name="m",
        gravity=[0, 0, 0],
        parameters={"n": 50},
        bodies={"b": {"mass": 2, "inertia": {"xx": 1, "yy": 1, "zz": 0.3}}},
        joints={"q1": joint},
        coordinates={"q": {"joint": "q1" if joint_type in "RP" else "q1.angle"}},
        **words,
    )


def test_one_line_is_the_transmission() -> None:
    m = slider({"inertia": 1e-4, "ratio": "2*n", "viscous": {"identify": True}, "coulomb": 0.02})
    motor = {"inertia": 1e-4, "viscous": {"identify": True}, "coulomb": 0.02}
    long = slider(
        elements={
            "q1_rotor": {
                "type": "transmission",
                "coordinates": ["q1"],
                "motors": {"q1_rotor": motor},
                "matrix": [["2*n"]],
            }
        }
    )
    assert m == long
    assert loads(dumps(m)) == m
    assert [c.name for c in dynamic_model(m).columns][-1] == "viscous_q1_rotor"


@pytest.mark.parametrize(("joint_type", "own"), [("R", 0.3), ("P", 2.0)])
def test_force_of_a_geared_rotor(joint_type: str, own: float) -> None:
    """(I + n² J) q̈ + n² d q̇ + n c sign(q̇), in closed form."""
    m = slider({"inertia": 1e-4, "ratio": 100, "viscous": 1e-3, "coulomb": 0.02}, joint_type)
    t = np.linspace(0.1, 0.7, 5)
    y, yd, ydd = np.sin(t), np.cos(t), -np.sin(t)
    motion = solve_motion(kinematic_model(m), y[:, None], yd[:, None], ydd[:, None])
    tau = inverse_dynamics(motion).tau[:, 0]
    expected = (own + 1e4 * 1e-4) * ydd + 1e4 * 1e-3 * yd + 100 * 0.02
    assert tau == pytest.approx(expected)


def test_several_coordinates_copies_and_tables() -> None:
    m = slider({"inertia": 1, "coordinate": "displacement"}, "C")
    element = m.elements[0]
    assert element.kind == "transmission"
    assert element.coordinates == (("q1", 1),)
    part = {
        "bodies": {"b": {}},
        "joints": {
            "q": {
                "type": "C",
                "between": ["ground", "b"],
                "at": [0, 0, 0],
                "axis": "z",
                "rotor": {"inertia": 1, "ratio": 7, "coordinate": "displacement"},
            }
        },
    }
    use = {"subassembly": "part", "suffix": "_l", "mirror": "x"}
    mirrored = build(name="m", subassemblies={"part": part}, use={"u": use}).elements[0]
    assert mirrored.kind == "transmission"
    assert (mirrored.name, mirrored.parts[0].name) == ("q_rotor_l", "q_rotor_l")
    assert mirrored.parts[0].ratios == (-7.0,)
    row = {"link": 1, "antecedent": 0, "type": "R", "rotor": {"inertia": 2e-4, "ratio": 30}}
    table = build(name="m", denavit_hartenberg=[row]).elements[0]
    assert table.kind == "transmission"
    assert (table.name, table.parts[0].ratios) == ("q1_rotor", (30.0,))


@pytest.mark.parametrize(
    ("rotor", "joint_type", "message"),
    [
        ({"inertia": 1}, "C", r"joints\.q1\.rotor: joint q1 has several .*: angle or displacement"),
        ({"inertia": 1, "coordinate": "x"}, "C", "joint q1 has no coordinate x"),
        ({"inertia": "no"}, "R", r"joints\.q1\.rotor\..*inertia: there is no parameter no"),
        ({"inertai": 1}, "R", r"joints\.q1\.rotor\.inertai: unknown key .*did you mean inertia"),
        (3, "R", r"joints\.q1\.rotor: expected a mapping, got 3"),
    ],
)
def test_errors(rotor: Any, joint_type: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        slider(rotor, joint_type)


def test_name_that_is_taken() -> None:
    with pytest.raises(ModelError, match="there are two elements q1_rotor"):
        slider(
            {"inertia": 1},
            elements={"q1_rotor": {"type": "moment", "body": "b", "vector": [0, 0, 1]}},
        )
