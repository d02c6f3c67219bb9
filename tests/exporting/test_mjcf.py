"""Exported MJCF in MuJoCo: positions, closure, inverse dynamics and forces of the drives."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import numpy.typing as npt
import pytest

from mechid.errors import ModelError
from mechid.exporting.content import Content
from mechid.exporting.mjcf import mjcf
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import CadInertia
from mechid.modelfile import load

from ..contract.states import SPECS
from .states import (
    MOVED,
    SAMPLES,
    TOLERANCE,
    assert_same_dynamics,
    body_names,
    body_twists,
    coordinates,
    forces,
    random_motion,
    relative_turn,
)

Array = npt.NDArray[np.float64]

# What MJCF cannot hold of the zoo.
REFUSED = {
    "andrews_squeezer": ("moment_drive (load)",),
    "four_bar@example-1": ("moment_drive (load)", "body bar_3 without mass (MuJoCo asks for some)"),
    "four_bar@example-3": ("body bar_3 without mass (MuJoCo asks for some)",),
    "pendulum@horizontal": ("body bob without inertia about an axis (MuJoCo asks for some)",),
    "pendulum@spring": ("moment_drive (load)",),
    "planar_3rrr@example-4": ("moment_torque_1 (load)",),
    "screw_press": ("force_workpiece (load)",),
    "screw_press@guided": ("force_workpiece (load)",),
    "screw_press@motor": ("force_workpiece (load)",),
}


@pytest.mark.parametrize("spec", SPECS)
def test_what_cannot_be_held_is_refused_by_name(spec: str) -> None:
    content = Content(load(spec), "CAD values")
    if spec not in REFUSED:
        assert mjcf(content).left_out == ()
        return
    with pytest.raises(ModelError, match="MJCF cannot hold") as found:
        mjcf(content)
    assert all(word in str(found.value) for word in REFUSED[spec])
    file = mjcf(content, allow_loss=True)
    assert all(f"left out: {word}" in file.text for word in file.left_out)


class OnMujoco:
    def __init__(self, motion: Motion) -> None:
        self.motion, mechanism = motion, motion.model.mechanism
        self.model = mujoco.MjModel.from_xml_string(mjcf(Content(mechanism, "CAD values")).text)
        self.data = mujoco.MjData(self.model)
        self.bodies = [self.model.body(name).id for name in body_names(mechanism)]
        self.coordinates = coordinates(motion)

    def move(self, k: int) -> None:
        m, d = self.model, self.data
        for i in range(m.njnt):
            joint = m.joint(i)
            at = int(joint.qposadr[0])
            if joint.type[0] == mujoco.mjtJoint.mjJNT_BALL:
                body = m.body(int(joint.bodyid[0]))
                parent = m.body(int(body.parentid[0])).name
                turn = relative_turn(self.motion, k, parent, body.name)
                mujoco.mju_mat2Quat(d.qpos[at : at + 4], turn.ravel())
            else:
                d.qpos[at] = self.coordinates.of[joint.name][k]
        d.qvel[:] = 0
        mujoco.mj_forward(m, d)

    def jacobian(self) -> Array:
        rows = []
        for body in self.bodies:
            p, r = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
            mujoco.mj_jac(self.model, self.data, p, r, self.data.xpos[body].copy(), body)
            rows += [p, r]
        return np.concatenate(rows)

    def bias(self, v: Array) -> Array:
        """Accelerations of the bodies without those of the coordinates (`mj_jacDot` is wrong where
        a slide follows a ball)."""
        m, d = self.model, self.data
        gravity, m.opt.gravity[:] = m.opt.gravity.copy(), 0
        d.qvel[:], d.qacc[:] = v, 0
        mujoco.mj_fwdVelocity(m, d)
        mujoco.mj_rnePostConstraint(m, d)
        m.opt.gravity[:] = gravity
        six, found = np.zeros(6), []
        for body in self.bodies:
            kind = mujoco.mjtObj.mjOBJ_XBODY
            mujoco.mj_objectAcceleration(m, d, kind, body, six, 0)
            found += [six[3:].copy(), six[:3].copy()]
        return np.concatenate(found)

    def inverse(self, v: Array, vd: Array) -> tuple[Array, Array]:
        """Without what closes loops: its forces do no work on admissible motions.

        MuJoCo's own dry friction is a constraint that slips a little before it is whole: here it
        has the full size and the sign of the speed.
        """
        m, d = self.model, self.data
        m.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        d.qvel[:], d.qacc[:] = v, vd
        mujoco.mj_inverse(m, d)
        friction = m.dof_frictionloss * np.sign(v)
        for t in range(m.ntendon):
            first, count = m.tendon_adr[t], m.tendon_num[t]
            if m.tendon_frictionloss[t]:  # a fixed one: coefficients of joints
                at = slice(first, first + count)
                row = np.zeros(m.nv)
                row[m.jnt_dofadr[m.wrap_objid[at]]] = m.wrap_prm[at]
                friction += m.tendon_frictionloss[t] * np.sign(row @ v) * row
        found = d.qfrc_inverse + friction
        size = np.abs(found) + np.abs(d.qfrc_bias) + np.abs(d.qfrc_passive)
        m.opt.disableflags = 0
        return found, size


@pytest.mark.parametrize("spec", MOVED)
def test_mujoco_moves_as_the_model(spec: str) -> None:
    check_mujoco(random_motion(spec))


def check_mujoco(motion: Motion) -> None:
    other = OnMujoco(motion)
    frames, tau = motion.bodies(), forces(motion)
    size = motion.model.size
    d = other.data
    for k in range(SAMPLES):
        other.move(k)
        equality = d.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        assert np.abs(d.efc_pos[equality]).max(initial=0.0) <= TOLERANCE * max(size, 1.0)
        for i, body in enumerate(other.bodies):
            assert np.abs(d.xpos[body] - frames.position[k, i]).max() <= TOLERANCE * size
            assert np.abs(d.xmat[body].reshape(3, 3) - frames.rotation[k, i]).max() <= TOLERANCE
        J = other.jacobian()
        v, *_ = np.linalg.lstsq(J, body_twists(motion)[k])
        G = assert_same_dynamics(motion, k, J, other.bias(v), other.inverse, tau[k])
        check_drives(motion, other, G)


@pytest.mark.parametrize("six", [(0.0, 0.02, 0.02), (0.0, 0.0, 0.0), (0.01, 0.02, 0.03)])
def test_bodies_at_the_limit(six: tuple[float, float, float]) -> None:
    """Rods and points are refused, or get a little inertia; a sheet is taken as it is."""
    model = load("pendulum")
    cad = CadInertia(1.0, (0.1, 0.0, 0.2), (six[0], 0.0, 0.0, six[1], 0.0, six[2]))
    thin = Content(replace(model, bodies=(replace(model.bodies[0], inertia=cad),)), "CAD values")
    if min(six) == 0:
        with pytest.raises(ModelError, match="without inertia about an axis"):
            mjcf(thin)
    found = mujoco.MjModel.from_xml_string(mjcf(thin, allow_loss=True).text)
    assert sorted(found.body_inertia[1]) == pytest.approx(sorted(six), abs=1e-5)


@pytest.mark.parametrize("spec", ["puma560", "sla_suspension", "pendulum"])
def test_shapes_are_drawn(spec: str) -> None:
    """Volume and centre of what is drawn, by MuJoCo; nothing is heavier for it."""
    mechanism = load(spec)
    model = mujoco.MjModel.from_xml_string(mjcf(Content(mechanism, "CAD values")).text)
    assert model.ngeom == sum(len(body.shapes) for body in mechanism.bodies) > 0
    for body in mechanism.bodies:
        own = [g for g in range(model.ngeom) if model.geom_bodyid[g] == model.body(body.name).id]
        for g, shape in zip(own, body.shapes, strict=True):
            a, *more = (np.array(p) for p in shape.points)
            center = (a + more[0]) / 2 if shape.kind == "cylinder" else a
            assert model.geom_pos[g] == pytest.approx(center, abs=1e-12)
            if more:
                line = more[0] - a if shape.kind == "cylinder" else more[0]
                turned = np.zeros(3)
                mujoco.mju_rotVecQuat(turned, np.array([0.0, 0.0, 1.0]), model.geom_quat[g])
                assert turned == pytest.approx(line / np.linalg.norm(line), abs=1e-7)
            assert model.geom_size[g][0] == pytest.approx(
                shape.sizes[0] / (2 if shape.kind == "box" else 1)
            )


def check_drives(motion: Motion, other: OnMujoco, G: Array) -> None:
    """A motor of unit speed per speed of its coordinate: its control is the generalised force."""
    m, d = other.model, other.data
    names = {c.force: i for i, c in enumerate(motion.model.mechanism.coordinates)}
    for a in range(m.nu):
        speeds = []
        for column in G.T:
            d.qvel[:] = column
            mujoco.mj_forward(m, d)
            speeds.append(d.actuator_velocity[a])
        want = np.eye(len(names))[names[m.actuator(a).name]]
        assert np.abs(np.array(speeds) - want).max() <= TOLERANCE * max(1.0, np.abs(G).max())
