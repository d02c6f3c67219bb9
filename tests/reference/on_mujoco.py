"""A mechanism as an MJCF file: hinges, slides and balls, one body inside the other."""

from __future__ import annotations

from xml.etree import ElementTree

import mujoco
import numpy as np
import numpy.typing as npt

from mechid.kinematics.joints import JointMotion
from mechid.mechanism.records import GROUND, Frame, Joint, Mechanism

from .arborescence import Arborescence, matrix, origin, rotation

Array = npt.NDArray[np.float64]


class OnMujoco:
    """MuJoCo's bodies are ours; a joint of several freedoms is a row of hinges and slides.

    In MuJoCo a joint moves the child: where frame b would coincide with frame a, the child has the
    pose A B⁻¹ in its parent, and the joint turns it about the axes of B.
    """

    def __init__(self, mechanism: Mechanism, tree: Arborescence) -> None:
        root = ElementTree.Element("mujoco")
        ElementTree.SubElement(root, "compiler", angle="radian")
        inside = {GROUND: ElementTree.SubElement(root, "worldbody")}
        self.tree = tree
        for joint in tree.carrying:
            A, B = rotation(joint.frame_a), rotation(joint.frame_b)
            R = A @ B.T
            p = origin(joint.frame_a) - R @ origin(joint.frame_b)
            body = ElementTree.SubElement(
                inside[joint.body_a],
                "body",
                name=joint.body_b,
                pos=words(p),
                xyaxes=words(np.concatenate([R[:, 0], R[:, 1]])),
            )
            ElementTree.SubElement(body, "inertial", pos="0 0 0", mass="1", diaginertia="1 1 1")
            for kind, axis, index in _pieces(joint):
                ElementTree.SubElement(
                    body,
                    "joint",
                    name=f"{joint.name}:{index}:{kind}",
                    type=kind,
                    pos=words(origin(joint.frame_b)),
                    axis=words(B[:, axis]),
                )
            inside[joint.body_b] = body
        for joint in (*tree.carrying, *tree.closing):
            for body, frame, side in (
                (joint.body_a, joint.frame_a, "a"),
                (joint.body_b, joint.frame_b, "b"),
            ):
                self._site(inside[body], f"{joint.name}@{side}", frame)
        self.model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
        self.data = mujoco.MjData(self.model)
        self.bodies = [self.model.body(b.name).id for b in mechanism.bodies]

    def _site(self, body: ElementTree.Element, name: str, frame: Frame) -> None:
        R = rotation(frame)
        ElementTree.SubElement(
            body,
            "site",
            name=name,
            pos=words(origin(frame)),
            xyaxes=words(np.concatenate([R[:, 0], R[:, 1]])),
        )

    def move(self, motions: dict[str, JointMotion], k: int) -> None:
        """Put the model in sample k, with speeds."""
        for joint in self.tree.carrying:
            c, s = motions[joint.name].coordinates[k], motions[joint.name].speeds[k]
            B = rotation(joint.frame_b)
            for kind, _, index in _pieces(joint):
                place = self.model.joint(f"{joint.name}:{index}:{kind}")
                q, v = int(place.qposadr[0]), int(place.dofadr[0])
                if kind == "ball":  # quaternion and speeds in the axes of the child
                    turn = B @ c[index + 1 : index + 4]
                    self.data.qpos[q : q + 4] = [c[index], *turn]
                    R = matrix(c[index : index + 4])
                    self.data.qvel[v : v + 3] = B @ R.T @ s[index : index + 3]
                elif joint.kind.thread and kind == "slide":
                    lead = joint.pitch / (2 * np.pi)
                    self.data.qpos[q], self.data.qvel[v] = lead * c[0], lead * s[0]
                else:
                    self.data.qpos[q], self.data.qvel[v] = c[index], s[index]
        mujoco.mj_forward(self.model, self.data)

    def body(self, number: int) -> tuple[Array, Array, Array, Array]:
        """p, R, ṗ, ω of a body frame in ground axes."""
        six = np.zeros(6)
        kind = mujoco.mjtObj.mjOBJ_XBODY
        mujoco.mj_objectVelocity(self.model, self.data, kind, number, six, 0)
        d = self.data
        return d.xpos[number].copy(), d.xmat[number].reshape(3, 3).copy(), six[3:], six[:3]

    def end(self, joint: str, side: str) -> tuple[Array, Array]:
        """p, R of one frame of a joint."""
        site = self.data.site(f"{joint}@{side}")
        return site.xpos.copy(), site.xmat.reshape(3, 3).copy()


def _pieces(joint: Joint) -> list[tuple[str, int, int]]:
    """MuJoCo's joints: type, axis of frame b, number of our first coordinate."""
    names = {"turn": ["hinge"], "slide": ["slide"], "ball": ["ball"], "screw": ["hinge", "slide"]}
    return [
        (name, step.axis, index)
        for index, step in joint.kind.numbered
        for name in names[step.motion]
    ]


def words(v: Array) -> str:
    return " ".join(repr(float(x)) for x in v)
