"""A mechanism as a Pinocchio model: every joint by Pinocchio's joint of that kind."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from mechid.kinematics.joints import JointMotion
from mechid.mechanism.records import GROUND, Frame, Joint, Mechanism

from .arborescence import Arborescence, matrix, origin, rotation

Array = npt.NDArray[np.float64]
Z = np.array([0.0, 0.0, 1.0])


class OnPinocchio:
    """Pinocchio's joint frames stand where b's joint frames stand; bodies are frames on them."""

    def __init__(self, mechanism: Mechanism, tree: Arborescence) -> None:
        self.model = pin.Model()
        self.tree = tree
        body_in_joint = {GROUND: pin.SE3.Identity()}
        number = {GROUND: 0}
        for joint in tree.carrying:
            place = body_in_joint[joint.body_a] * se3(joint.frame_a)
            here = number[joint.body_a]
            for i, kind in enumerate(_kinds(joint)):
                here = self.model.addJoint(here, kind, place, f"{joint.name}:{i}")
                place = pin.SE3.Identity()
            number[joint.body_b] = here
            body_in_joint[joint.body_b] = place * se3(joint.frame_b).inverse()
        self.bodies = [
            self.model.addFrame(
                pin.Frame(b.name, number[b.name], body_in_joint[b.name], pin.FrameType.OP_FRAME)
            )
            for b in mechanism.bodies
        ]
        self.ends = {}
        for joint in (*tree.carrying, *tree.closing):
            for body, frame, side in (
                (joint.body_a, joint.frame_a, "a"),
                (joint.body_b, joint.frame_b, "b"),
            ):
                where = body_in_joint[body] * se3(frame)
                label = f"{joint.name}@{side}"
                self.ends[joint.name, side] = self.model.addFrame(
                    pin.Frame(label, number[body], where, pin.FrameType.OP_FRAME)
                )
        self.data = self.model.createData()

    def move(self, motions: dict[str, JointMotion], k: int) -> None:
        """Put the model in sample k, with speeds and accelerations."""
        q, v, a = [], [], []
        for joint in self.tree.carrying:
            m = motions[joint.name]
            parts = _state(joint, m.coordinates[k], m.speeds[k], m.accelerations[k])
            for all_, own in zip((q, v, a), parts, strict=True):
                all_.extend(own)
        assert (len(q), len(v)) == (self.model.nq, self.model.nv)
        pin.forwardKinematics(self.model, self.data, np.array(q), np.array(v), np.array(a))
        pin.updateFramePlacements(self.model, self.data)

    def frame(self, number: int) -> tuple[Array, Array, Array, Array, Array, Array]:
        """p, R, ṗ, ω, p̈, α of a frame in ground axes."""
        place = self.data.oMf[number]
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        speed = pin.getFrameVelocity(self.model, self.data, number, axes)
        rate = pin.getFrameClassicalAcceleration(self.model, self.data, number, axes)
        return (
            place.translation.copy(),
            place.rotation.copy(),
            speed.linear.copy(),
            speed.angular.copy(),
            rate.linear.copy(),
            rate.angular.copy(),
        )


def _kinds(joint: Joint) -> list[pin.JointModel]:
    """Pinocchio's own joint of that kind, or a chain of simple ones."""
    match joint.type:
        case "helical":
            return [pin.JointModelHZ(joint.pitch / (2 * np.pi))]
        case "universal":
            return [pin.JointModelUniversal(Z, np.array([1.0, 0.0, 0.0]))]
        case "planar":
            return [pin.JointModelPlanar()]
        case "free":
            return [pin.JointModelFreeFlyer()]
    simple = {
        "slide": (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ),
        "turn": (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ),
        "ball": (pin.JointModelSpherical,) * 3,
    }
    return [simple[step.motion][step.axis]() for step in joint.kind.steps]


def _state(joint: Joint, c: Array, s: Array, a: Array) -> tuple[Array, Array, Array]:
    """Pinocchio's q, v, a of a joint: quaternions scalar last, speeds in the axes of frame b."""
    match joint.type:
        case "planar":
            cos, sin = np.cos(c[2]), np.sin(c[2])
            Rt = np.array([[cos, sin], [-sin, cos]])
            v = Rt @ s[:2]
            rate = Rt @ a[:2] - s[2] * np.array([-v[1], v[0]])
            return np.array([c[0], c[1], cos, sin]), np.array([*v, s[2]]), np.array([*rate, a[2]])
        case "free":
            Rt = matrix(c[3:]).T
            v, w = Rt @ s[:3], Rt @ s[3:]
            rate = Rt @ a[:3] - np.cross(w, v)
            q = np.concatenate([c[:3], c[[4, 5, 6, 3]]])
            return q, np.concatenate([v, w]), np.concatenate([rate, Rt @ a[3:]])
    if joint.kind.has_orientation:
        n = joint.kind.n_scalars
        Rt = matrix(c[n:]).T  # ω × ω = 0: the derivative turns like ω itself
        q = np.concatenate([c[:n], c[n:][[1, 2, 3, 0]]])
        return q, np.concatenate([s[:n], Rt @ s[n:]]), np.concatenate([a[:n], Rt @ a[n:]])
    return c, s, a


def se3(frame: Frame) -> pin.SE3:
    return pin.SE3(rotation(frame), origin(frame))
