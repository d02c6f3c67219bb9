"""Couplings and distances against MuJoCo's joint equality and tendon length equality."""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt
import pytest

from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.simulate import simulate
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import solve_motion
from mechid.modelfile import loads

Array = npt.NDArray[np.float64]

# A spatial chain of three hinges and a slide beside it; q2 follows q0, the slide follows q1.
OURS = loads("""
mechid: 1
name: chain
gravity: [1, -2, -9]
bodies:
  a: {mass: 1.2, center: [0.1, 0.02, 0.03], inertia: {xx: 0.02, yy: 0.03, zz: 0.04}}
  b: {frame: {origin: [0.3, 0, 0]}, mass: 0.8, center: [0.1, -0.02, 0.05],
    inertia: {xx: 0.01, yy: 0.02, zz: 0.015}}
  c: {frame: {origin: [0.5, 0.1, 0]}, mass: 0.5, center: [0.05, 0.07, 0.01],
    inertia: {xx: 0.005, yy: 0.006, zz: 0.004}}
  s: {frame: {origin: [0, 0, 1]}, mass: 2, center: [0, 0, 0.1],
    inertia: {xx: 0.01, yy: 0.01, zz: 0.01}}
joints:
  q0: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: z}
  q1: {type: revolute, between: [a, b], at: [0.3, 0, 0], axis: y}
  q2: {type: revolute, between: [b, c], at: [0.5, 0.1, 0], axis: x}
  x: {type: prismatic, between: [ground, s], at: [0, 0, 1], axis: z}
constraints:
  mimic: {type: coupling, between: [q2, q0], ratio: -0.6, constant: 0.2}
  winch: {type: coupling, between: [x, q1], ratio: 0.15, constant: 0}
coordinates: {q0: {joint: q0}, q1: {joint: q1}}
""")
THEIRS = """
<mujoco>
  <compiler angle="radian" autolimits="true"/>
  <option gravity="1 -2 -9" timestep="0.00025" integrator="RK4"/>
  <worldbody>
    <body name="a">
      <inertial pos="0.1 0.02 0.03" mass="1.2" diaginertia="0.02 0.03 0.04"/>
      <joint name="q0" axis="0 0 1"/>
      <body name="b" pos="0.3 0 0">
        <inertial pos="0.1 -0.02 0.05" mass="0.8" diaginertia="0.01 0.02 0.015"/>
        <joint name="q1" axis="0 1 0"/>
        <body name="c" pos="0.2 0.1 0">
          <inertial pos="0.05 0.07 0.01" mass="0.5" diaginertia="0.005 0.006 0.004"/>
          <joint name="q2" axis="1 0 0"/>
        </body>
      </body>
    </body>
    <body name="s" pos="0 0 1">
      <inertial pos="0 0 0.1" mass="2" diaginertia="0.01 0.01 0.01"/>
      <joint name="x" type="slide" axis="0 0 1"/>
    </body>
  </worldbody>
  <equality>
    <joint joint1="q2" joint2="q0" polycoef="0.2 -0.6 0 0 0" solref="0.0005 1"
      solimp="0.9999 0.9999 0.001"/>
    <joint joint1="x" joint2="q1" polycoef="0 0.15 0 0 0" solref="0.0005 1"
      solimp="0.9999 0.9999 0.001"/>
  </equality>
</mujoco>
"""
ORDER = ("q0", "q1", "q2", "x")


def test_forces_and_multipliers_are_those_of_mujoco() -> None:
    """`mj_inverse` on the tree, projected on the null space of MuJoCo's own constraint Jacobian.

    What is left of its forces is what the couplings exert.
    """
    rng = np.random.default_rng(0)
    y, yd, ydd = rng.uniform(-1, 1, (3, 5, 2))
    motion = solve_motion(OURS, y, yd, ydd, ordered=False)
    result = inverse_dynamics(motion, reactions=True)
    assert result.reactions is not None
    model = mujoco.MjModel.from_xml_string(THEIRS)
    moved = {name: joint_motion(motion, name) for name in ORDER}
    for k in range(len(y)):
        data = mujoco.MjData(model)
        data.qpos = [moved[name].coordinates[k, 0] for name in ORDER]
        data.qvel = [moved[name].speeds[k, 0] for name in ORDER]
        mujoco.mj_forward(model, data)
        J = data.efc_J.reshape(-1, model.nv)[: data.nefc]
        np.testing.assert_allclose(data.efc_pos, 0, atol=1e-14)
        np.testing.assert_allclose(J @ data.qvel, 0, atol=1e-14)
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        data.qacc = [moved[name].accelerations[k, 0] for name in ORDER]
        np.testing.assert_allclose(J @ data.qacc, 0, atol=1e-13)
        mujoco.mj_inverse(model, data)
        model.opt.disableflags = 0
        # qfrc = (τ, 0, 0) + Jᵀ λ
        actuated = np.eye(4)[:2]
        solved = np.linalg.solve(np.vstack([actuated, J]).T, data.qfrc_inverse)
        np.testing.assert_allclose(result.tau[k], solved[:2], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(
            result.reactions.multipliers[k], solved[2:], rtol=1e-11, atol=1e-12
        )


def test_a_simulation_is_that_of_mujoco() -> None:
    """With stiff equalities, as far as these can be stiff."""
    model = mujoco.MjModel.from_xml_string(THEIRS)
    data = mujoco.MjData(model)
    y0, yd0 = np.array([0.3, -0.2]), np.array([0.5, 0.4])
    data.qpos = [0.3, -0.2, 0.2 - 0.6 * 0.3, 0.15 * -0.2]
    data.qvel = [0.5, 0.4, -0.6 * 0.5, 0.15 * 0.4]
    for _ in range(800):
        mujoco.mj_step(model, data)
    ours = simulate(OURS, np.array([0.0, 0.2]), y0=y0, yd0=yd0)
    assert ours.y[-1] == pytest.approx(data.qpos[:2], abs=2e-4)
    assert ours.y[-1] != pytest.approx(y0, abs=0.05)  # it has moved
