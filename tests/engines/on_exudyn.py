"""A mechanism on Exudyn: six coordinates per body, every joint a constraint, nothing is cut.

Its initial accelerations are compared: those of the constrained system, for given forces.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mechid.kinematics.compile import Rigid
from mechid.kinematics.frames import FrameMotion
from mechid.mechanism.records import GROUND, ForceElement, Frame, Joint, Mechanism, Point

from ..dynamics.virtual_power import straight_lines, tensor, value

sys.exudynFast = True  # the module without range checks; must be said before the import
with redirect_stdout(None):
    import exudyn as exu
    import exudyn.itemInterface as items  # noqa: N813
    from exudyn.rigidBodyUtilities import RigidBodyInertia

Array = npt.NDArray[np.float64]
Law = Callable[[float, float], float]
OUTPUT = exu.OutputVariableType
STEP = 2e-4  # relative, of the differences: truncation h³ and rounding eps/h are both near 1e-11
LOADS = ("force", "moment", "joint_force")
LINEAR = {"spring_damper": "free_length", "torsion_spring": "free_angle"}
NO_TURN: Frame = Frame((0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))


def reason_against(mechanism: Mechanism) -> str:
    """Return what Exudyn cannot express of a mechanism, "" if it can."""
    if any(j.kind.thread for j in mechanism.joints):
        return "helical joint"
    return "coupling" if mechanism.couplings else ""


def expressible(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism with those elements only that Exudyn can express."""
    kept = tuple(e for e in mechanism.elements if _has(mechanism, e))
    return replace(mechanism, elements=kept)


def _has(mechanism: Mechanism, e: ForceElement) -> bool:
    """Loads, laws along a line, and laws on an angle or a displacement of an axle or a guide."""
    if e.kind in LOADS or e.points:
        return True
    if e.kind in ("transmission", "bushing"):
        return False
    kind = mechanism.joint(e.coordinates[0][0]).kind
    return kind.axle or kind.guide


class OnExudyn:
    """A mechanism in one pose, with speeds and forces on its independent coordinates.

    Bodies have frames parallel to the ground there: Exudyn loses digits where it finds the Euler
    parameters of a rotation near 180°.
    """

    name = "Exudyn"

    def __init__(self, mechanism: Mechanism, f: FrameMotion, k: int, tau: Array) -> None:
        self.mechanism = mechanism
        self.container = exu.SystemContainer()
        self.system = self.container.AddSystem()
        self.number = {GROUND: self.system.CreateGround()}
        self.pose = {GROUND: Rigid(np.eye(3), np.zeros(3))}
        for i, body in enumerate(mechanism.bodies):
            c = body.inertia
            assert c is not None
            R = f.rotation[k, i]
            self.pose[body.name] = Rigid(R, f.position[k, i])
            self.number[body.name] = self.system.CreateRigidBody(
                referencePosition=f.position[k, i],
                initialVelocity=f.velocity[k, i],
                initialAngularVelocity=f.omega[k, i],
                inertia=RigidBodyInertia(
                    c.mass,
                    R @ tensor(c.inertia_center) @ R.T,
                    R @ np.array(c.center),
                    inertiaTensorAtCOM=True,
                ),
                gravity=list(mechanism.gravity),
            )
        for joint in mechanism.joints:
            self._add_joint(joint)
        for d in mechanism.distances:
            ends = [self._point(p) for p in (d.point_a, d.point_b)]
            self._add(items.ObjectConnectorDistance(markerNumbers=ends, distance=d.length))
        for e in mechanism.elements:
            self._add_element(e)
        for joint in mechanism.joints:
            chosen = [i for i, c in enumerate(mechanism.coordinates) if c.joint == joint.name]
            if chosen:
                full = np.zeros(len(joint.kind.choices))
                full[[mechanism.coordinates[i].index for i in chosen]] = tau[chosen]
                self._drive(joint, full)
        self.system.Assemble()

    def accelerations(self) -> tuple[Array, Array, float]:
        """Return p̈ and α of the bodies (n_b, 3), and the largest residual of the constraints.

        The second rates of the constraints are forward differences: three steps, extrapolated.
        """
        found = [self._initial(step) for step in (4 * STEP, 2 * STEP, STEP)]
        a, b, c = (accelerations for accelerations, _ in found)
        linear, angular = (a - 6 * b + 8 * c) / 3
        return linear, angular, found[-1][1]

    def _initial(self, step: float) -> tuple[Array, float]:
        """Return initial accelerations (2, n_b, 3) with differences of this relative step."""
        settings = exu.SimulationSettings()
        settings.solution.file.write = False
        settings.timeIntegration.numberOfSteps = 1
        settings.timeIntegration.endTime = 1e-6
        settings.timeIntegration.newton.numericalDifferentiation.relativeEpsilon = step
        solver = exu.MainSolverImplicitSecondOrder()
        solver.InitializeSolver(self.system, settings)
        solver.ComputeAlgebraicEquations(self.system, velocityLevel=False)
        n = solver.GetODE2size()
        residual = np.abs(np.array(solver.GetSystemResidual())[n:]).max(initial=0.0)
        numbers = [self.number[b.name] for b in self.mechanism.bodies]
        found = [
            [self.system.GetObjectOutputBody(i, kind) for i in numbers]
            for kind in (OUTPUT.Acceleration, OUTPUT.AngularAcceleration)
        ]
        solver.FinalizeSolver(self.system, settings)
        return np.array(found), float(residual)

    # ------------------------------------------------------------------ model

    def _add(self, item: object) -> None:
        self.system.AddObject(item)

    def _marker(self, body: str, frame: Frame) -> exu.MarkerIndex:
        R = self.pose[body].rotation
        place = exu.HT(
            rotation=R @ np.array(frame.rotation), translation=R @ np.array(frame.origin)
        )
        return self.system.AddMarker(
            items.MarkerBodyRigid(bodyNumber=self.number[body], localHT=place)
        )

    def _point(self, p: Point) -> exu.MarkerIndex:
        return self._marker(p.body, replace(NO_TURN, origin=p.local))

    def _ends(self, joint: Joint) -> list[exu.MarkerIndex]:
        return [
            self._marker(joint.body_a, joint.frame_a),
            self._marker(joint.body_b, joint.frame_b),
        ]

    def _add_joint(self, joint: Joint) -> None:
        """Axes of frame a along which nothing moves, and about which nothing turns."""
        kind = joint.kind
        ends = self._ends(joint)
        held = [int(k in kind.held_axes) for k in range(3)]
        turns = ([1, 1, 1], [1, 1, 0], [0, 1, 0], [0, 0, 0])[kind.n_turns]
        if kind.n_turns == 2:  # z of frame a normal to x of frame b, which is Exudyn's first here
            ends = ends[::-1]
        if any(held + turns):
            self._add(items.ObjectJointGeneric(markerNumbers=ends, constrainedAxes=held + turns))

    # ------------------------------------------------------------------ forces

    def _load(self, body: str, force: Array, moment: Array, at: Array) -> None:
        """A force at a place of the ground frame, and a moment, on a body."""
        if body == GROUND:
            return
        pose = self.pose[body]
        local = pose.rotation.T @ (at - pose.translation)
        marker = self._marker(body, replace(NO_TURN, origin=tuple(local)))
        self.system.AddLoad(items.LoadForceVector(markerNumber=marker, loadVector=force))
        self.system.AddLoad(items.LoadTorqueVector(markerNumber=marker, loadVector=moment))

    def _drive(self, joint: Joint, tau: Array) -> None:
        """Forces on the coordinates of a joint: they act on b, and back on a at the same place."""
        a = self.pose[joint.body_a] @ Rigid.of(joint.frame_a)
        b = self.pose[joint.body_b] @ Rigid.of(joint.frame_b)
        force, moment = np.zeros(3), np.zeros(3)
        for i, step in joint.kind.numbered:
            axes = (a, b)[step.on].rotation
            if step.motion == "slide":
                force += tau[i] * axes[:, step.axis]
            elif step.motion == "ball":
                moment += a.rotation @ _turning(a.rotation.T @ b.rotation, tau[i:])
            else:
                moment += tau[i] * axes[:, step.axis]
        self._load(joint.body_b, force, moment, b.translation)
        self._load(joint.body_a, -force, -moment, b.translation)

    def _add_element(self, e: ForceElement) -> None:
        if e.kind in ("force", "moment"):
            if e.body == GROUND:
                return
            vector = value(e["magnitude"]) * np.array(e.direction)
            point = (*e.points, Point("", e.body, (0.0, 0.0, 0.0)))[0]
            make = items.LoadForceVector if e.kind == "force" else items.LoadTorqueVector
            fixed = e.axes_of != GROUND  # in the axes of the marker, which are those of the body
            marker = self._point(point)
            self.system.AddLoad(make(markerNumber=marker, loadVector=vector, bodyFixed=fixed))
            return
        if e.kind == "joint_force":
            name, index = e.coordinates[0]
            joint = self.mechanism.joint(name)
            full = np.zeros(len(joint.kind.choices))
            full[index] = value(e["force"])
            self._drive(joint, full)
            return
        if e.points:
            ends = [self._point(p) for p in e.points]
            given = _connector(e, "referenceLength", "springForceUserFunction")
            self._add(items.ObjectConnectorSpringDamper(markerNumbers=ends, **given))
            return
        name, index = e.coordinates[0]
        joint = self.mechanism.joint(name)
        ends = self._ends(joint)
        if joint.kind.units[index] == "m":
            given = _connector(e, "offset", "springForceUserFunction")
            self._add(
                items.ObjectConnectorLinearSpringDamper(
                    markerNumbers=ends, axisMarker0=[0, 0, 1], **given
                )
            )
        else:
            given = _connector(e, "offset", "springTorqueUserFunction")
            self._add(items.ObjectConnectorTorsionalSpringDamper(markerNumbers=ends, **given))


def _connector(e: ForceElement, free: str, function: str) -> dict[str, Any]:
    """Values of a connector of Exudyn: its own law where that is the element's, else a function.

    The function is given the measure less the offset, which is 1 m for lengths: none may be 0.
    """
    if e.kind in LINEAR:
        rest = value(e[LINEAR[e.kind]])
        return {
            "stiffness": value(e["stiffness"]),
            "damping": value(e["damping"]),
            free: rest,
        }
    law, offset = _law(e), 1.0 if e.points else 0.0
    return {free: offset, function: lambda mbs, t, i, x, v, *rest: law(x + offset, v)}


def _turning(R: Array, tau: Array) -> Array:
    """Moment in the axes of frame a whose work on roll, pitch and yaw is that of τ."""
    yaw = np.arctan2(R[1, 0], R[0, 0])
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    E = np.array(
        [
            [np.cos(yaw) * np.cos(pitch), -np.sin(yaw), 0.0],
            [np.sin(yaw) * np.cos(pitch), np.cos(yaw), 0.0],
            [-np.sin(pitch), 0.0, 1.0],
        ]
    )
    return np.asarray(np.linalg.solve(E.T, tau))


def _law(e: ForceElement) -> Law:
    """Force against s and ṡ, as the page on force elements says; positive: it pulls together."""
    match e.kind:
        case "polynomial_spring_damper":
            ks, cs = ([value(x) for x in e[key]] for key in ("stiffness", "damping"))
            return lambda s, v: (
                sum(k * (s - e["free"]) ** n for n, k in enumerate(ks, 1))
                + sum(c * abs(v) ** (n - 1) * v for n, c in enumerate(cs, 1))
                - value(e["preload"])
            )
        case "piecewise_spring_damper":
            ks, cs = ([value(x) for x in e[key]] for key in ("stiffness", "damping"))

            def piecewise(s: float, v: float) -> float:
                total = -value(e["preload"])
                if ks:
                    x = np.array([s - e["free"]])
                    total += float(straight_lines(x, e["knots"], ks)[0][0])
                if cs:
                    total += float(straight_lines(np.array([v]), e["speed_knots"], cs)[0][0])
                return total

            return piecewise
        case "friction":
            return lambda s, v: _friction(e, v)
    raise NotImplementedError(f"{e.kind}: write its force down here, too")


def _friction(e: ForceElement, v: float) -> float:
    sign = np.tanh(v / e["smoothing"]) if e["smoothing"] else np.sign(v)
    side = value(e["coulomb_positive"] if v > 0 else e["coulomb_negative"])
    drop = value(e["stribeck"])
    if drop:
        drop *= np.exp(-((abs(v) / e["stribeck_speed"]) ** e["stribeck_exponent"]))
    return float(value(e["viscous"]) * v + (value(e["coulomb"]) + side + drop) * sign)
