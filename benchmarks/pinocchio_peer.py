"""The same motion solved with Pinocchio from Python: the peer that mechid is measured against.

The tree is mechid's spanning tree, built joint by joint from the records of the mechanism; the cut
spherical joints are Pinocchio's own closure constraints, and each independent coordinate is one
more row, so that the system is square. Everything that Pinocchio can do in one call is one call,
its result arrays are looked at in place instead of fetched, and LAPACK is called directly.

Drift terms come from frame and constraint accelerations at v̇ = 0, not from the time derivative of
the Jacobian, which Pinocchio 4.1 gets wrong for universal joints. Pinocchio 4 or later is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.linalg.blas import idamax
from scipy.linalg.lapack import dgetrf, dgetrs

from mechid.kinematics.model import KinematicModel
from mechid.mechanism.records import GROUND, Frame, JointCoordinate, PointCoordinate

CLOSED = 1e-12  # m: largest entry of the closure and of y(q) - y
MOST_STEPS = 20
AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
QUATERNION = (3, 0, 1, 2)  # mechid puts the scalar first, Pinocchio last


@dataclass(frozen=True)
class PeerMotion:
    """Coordinates, speeds and accelerations in Pinocchio's conventions, and Newton steps taken."""

    q: np.ndarray
    v: np.ndarray
    vd: np.ndarray
    steps: int


class Peer:
    """Position, speed and acceleration of a mechanism, sample after sample."""

    def __init__(self, kinematics: KinematicModel) -> None:
        self.kinematics = kinematics
        self.model = pin.Model()
        self.joint = {GROUND: 0}  # body -> joint that carries it
        self.fixed = {GROUND: pin.SE3.Identity()}  # body -> its frame in the frame of that joint
        self._add_joints()
        self.bodies = [
            self._add_frame(body.name, pin.SE3.Identity()) for body in kinematics.mechanism.bodies
        ]
        self._add_coordinates()
        self.data = self.model.createData()
        self._add_closures()
        n = self.model.nv
        self.matrix = np.zeros((n, n))
        for row, _, column in self.direct:
            self.matrix[row, column] = 1.0
        self.rhs = np.zeros(n)

    def solve(self, y: np.ndarray, yd: np.ndarray, ydd: np.ndarray, dt: float) -> PeerMotion:
        """Solve samples at a constant distance dt in time, each predicted from the one before."""
        q, v, vd = self.home(), np.zeros(self.model.nv), np.zeros(self.model.nv)
        n = len(y)
        result = PeerMotion(
            np.empty((n, q.size)), np.empty((n, v.size)), np.empty((n, v.size)), steps=0
        )
        steps = 0
        for k in range(n):
            q = pin.integrate(self.model, q, v * dt + vd * (0.5 * dt * dt))
            q, factors, taken = self._close(q, y[k])
            v = self._speeds(factors, yd[k])
            vd = self._accelerations(factors, q, v, ydd[k])
            result.q[k], result.v[k], result.vd[k] = q, v, vd
            steps += taken
        return PeerMotion(result.q, result.v, result.vd, steps)

    def home(self) -> np.ndarray:
        """Return the assembled reference pose of the mechid model, in Pinocchio's coordinates."""
        q = pin.neutral(self.model)
        compiled, home = self.kinematics.compiled, self.kinematics.home_q
        for step in self.kinematics.tree.joints:
            name = step.joint.name
            at = self.model.joints[self.model.getJointId(name)].idx_q
            first = compiled.coordinate[name, 0].q
            if step.joint.type == "spherical":
                q[[at + i for i in QUATERNION]] = home[first : first + 4]
            else:
                n = len(step.joint.kind.coordinates)
                q[at : at + n] = home[[compiled.coordinate[name, i].q for i in range(n)]]
        return q

    def body_motion(self, motion: PeerMotion) -> dict[str, np.ndarray]:
        """Return position, velocity, acceleration, omega and alpha of all bodies, (N, n_b, 3)."""
        names = ("position", "velocity", "acceleration", "omega", "alpha")
        shape = (len(motion.q), len(self.bodies), 3)
        out = {name: np.empty(shape) for name in names}
        for k, (q, v, vd) in enumerate(zip(motion.q, motion.v, motion.vd, strict=True)):
            pin.forwardKinematics(self.model, self.data, q, v, vd)
            pin.updateFramePlacements(self.model, self.data)
            for i, frame in enumerate(self.bodies):
                speed = pin.getFrameVelocity(self.model, self.data, frame, AXES)
                rate = pin.getFrameClassicalAcceleration(self.model, self.data, frame, AXES)
                out["position"][k, i] = self.data.oMf[frame].translation
                out["velocity"][k, i], out["omega"][k, i] = speed.linear, speed.angular
                out["acceleration"][k, i], out["alpha"][k, i] = rate.linear, rate.angular
        return out

    # ------------------------------------------------------------------ model

    def _add_joints(self) -> None:
        for step in self.kinematics.tree.joints:
            joint = step.joint
            if step.reverse:
                raise NotImplementedError(f"joint {joint.name} is walked backwards")
            place = self.fixed[step.parent] * placement(joint.frame_a)
            number = self.model.addJoint(
                self.joint[step.parent], joint_model(joint.type), place, joint.name
            )
            self.joint[step.child] = number
            self.fixed[step.child] = placement(joint.frame_b).inverse()

    def _add_frame(self, body: str, local: pin.SE3) -> int:
        frame = pin.Frame(
            f"{body} {self.model.nframes}",
            self.joint[body],
            0,
            self.fixed[body] * local,
            pin.FrameType.OP_FRAME,
        )
        return self.model.addFrame(frame)

    def _add_coordinates(self) -> None:
        """Rows after the closures: (row, …) of tree coordinates and of heights of points."""
        first = 3 * len(self.kinematics.tree.cut)
        self.first_driver = first
        self.direct: list[tuple[int, int, int]] = []  # row, coordinate, column
        self.points: list[tuple[int, int, int]] = []  # row, frame, ground axis
        for row, c in enumerate(self.kinematics.mechanism.coordinates, start=first):
            if isinstance(c, JointCoordinate):
                joint = self.model.joints[self.model.getJointId(c.joint)]
                self.direct.append((row, joint.idx_q + c.index, joint.idx_v + c.index))
            elif isinstance(c, PointCoordinate) and sorted(c.direction) == [0, 0, 1]:
                frame = self._add_frame(c.point.body, pin.SE3(np.eye(3), np.array(c.point.local)))
                self.points.append((row, frame, c.direction.index(1)))
            else:
                raise NotImplementedError(f"coordinate {c.name}")

    def _add_closures(self) -> None:
        self.closures = pin.StdVec_ConstraintModel()
        self.closure_data = pin.StdVec_ConstraintData()
        for joint in self.kinematics.tree.cut:
            if joint.type != "spherical":
                raise NotImplementedError(f"cut joint {joint.name} of type {joint.type}")
            a, b = joint.body_a, joint.body_b
            closure = pin.PointAnchorConstraintModel(
                self.model,
                self.joint[a],
                self.fixed[a] * placement(joint.frame_a),
                self.joint[b],
                self.fixed[b] * placement(joint.frame_b),
            )
            self.closures.append(pin.ConstraintModel(closure))
            self.closure_data.append(pin.ConstraintData(closure.createData()))
        # Views of the memory of the C++ objects: they follow every call of `calc`.
        datas = [self.closure_data[i] for i in range(len(self.closure_data))]
        self.pairs = [(self.closures[i], d) for i, d in enumerate(datas)]
        self.gaps = [d.extract().constraint_position_error for d in datas]
        self.gap_rates = [d.extract().constraint_acceleration_error for d in datas]
        self.places = [self.data.oMf[frame].translation for _, frame, _ in self.points]

    # ------------------------------------------------------------------ one sample

    def _close(self, q: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, tuple, int]:
        """Newton's method; return the closed pose, the factors of the matrix there, and steps."""
        model, data, first = self.model, self.data, self.first_driver
        for row, coordinate, _ in self.direct:
            q[coordinate] = y[row - first]
        for taken in range(MOST_STEPS):
            pin.computeJointJacobians(model, data, q)
            for closure, closure_data in self.pairs:
                closure.calc(model, data, closure_data)
            self._fill_matrix()
            lu, pivots, _ = dgetrf(self.matrix.T)  # the transpose is what LAPACK takes as it is
            rhs = np.concatenate((*self.gaps, np.zeros(y.size)))
            for (row, _, axis), place in zip(self.points, self.places, strict=True):
                rhs[row] = place[axis] - y[row - first]
            if abs(rhs[idamax(rhs)]) <= CLOSED:
                return q, (lu, pivots), taken
            step, _ = dgetrs(lu, pivots, rhs, trans=1)
            q = pin.integrate(model, q, -step)
        raise ArithmeticError("Newton's method does not converge")

    def _fill_matrix(self) -> None:
        first = self.first_driver
        self.matrix[:first] = pin.getConstraintsJacobian(
            self.model, self.data, self.closures, self.closure_data
        )
        for row, frame, axis in self.points:
            # also puts the frame where it belongs
            pin.updateFramePlacement(self.model, self.data, frame)
            self.matrix[row] = pin.getFrameJacobian(self.model, self.data, frame, AXES)[axis]

    def _speeds(self, factors: tuple, yd: np.ndarray) -> np.ndarray:
        rhs = self.rhs
        rhs[: self.first_driver] = 0.0
        rhs[self.first_driver :] = yd
        return dgetrs(*factors, rhs, trans=1)[0]

    def _accelerations(
        self, factors: tuple, q: np.ndarray, v: np.ndarray, ydd: np.ndarray
    ) -> np.ndarray:
        model, data = self.model, self.data
        pin.forwardKinematics(model, data, q, v, np.zeros(v.size))
        for closure, closure_data in self.pairs:
            closure.calc(model, data, closure_data)
        rhs = np.concatenate((*self.gap_rates, -ydd))
        for row, frame, axis in self.points:
            rhs[row] += pin.getFrameClassicalAcceleration(model, data, frame, AXES).linear[axis]
        return -dgetrs(*factors, rhs, trans=1)[0]


def placement(frame: Frame) -> pin.SE3:
    """Return a frame record as a transform of Pinocchio."""
    return pin.SE3(np.array(frame.rotation), np.array(frame.origin))


def joint_model(kind: str) -> pin.JointModel:
    """Return the joint of Pinocchio with the coordinates of NOTATION.md."""
    match kind:
        case "revolute":
            return pin.JointModelRZ()
        case "prismatic":
            return pin.JointModelPZ()
        case "universal":
            return pin.JointModelUniversal(np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]))
        case "spherical":
            return pin.JointModelSpherical()
        case _:
            raise NotImplementedError(f"joint of type {kind}")
