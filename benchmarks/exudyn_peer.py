"""A mechanism with closed loops in Exudyn: rigid bodies with six coordinates each, and all joints.

The loops need no cut: every joint is a constraint, and index-3 generalised-α holds all of them to
rounding at every step. Orientations are Tait-Bryan angles from the starting pose, which does as
long as no body turns by 90° about its second axis.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

import numpy as np

from mechid.kinematics.model import KinematicModel
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import (
    GROUND,
    Body,
    Constraint,
    DistanceConstraint,
    ForceElement,
    Frame,
    Joint,
    JointCoordinate,
    PointCoordinate,
)

sys.exudynFast = True  # the module without range checks; must be said before the import
with redirect_stdout(None):  # and it says so, in the middle of the report
    import exudyn as exu
    import exudyn.itemInterface as items  # noqa: N813
    from exudyn.rigidBodyUtilities import RigidBodyInertia

X_IS_Z = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # a frame with x along z
NEWTON = 1e-10  # relative tolerance of the equations of a step: extrapolation needs all digits
FEW = 8  # bodies: with so many or fewer, a dense matrix is factored faster than a sparse one
SOLVERS = exu.LinearSolverType


class ConstraintPeer:
    """All bodies, joints, distances, springs, dampers and constant moments, at y0 with ẏ0 (rest).

    `angles` is the kind of node: Tait-Bryan angles are the fastest, Euler parameters may turn far.
    """

    def __init__(
        self,
        kinematics: KinematicModel,
        y0: Floats,
        yd0: Floats | None = None,
        angles: exu.NodeType = exu.NodeType.RotationRxyz,
    ) -> None:
        self.kinematics, self.angles = kinematics, angles
        self.container = exu.SystemContainer()
        self.system = self.container.AddSystem()
        self.number = {GROUND: self.system.CreateGround()}
        self.start = {GROUND: np.eye(3)}  # rotation of the bodies at the start
        yd0 = np.zeros_like(y0) if yd0 is None else yd0
        f = solve_motion(kinematics, y0[None], yd0[None], ordered=False).bodies()
        for i, body in enumerate(kinematics.mechanism.bodies):
            self._add_body(body, *(x[0, i] for x in (f.position, f.rotation, f.velocity, f.omega)))
        for joint in kinematics.mechanism.joints:
            self._add_joint(joint)
        for constraint in kinematics.mechanism.constraints:
            self._add_distance(constraint)
        for element in kinematics.mechanism.elements:
            if element.kind == "moment":
                self._add_moment(element)
            else:
                self._add_strut(element)
        self.main = kinematics.mechanism.coordinates[0]
        self.sensor = self._add_sensor()
        self.system.Assemble()

    def simulate(self, times: Floats, step: float) -> tuple[Floats, int]:
        """Return the first independent coordinate at equidistant times, and Newton steps taken."""
        self.system.SolveDynamic(self._settings(times, step))
        data = np.array(self.system.GetSensorStoredData(self.sensor))
        if len(data) != len(times):
            raise ArithmeticError(f"{len(data)} results of Exudyn for {len(times)} times")
        steps = self.system.sys["dynamicSolver"].it.newtonStepsCount
        return self._coordinate(data[:, 1:]), steps

    def extrapolate(self, times: Floats, step: float) -> tuple[Floats, int]:
        """Return the same from two runs, with the step and half of it (Richardson).

        The method is of second order, so the largest part of the error is four times as large in
        the first run.
        """
        coarse, a = self.simulate(times, step)
        fine, b = self.simulate(times, 0.5 * step)
        return fine + (fine - coarse) / 3, a + b

    def _settings(self, times: Floats, step: float) -> exu.SimulationSettings:
        settings = exu.SimulationSettings()
        few = len(self.kinematics.mechanism.bodies) <= FEW
        settings.linearSolver.solverType = SOLVERS.EXUdense if few else SOLVERS.EigenSparse
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = times[1] - times[0]
        integration = settings.timeIntegration
        integration.endTime = times[-1]
        integration.numberOfSteps = round(times[-1] / step)
        integration.adaptiveStep = False
        integration.newton.relativeTolerance = NEWTON
        integration.newton.useModifiedNewton = True
        integration.generalizedAlpha.spectralRadius = 0.9
        return settings

    # ------------------------------------------------------------------ model

    def _add_body(
        self, body: Body, position: Floats, rotation: Floats, velocity: Floats, omega: Floats
    ) -> None:
        """Add a body whose frame is parallel to that of the ground at the start."""
        if body.inertia is None:
            raise NotImplementedError(f"body {body.name} without inertia")
        xx, xy, xz, yy, yz, zz = body.inertia.inertia_center
        matrix = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
        self.start[body.name] = rotation
        self.number[body.name] = self.system.CreateRigidBody(
            referencePosition=position,
            inertia=RigidBodyInertia(
                body.inertia.mass,
                0.5 * (matrix + matrix.T),
                rotation @ np.array(body.inertia.center),
                inertiaTensorAtCOM=True,
            ),
            initialVelocity=velocity,
            initialAngularVelocity=omega,
            gravity=self.kinematics.mechanism.gravity,
            nodeType=self.angles,
        )

    def _add_joint(self, joint: Joint) -> None:
        frames = ((joint.body_a, joint.frame_a), (joint.body_b, joint.frame_b))
        match joint.type:
            case "spherical":
                add = items.ObjectJointSpherical(markerNumbers=self._markers(frames))
            case "revolute" if redundant := self._redundant(joint):
                held = [1, 1, 0, 0, 0, 0] if redundant == 3 else [1, 1, 1, 1, 0, 0]
                add = items.ObjectJointGeneric(
                    markerNumbers=self._markers(frames), constrainedAxes=held
                )
            case "revolute":
                add = items.ObjectJointRevoluteZ(markerNumbers=self._markers(frames))
            case "prismatic":
                add = items.ObjectJointPrismaticX(markerNumbers=self._markers(frames, X_IS_Z))
            case "universal":  # here: x of the first marker normal to z of the second
                add = items.ObjectJointGeneric(
                    markerNumbers=self._markers(frames[::-1]), constrainedAxes=[1, 1, 1, 0, 1, 0]
                )
            case _:
                raise NotImplementedError(f"joint {joint.name} of type {joint.type}")
        self.system.AddObject(add)

    def _redundant(self, joint: Joint) -> int:
        """Return how many constraints of a joint follow from all others: three in a plane linkage.

        Exudyn cannot solve for the forces of all of them.
        """
        return sum(row.startswith(f"joint {joint.name}:") for row in self.kinematics.redundant_rows)

    def _add_distance(self, constraint: Constraint) -> None:
        if not isinstance(constraint, DistanceConstraint):
            raise NotImplementedError(f"constraint {constraint.name}")
        ends = (constraint.point_a, constraint.point_b)
        self.system.CreateDistanceConstraint(
            bodyNumbers=[self.number[p.body] for p in ends],
            localPosition0=self.start[ends[0].body] @ np.array(ends[0].local),
            localPosition1=self.start[ends[1].body] @ np.array(ends[1].local),
            distance=constraint.length,
        )

    def _add_moment(self, e: ForceElement) -> None:
        """Add a moment about an axis that the body keeps, so that no frame has to be named."""
        self.system.CreateTorque(
            bodyNumber=self.number[e.body], loadVector=e["magnitude"].value * np.array(e.direction)
        )

    def _markers(
        self, frames: tuple[tuple[str, Frame], ...], turn: Floats | None = None
    ) -> list[exu.MarkerIndex]:
        turn = np.eye(3) if turn is None else turn
        return [self._marker(body, f.origin, np.array(f.rotation) @ turn) for body, f in frames]

    def _marker(self, body: str, place: object, rotation: Floats) -> exu.MarkerIndex:
        own = self.start[body]
        frame = exu.HT(rotation=own @ rotation, translation=own @ np.array(place))
        marker = items.MarkerBodyRigid(bodyNumber=self.number[body], localHT=frame)
        return self.system.AddMarker(marker)

    def _add_strut(self, e: ForceElement) -> None:
        if e.kind != "spring_damper":
            raise NotImplementedError("elements other than springs and dampers")
        ends = e.points
        self.system.CreateSpringDamper(
            itemNumbers=[self.number[p.body] for p in ends],
            localPosition0=self.start[ends[0].body] @ np.array(ends[0].local),
            localPosition1=self.start[ends[1].body] @ np.array(ends[1].local),
            referenceLength=e["free_length"].value or 0.0,
            stiffness=e["stiffness"].value or 0.0,
            damping=e["damping"].value or 0.0,
        )

    # ------------------------------------------------------------------ first coordinate

    def _add_sensor(self) -> exu.SensorIndex:
        """Record what the first coordinate is read from: a place, or the rotation of a body."""
        c = self.main
        if isinstance(c, PointCoordinate):
            kind, body = exu.OutputVariableType.Position, c.point.body
            place = self.start[body] @ np.array(c.point.local)
        elif isinstance(c, JointCoordinate) and self._hinge(c).type == "prismatic":
            kind, body = exu.OutputVariableType.Position, self._hinge(c).body_b
            place = self.start[body] @ np.array(self._hinge(c).frame_b.origin)
        elif isinstance(c, JointCoordinate) and self._hinge(c).body_a == GROUND:
            kind, body = exu.OutputVariableType.RotationMatrix, self._hinge(c).body_b
            place = np.zeros(3)
        else:
            raise NotImplementedError(f"coordinate {c.name}")
        sensor = items.SensorBody(
            bodyNumber=self.number[body],
            localPosition=place,
            outputVariableType=kind,
            storeInternal=True,
            writeToFile=False,
        )
        return self.system.AddSensor(sensor)

    def _hinge(self, c: JointCoordinate) -> Joint:
        return self.kinematics.mechanism.joint(c.joint)

    def _coordinate(self, data: Floats) -> Floats:
        if isinstance(self.main, PointCoordinate):
            return data @ np.array(self.main.direction)
        joint = self._hinge(self.main)
        if joint.type == "prismatic":  # along an axis that keeps its direction, from body a at rest
            return (data - np.array(joint.frame_a.origin)) @ np.array(joint.frame_a.rotation)[:, 2]
        from_start = data.reshape(-1, 3, 3) @ self.start[joint.body_b]
        turned = np.array(joint.frame_a.rotation).T @ from_start @ np.array(joint.frame_b.rotation)
        return np.unwrap(np.arctan2(turned[:, 1, 0], turned[:, 0, 0]))
