"""Force elements against other engines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import exudyn as exu
import mujoco
import numpy as np
import pytest
from exudyn.utilities import (
    MarkerBodyRigid,
    ObjectConnectorRigidBodySpringDamper,
    ObjectGround,
    RigidBodyInertia,
)

from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.simulate import simulate
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build

K, C = [1000.0, 2000, 3000, 10, 20, 30], [10.0, 20, 30, 0.1, 0.2, 0.3]


def test_bushing_on_exudyn() -> None:
    """A body on a bushing away from its centre; Exudyn's turns are the same to second order."""
    at = np.array([0.1, -0.2, 0.3])
    model = build(
        name="floating",
        gravity=[0, 0, -9.81],
        points={"B": at.tolist()},
        bodies={
            "b": {
                "frame": {"origin": [0, 0, 0]},
                "mass": 2,
                "center": [0, 0, 0],
                "inertia": {"xx": 0.3, "yy": 0.4, "zz": 0.5},
            }
        },
        joints={
            "J": {"type": "free", "between": ["ground", "b"]},
            "mount": {"type": "free", "between": ["ground", "b"], "at": ["B", "B"]},
        },
        elements={"e": {"type": "bushing", "joint": "mount", "stiffness": K, "damping": C}},
        coordinates={"p": {"joint": "J"}},
    )
    start = (("p.x", 1e-3), ("p.z", -1e-3))
    model = replace(model, start=replace(model.start, positions=start))
    time = np.linspace(0, 0.1, 3)
    found = simulate(model, time, rtol=1e-10, atol=1e-13)

    system = exu.SystemContainer()
    mbs = system.AddSystem()
    body = mbs.CreateRigidBody(
        inertia=RigidBodyInertia(2, np.diag([0.3, 0.4, 0.5])),
        referencePosition=[0, 0, 0],
        initialDisplacement=[1e-3, 0, -1e-3],
        gravity=[0, 0, -9.81],
    )
    ground = mbs.AddObject(ObjectGround())
    markers = [
        mbs.AddMarker(MarkerBodyRigid(bodyNumber=k, localPosition=at.tolist()))
        for k in (ground, body)
    ]
    mbs.AddObject(
        ObjectConnectorRigidBodySpringDamper(
            markerNumbers=markers, stiffness=np.diag(K), damping=np.diag(C)
        )
    )
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = 2000
    settings.timeIntegration.endTime = 0.1
    settings.solution.file.write = False
    settings.timeIntegration.verboseMode = 0
    mbs.SolveDynamic(settings)
    other = mbs.GetObjectOutputBody(body, exu.OutputVariableType.Displacement)
    size = np.abs(other).max()
    assert size > 5e-3
    np.testing.assert_allclose(found.y[-1, :3], other, atol=2e-3 * size)


def mujoco_arm() -> tuple[Any, Any]:
    xml = """
    <mujoco><compiler angle="radian"/><option gravity="0 0 0"/>
      <worldbody>
        <site name="N" pos="0 0.3 0.8"/>
        <body name="one" pos="0 0 0">
          <joint name="A" type="hinge" axis="0 1 0" stiffness="7" springref="0.2" damping="0.3"/>
          <inertial pos="0.2 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
          <site name="M" pos="0.3 0.1 0"/>
          <body name="two" pos="0.5 0 0">
            <joint name="B" type="slide" axis="1 0 0" stiffness="50" damping="4"/>
            <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
            <site name="T" pos="0.2 0 0.1"/>
          </body>
        </body>
      </worldbody>
      <tendon>
        <spatial name="s" stiffness="40" damping="2" springlength="0.6">
          <site site="N"/><site site="T"/></spatial>
      </tendon>
    </mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    return model, mujoco.MjData(model)


def test_springs_and_dampers_on_mujoco() -> None:
    """Passive forces, of plain elements and of polynomial and piecewise ones of one term."""
    bodies = {"mass": 1, "center": [0.2, 0, 0], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    line: dict[str, Any] = {"between": ["ground.N", "two.T"]}

    def arm(tendon: dict[str, Any], slide: dict[str, Any]) -> Mechanism:
        return build(
            name="arm",
            gravity=[0, 0, 0],
            points={"A": [0, 0, 0], "B": [0.5, 0, 0], "N": [0, 0.3, 0.8], "T": [0.7, 0, 0.1]},
            bodies={"one": bodies, "two": bodies},
            joints={
                "A": {"type": "revolute", "between": ["ground", "one"], "at": "A", "axis": "y"},
                "B": {"type": "prismatic", "between": ["one", "two"], "at": "B", "axis": "x"},
            },
            elements={
                "hinge": {
                    "type": "torsion_spring",
                    "joint": "A",
                    "stiffness": 7,
                    "free_angle": 0.2,
                    "damping": 0.3,
                },
                "slide": {"joint": "B", **slide},
                "tendon": {**line, **tendon},
            },
            coordinates={"a": {"joint": "A"}, "b": {"joint": "B"}},
        )

    plain = arm(
        {"type": "spring_damper", "stiffness": 40, "damping": 2, "free_length": 0.6},
        {"type": "torsion_spring", "stiffness": 50, "damping": 4},
    )
    powers = arm(
        {"type": "polynomial_spring_damper", "stiffness": [40], "damping": [2], "free": 0.6},
        {"type": "piecewise_spring_damper", "stiffness": [50], "damping": [4], "free": 0},
    )
    model, data = mujoco_arm()
    rng = np.random.default_rng(0)
    for q, v in rng.uniform(-0.5, 0.5, (5, 2, 2)):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        for mechanism in (plain, powers):
            bare = replace(mechanism, elements=())
            tau = [
                inverse_dynamics(solve_motion(kinematic_model(m), q[None], v[None])).tau[0]
                for m in (mechanism, bare)
            ]
            assert tau[1] - tau[0] == pytest.approx(data.qfrc_passive, abs=1e-12)
