"""Exported URDF in Pinocchio: the tree, and the two frames of each `<constraint>`."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pinocchio as pin
import pytest

from mechid.errors import ModelError
from mechid.exporting.content import Content
from mechid.exporting.urdf import urdf
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.modelfile import load
from mechid.spatial.rotations import rpy_from_matrix

from ..contract.joint_table import joint_pose
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

# What URDF cannot hold of the zoo.
REFUSED = {
    "andrews_squeezer": ("moment_drive (load)", "spring or damper spring between points"),
    "double_wishbone": ("spring or damper spring_left between points",),
    "double_wishbone@free": ("spring or damper spring_left between points",),
    "flyball_governor": ("spring or damper spring_1 between points",),
    "flyball_governor@rigid": ("distance constraint coupler_1",),
    "four_bar@example-1": ("moment_drive (load)",),
    "geared_gripper": ("coupling inner_mesh",),
    "geared_gripper@tip": ("coupling inner_mesh",),
    "macpherson": ("spring or damper strut between points",),
    "macpherson@bearing": ("spring or damper strut between points",),
    "pendulum@spring": ("moment_drive (load)", "spring coil on joint hinge"),
    "planar_3rrr@example-4": ("moment_torque_1 (load)",),
    "pushrod_suspension": ("spring torsion_bar_l on joint crank_l", "damper_l between points"),
    "quarter_vehicle": ("spring or damper leaf_spring between points",),
    "rssr_linkage": ("distance constraint rod", "spring spring on joint rocker"),
    "screw_press": ("force_workpiece (load)", "return_spring between points"),
    "screw_press@guided": ("force_workpiece (load)", "return_spring between points"),
    "screw_press@motor": ("force_workpiece (load)", "return_spring between points"),
    "sla_suspension": ("spring or damper strut_r between points",),
    "sla_suspension@struts": ("spring or damper strut_r between points",),
    "sla_suspension@measured": ("spring or damper strut_r between points",),
    "tx40": ("motor m6 on several joints",),
}


@pytest.mark.parametrize("spec", SPECS)
def test_what_cannot_be_held_is_refused_by_name(spec: str) -> None:
    content = Content(load(spec), "CAD values")
    if spec not in REFUSED:
        assert urdf(content).left_out == ()
        return
    with pytest.raises(ModelError, match="URDF cannot hold") as found:
        urdf(content)
    assert all(word in str(found.value) for word in REFUSED[spec])
    file = urdf(content, allow_loss=True)
    assert all(f"left out: {word}" in file.text for word in file.left_out)


class OnPinocchio:
    def __init__(self, motion: Motion) -> None:
        self.motion, mechanism = motion, motion.model.mechanism
        text = urdf(Content(mechanism, "CAD values"), allow_loss=True).text
        self.root = ElementTree.fromstring(text)
        self.model = pin.buildModelFromXML(text)
        self.model.gravity.linear = np.array(mechanism.gravity)
        self.data = self.model.createData()
        self.bodies = [self.frame(name) for name in body_names(mechanism)]
        self.coordinates = coordinates(motion)
        self.home: dict[str, float] = {}
        if self.root.find("constraint") is not None:  # joints count from the home pose
            home = solve_motion(motion.model, motion.model.home_y[None])
            self.home = {name: float(x[0]) for name, x in coordinates(home).of.items()}
        self.dynamics = {
            joint.get("name"): joint.find("dynamics") for joint in self.root.findall("joint")
        }

    def frame(self, name: str) -> int:
        return int(self.model.getFrameId(name, pin.FrameType.BODY))

    def state(self, k: int) -> Array:
        """q of Pinocchio: (cos, sin) of joints without limits, quaternions scalar last."""
        q = np.zeros(self.model.nq)
        balls = {
            f"{ball}_{word}": (joint, i)
            for ball, joint in self.coordinates.balls.items()
            for i, word in enumerate(("roll", "pitch", "yaw"))
        }
        for i, name in enumerate(self.model.names):
            if i == 0:
                continue
            joint = self.model.joints[i]
            at = slice(joint.idx_q, joint.idx_q + joint.nq)
            if joint.nq == 7:
                q[at] = self.floating(k, name)
                continue
            if name in balls:
                ball, angle = balls[name]
                value = rpy_from_matrix(self.turn(k, ball))[angle]
            else:
                value = self.coordinates.of[name][k] - self.home.get(name, 0.0)
            q[at] = [np.cos(value), np.sin(value)] if joint.nq == 2 else [value]
        return q

    def ends(self, name: str) -> tuple[str, str]:
        """Parent and child of a joint as the tree of the file has them."""
        joint = self.motion.model.mechanism.joint(name)
        found = [
            j for j in self.root.findall("joint") if f"{j.get('name')}_".startswith(f"{name}_")
        ]
        parent = found[0].find("parent")
        assert parent is not None
        forward = parent.get("link") == joint.body_a
        return (joint.body_a, joint.body_b) if forward else (joint.body_b, joint.body_a)

    def turn(self, k: int, name: str) -> Array:
        """Turn of a ball since the home pose, in the axes of the joint frame of the child."""
        joint = self.motion.model.mechanism.joint(name)
        parent, child = self.ends(name)
        B = np.array((joint.frame_b if child == joint.body_b else joint.frame_a).rotation)
        return np.asarray(B.T @ relative_turn(self.motion, k, parent, child) @ B)

    def floating(self, k: int, name: str) -> Array:
        """Pose of the child in that of the joint where frames a and b coincide."""
        joint = self.motion.model.mechanism.joint(name)
        names, f = body_names(self.motion.model.mechanism), self.motion.bodies()
        poses = {n: pin.SE3(f.rotation[k, i], f.position[k, i]) for i, n in enumerate(names)}
        poses["ground"] = pin.SE3.Identity()
        frames = {
            body: pin.SE3(np.array(frame.rotation), np.array(frame.origin))
            for body, frame in ((joint.body_a, joint.frame_a), (joint.body_b, joint.frame_b))
        }
        parent, child = self.ends(name)
        still = frames[parent] * frames[child].inverse()
        now = poses[parent].inverse() * poses[child]
        return np.asarray(pin.SE3ToXYZQUAT(still.inverse() * now))

    def inverse(self, v: Array, vd: Array) -> tuple[Array, Array]:
        """With what the file says of damping, friction and rotors, which Pinocchio leaves aside."""
        found = pin.rnea(self.model, self.data, self.q, v, vd)
        size = np.abs(found) + np.abs(pin.rnea(self.model, self.data, self.q, 0 * v, 0 * vd))
        for name, entry in self.dynamics.items():
            if entry is not None:
                at = self.model.joints[self.model.getJointId(name)].idx_v
                found[at] += float(entry.get("damping", 0)) * v[at]
                found[at] += float(entry.get("friction", 0)) * np.sign(v[at])
        for transmission in self.root.iter("transmission"):
            joint, rotor = transmission.find("joint"), transmission.find(".//{*}rotor_inertia")
            assert joint is not None
            assert rotor is not None
            at = self.model.joints[self.model.getJointId(joint.get("name"))].idx_v
            found[at] += float(rotor.get("value", "nan")) * vd[at]
        return found, size

    def move(self, k: int) -> None:
        self.q = self.state(k)
        pin.computeJointJacobians(self.model, self.data, self.q)
        pin.updateFramePlacements(self.model, self.data)

    def jacobian(self) -> Array:
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        rows = [pin.getFrameJacobian(self.model, self.data, b, axes) for b in self.bodies]
        return np.concatenate([np.reshape(x, (6, self.model.nv)) for x in rows])

    def bias(self, v: Array) -> Array:
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        pin.forwardKinematics(self.model, self.data, self.q, v, 0 * v)
        pin.updateFramePlacements(self.model, self.data)
        rates = [
            pin.getFrameClassicalAcceleration(self.model, self.data, b, axes).vector
            for b in self.bodies
        ]
        return np.concatenate(rates)


@pytest.mark.parametrize("spec", MOVED)
def test_pinocchio_moves_as_the_model(spec: str) -> None:
    """Springs and motors on several joints, which URDF cannot hold, are taken off the model."""
    check_pinocchio(without_springs(spec))


def check_pinocchio(motion: Motion) -> None:
    other = OnPinocchio(motion)
    frames, tau, size = motion.bodies(), forces(motion), motion.model.size
    for k in range(SAMPLES):
        other.move(k)
        for i, body in enumerate(other.bodies):
            place = other.data.oMf[body]
            assert np.abs(place.translation - frames.position[k, i]).max() <= TOLERANCE * size
            assert np.abs(place.rotation - frames.rotation[k, i]).max() <= TOLERANCE
        check_constraints(motion, other, k)
        J = other.jacobian()
        v, *_ = np.linalg.lstsq(J, body_twists(motion)[k])
        assert_same_dynamics(motion, k, J, other.bias(v), other.inverse, tau[k])


@cache
def without_springs(spec: str) -> Motion:
    motion = random_motion(spec)
    mechanism = motion.model.mechanism
    kinds = ("spring_damper", "torsion_spring", *(["transmission"] if spec == "tx40" else []))
    elements = tuple(e for e in mechanism.elements if e.kind not in kinds)
    model = kinematic_model(replace(mechanism, elements=elements))
    return solve_motion(model, motion.y, motion.yd, motion.ydd, time=motion.time)


def check_constraints(motion: Motion, other: OnPinocchio, k: int) -> None:
    """The two frames of a constraint are those of the cut joint, in the pose that it allows."""
    mechanism = motion.model.mechanism
    for constraint in other.root.iter("constraint"):
        joint = mechanism.joint(str(constraint.get("name")))
        assert constraint.get("type") == joint.type
        poses = []
        for side in ("parent", "child"):
            link, origin = constraint.find(side), constraint.find(f"{side}_origin")
            assert link is not None
            assert origin is not None
            xyz = np.array(str(origin.get("xyz")).split(), float)
            rpy = np.array(str(origin.get("rpy")).split(), float)
            place = pin.SE3(pin.rpy.rpyToMatrix(rpy), xyz)
            body = link.get("link")
            here = other.data.oMf[other.frame(body)] if body != "ground" else pin.SE3(1)
            poses.append(here * place)
        between = poses[0].inverse() * poses[1]
        c = joint_motion(motion, joint.name).coordinates[k : k + 1]
        R, t = joint_pose(joint, c)
        assert np.abs(between.rotation - R[0]).max() <= TOLERANCE
        assert np.abs(between.translation - t[0]).max() <= TOLERANCE * motion.model.size
