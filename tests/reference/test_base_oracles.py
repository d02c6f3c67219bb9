"""A machine on a moving base against the floating bases of other engines."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import numpy.typing as npt
import pinocchio as pin
import pytest

from mechid.base.experiment import EVERYTHING, random_states
from mechid.dynamics.inverse import InverseDynamics, inverse_dynamics
from mechid.mechanism.records import GROUND, Body, Mechanism
from mechid.modelfile import load
from mechid.modelfile.api import on_base
from mechid.spatial.rotations import matrix_from_rpy, quaternion_from_matrix

from ..dynamics.test_moving_base import arm
from ..dynamics.virtual_power import tensor

Array = npt.NDArray[np.float64]
MACHINES = ["arm", "puma560@bare", "n_pendulum"]


def on_moving_base(name: str) -> tuple[Mechanism, InverseDynamics]:
    mechanism = on_base(replace(arm() if name == "arm" else load(name), elements=()))
    return mechanism, inverse_dynamics(random_states(mechanism, EVERYTHING, 5, seed=3))


def base_state(result: InverseDynamics, k: int) -> tuple[Array, ...]:
    """Return position, rotation, ṗ, p̈, ω, α of the base, all in ground axes."""
    frames = result.motion.bodies()
    i = [b.name for b in result.motion.model.mechanism.bodies].index("base")
    return tuple(
        x[k, i]
        for x in (
            frames.position,
            frames.rotation,
            frames.velocity,
            frames.acceleration,
            frames.omega,
            frames.alpha,
        )
    )


def revolutes(mechanism: Mechanism) -> list[int]:
    """Return the coordinates of the machine; the orders of bodies, joints and coordinates agree."""
    rest = [j for j in mechanism.joints if j.name != "base"]
    assert all(j.type == "revolute" for j in rest)
    assert [j.body_b for j in rest] == [b.name for b in mechanism.bodies if b.name != "base"]
    return list(range(len(rest)))


def sensed(result: InverseDynamics) -> Array:
    return np.column_stack([result.sensed[f"base.{c}"] for c in ("Fx", "Fy", "Fz")]
                           + [result.sensed[f"base.{c}"] for c in ("Mx", "My", "Mz")])  # fmt: skip


@pytest.mark.parametrize("name", MACHINES)
def test_pinocchio_free_flyer(name: str) -> None:
    """The first six numbers of its RNEA are force and moment in the axes of the base."""
    mechanism, result = on_moving_base(name)
    model = pin.Model()
    model.gravity.linear = np.array(mechanism.gravity)
    numbers = {"base": model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")}
    places = {"base": pin.SE3.Identity()}  # of bodies in the frames of their joints
    for joint in mechanism.joints:
        if joint.name == "base":
            continue
        a, b = (pin.SE3(np.array(f.rotation), np.array(f.origin))
                for f in (joint.frame_a, joint.frame_b))  # fmt: skip
        parent = joint.body_a
        numbers[joint.body_b] = model.addJoint(
            numbers[parent], pin.JointModelRZ(), places[parent] * a, joint.name
        )
        places[joint.body_b] = b.inverse()
        cad = mechanism.body(joint.body_b).inertia
        assert cad is not None
        own = pin.Inertia(cad.mass, np.array(cad.center), tensor(cad.inertia_center))
        model.appendBodyToJoint(numbers[joint.body_b], own, places[joint.body_b])
    data, motion, own_columns = model.createData(), result.motion, revolutes(mechanism)
    for k in range(len(motion.y)):
        p, R, v, a, w, alpha = base_state(result, k)
        e = quaternion_from_matrix(R)
        q = np.concatenate([p, e[1:], e[:1], motion.y[k, own_columns]])
        speed = np.concatenate([R.T @ v, R.T @ w, motion.yd[k, own_columns]])
        # d/dt of (Rᵀ v, Rᵀ ω): what its speeds change by
        rate = np.concatenate([R.T @ (a - np.cross(w, v)), R.T @ alpha, motion.ydd[k, own_columns]])
        tau = pin.rnea(model, data, q, speed, rate)
        scale = 1e-11 * np.abs(tau).max()
        assert sensed(result)[k] == pytest.approx(tau[:6], abs=scale)
        assert result.tau[k, own_columns] == pytest.approx(tau[6:], abs=scale)


@pytest.mark.parametrize("name", MACHINES)
def test_mujoco_free_joint(name: str) -> None:
    """Its free joint has the force in ground axes, and the moment in those of the base."""
    mechanism, result = on_moving_base(name)

    def words(x: object) -> str:
        return " ".join(repr(float(v)) for v in np.ravel(x))

    def nested(body: Body) -> str:
        joint = next(j for j in mechanism.joints if j.body_b == body.name)
        inside = "".join(nested(mechanism.body(j.body_b)) for j in mechanism.joints
                         if j.body_a == body.name)  # fmt: skip
        if joint.body_a == GROUND:
            return f'<body name="base"><freejoint/><inertial pos="0 0 0" mass="1e-9" ' \
                   f'diaginertia="1e-12 1e-12 1e-12"/>{inside}</body>'  # fmt: skip
        A, B = (np.array(f.rotation) for f in (joint.frame_a, joint.frame_b))
        R = A @ B.T
        p = np.array(joint.frame_a.origin) - R @ np.array(joint.frame_b.origin)
        cad = body.inertia
        assert cad is not None
        xx, xy, xz, yy, yz, zz = cad.inertia_center
        return (
            f'<body pos="{words(p)}" xyaxes="{words(np.concatenate([R[:, 0], R[:, 1]]))}">'
            f'<inertial pos="{words(cad.center)}" mass="{cad.mass!r}" '
            f'fullinertia="{words([xx, yy, zz, xy, xz, yz])}"/>'
            f'<joint type="hinge" pos="{words(joint.frame_b.origin)}" axis="{words(B[:, 2])}"/>'
            f"{inside}</body>"
        )

    text = (
        f'<mujoco><compiler angle="radian"/><option gravity="{words(mechanism.gravity)}"/>'
        f"<worldbody>{nested(mechanism.body('base'))}</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data, motion, own = mujoco.MjData(model), result.motion, revolutes(mechanism)
    for k in range(len(motion.y)):
        p, R, v, a, w, alpha = base_state(result, k)
        data.qpos[:] = np.concatenate([p, quaternion_from_matrix(R), motion.y[k, own]])
        data.qvel[:] = np.concatenate([v, R.T @ w, motion.yd[k, own]])
        data.qacc[:] = np.concatenate([a, R.T @ alpha, motion.ydd[k, own]])
        mujoco.mj_inverse(model, data)
        tau = np.array(data.qfrc_inverse)
        scale = 1e-6 * np.abs(tau).max()  # its base has a little mass
        found = sensed(result)[k]
        assert R @ found[:3] == pytest.approx(tau[:3], abs=scale)
        assert found[3:] == pytest.approx(tau[3:6], abs=scale)
        assert result.tau[k, own] == pytest.approx(tau[6:], abs=scale)
        assert pytest.approx(matrix_from_rpy(motion.y[k, -3:][None])[0], abs=1e-12) == R
