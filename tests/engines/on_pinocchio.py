"""Links on Pinocchio: its joints, bodies as frames on them, `rnea` for the forces."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from mechid.kinematics.compile import Rigid
from mechid.mechanism.records import GROUND, Mechanism

from ..dynamics.virtual_power import tensor
from .closed_tree import Kinematics, start_of
from .links import Link, home_coordinates, links

Array = npt.NDArray[np.float64]
WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
AXES = np.eye(3)
SIMPLE = {
    "slide": (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ),
    "turn": (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ),
    "ball": (pin.JointModelSpherical,) * 3,
}


class OnPinocchio:
    """Helical and universal joints are Pinocchio's own; others are chains of its simple joints.

    Elements are none of Pinocchio's.
    """

    name = "Pinocchio"
    native: tuple[str, ...] = ()

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.links = mechanism, links(mechanism)
        self.model = pin.Model()
        self.model.gravity.linear = np.array(mechanism.gravity)
        self.places: dict[tuple[str, int], tuple[int, int, float]] = {}
        number, inside = {GROUND: 0}, {GROUND: pin.SE3.Identity()}
        self.frames: dict[str, int] = {}
        for link in self.links:
            here = number[link.parent]
            place = inside[link.parent] * se3(link.start)
            for joint, places in self._pieces(link):
                here = self.model.addJoint(here, joint, place, f"{link.name}:{len(number)}:{here}")
                q, v = self.model.idx_qs[here], self.model.idx_vs[here]
                for k, index in enumerate(places):
                    self.places[link.joint.name, index] = (q + k, v + k, link.sign)
                place = pin.SE3.Identity()
            number[link.name], inside[link.name] = here, place * se3(link.end).inverse()
            self._fill(link, here, inside[link.name])
            frame = pin.Frame(link.name, here, inside[link.name], pin.FrameType.OP_FRAME)
            self.frames[link.name] = self.model.addFrame(frame)
        self.data = self.model.createData()
        self.n_v = self.model.nv

    def _pieces(self, link: Link) -> list[tuple[pin.JointModel, list[int]]]:
        """Joints of Pinocchio, each with the numbers of its coordinates."""
        motions = [motion for motion, _, _ in link.steps]
        if motions == ["screw"]:
            return [(pin.JointModelHZ(link.joint.pitch / (2 * np.pi)), [0])]
        if motions == ["turn", "turn"]:
            (_, first, i), (_, second, k) = link.steps
            return [(pin.JointModelUniversal(AXES[first], AXES[second]), [i, k])]
        return [(SIMPLE[motion][axis](), [i]) for motion, axis, i in link.steps]

    def _fill(self, link: Link, number: int, pose: pin.SE3) -> None:
        c = self.mechanism.body(link.body).inertia
        assert c is not None
        inertia = pin.Inertia(
            link.share * c.mass, np.array(c.center), link.share * tensor(c.inertia_center)
        )
        if number:  # what is fixed to the ground moves nothing
            self.model.appendBodyToJoint(number, inertia, pose)

    def home(self) -> Array:
        q = start_of(self.mechanism, self, pin.neutral(self.model))
        for link in self.links:
            for motion, _, i in link.steps:
                if motion == "ball":
                    _, R = home_coordinates(self.mechanism, link.joint)
                    at = self.places[link.joint.name, i][0]
                    q[at : at + 4] = pin.Quaternion(R.T if link.reverse else R).coeffs()
        return q

    def place(self, joint: str, index: int) -> tuple[int, int, float]:
        return self.places[joint, index]

    def ties(self, q: Array) -> list[tuple[Array, float]]:
        return []

    def integrate(self, q: Array, step: Array) -> Array:
        return np.asarray(pin.integrate(self.model, q, step))

    def kinematics(self, q: Array, v: Array) -> Kinematics:
        model, data = self.model, self.data
        pin.computeJointJacobians(model, data, q)
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        pin.updateFramePlacements(model, data)
        p, R, J, bias = {}, {}, {}, {}
        for name, f in self.frames.items():
            p[name], R[name] = data.oMf[f].translation.copy(), data.oMf[f].rotation.copy()
            J[name] = pin.getFrameJacobian(model, data, f, WORLD)
            bias[name] = pin.getFrameClassicalAcceleration(model, data, f, WORLD).vector.copy()
        return Kinematics(p, R, J, bias)

    def forces(self, q: Array, v: Array, vd: Array) -> Array:
        return np.array(pin.rnea(self.model, self.data, q, v, vd))

    def mass_matrix(self, q: Array) -> Array:
        """Columns of `rnea`: `crba` asks for joints that are numbered depth first."""
        zero = np.zeros(self.n_v)
        rest = self.forces(q, zero, zero)
        return np.array([self.forces(q, zero, x) - rest for x in np.eye(self.n_v)]).T


def se3(pose: Rigid) -> pin.SE3:
    return pin.SE3(pose.rotation, pose.translation)
