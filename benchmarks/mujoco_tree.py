"""A mechanism with closed loops in MuJoCo: its spanning tree, closed by stiff `connect` equalities.

MuJoCo's constraints are soft; with the default stiffness loops open by millimetres. Here the time
constant is two steps, the impedance 0.9999, and the integrator RK4. A cut joint is closed as a
ball: enough for spherical joints, and for hinges of linkages that are plane anyway. Hinges of other
linkages are closed by two points of their axis.
"""

from __future__ import annotations

import mujoco
import numpy as np

from mechid.kinematics.compile import Rigid
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import GROUND, Body, PointCoordinate

Z, X = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
TYPES = mujoco.mjtJoint
KINDS = {
    "revolute": [(TYPES.mjJNT_HINGE, Z)],
    "prismatic": [(TYPES.mjJNT_SLIDE, Z)],
    "universal": [(TYPES.mjJNT_HINGE, Z), (TYPES.mjJNT_HINGE, X)],
    "spherical": [(TYPES.mjJNT_BALL, Z)],
}


class SoftPeer:
    """The tree of a mechanism with its closures, springs and dampers, for one step size."""

    def __init__(self, kinematics: KinematicModel, step: float) -> None:
        if kinematics.mechanism.constraints:
            raise NotImplementedError("constraints besides joints")
        self.kinematics, self.step = kinematics, step
        self.spec = mujoco.MjSpec()
        self.bodies = {GROUND: self.spec.worldbody}
        self.inside = {GROUND: Rigid(np.eye(3), np.zeros(3))}  # body frame in the frame of b
        self.places: list[tuple[str, int, int]] = []  # joint of MuJoCo, coordinate of ours, size
        self._set_options()
        self._add_bodies()
        self._add_closures()
        self._add_struts()
        self.main = self._add_main()
        self.model = self.spec.compile()
        self.moments = [
            (e.body, e["magnitude"].value * np.array(e.direction))
            for e in kinematics.mechanism.elements
            if e.kind == "moment"
        ]

    def simulate(self, y0: Floats, times: Floats, yd0: Floats | None = None) -> Floats:
        """Return the first independent coordinate at equidistant times, from ẏ0 or from rest."""
        model = self.model
        data = mujoco.MjData(model)
        yd0 = np.zeros_like(y0) if yd0 is None else yd0
        start = solve_motion(self.kinematics, y0[None], yd0[None], ordered=False)
        for name, at, n in self.places:
            first = model.joint(name).qposadr[0]
            data.qpos[first : first + n] = start.q[0, at : at + n]
            if n == 1:  # balls start at rest
                data.qvel[model.joint(name).dofadr[0]] = start.v[0, self.speed[at]]
        for body, moment in self.moments:
            data.xfrc_applied[model.body(body).id, 3:] = moment
        per_output = round((times[1] - times[0]) / self.step)
        found = [self._read(data)]
        for _ in times[1:]:
            mujoco.mj_step(model, data, per_output)
            found.append(self._read(data))
        return np.array(found)

    def _read(self, data: mujoco.MjData) -> float:
        if isinstance(self.main, str):
            return float(data.joint(self.main).qpos[0])
        mujoco.mj_kinematics(self.model, data)
        return float(data.site("main").xpos[self.main])

    def _set_options(self) -> None:
        option = self.spec.option
        option.gravity = self.kinematics.mechanism.gravity
        option.timestep = self.step
        option.integrator = mujoco.mjtIntegrator.mjINT_RK4
        option.solver = mujoco.mjtSolver.mjSOL_NEWTON
        option.tolerance, option.iterations = 1e-14, 200
        self.spec.compiler.inertiafromgeom = False

    def _add_bodies(self) -> None:
        mechanism, coordinate = self.kinematics.mechanism, self.kinematics.compiled.coordinate
        self.speed = {x.q: x.v for x in self.kinematics.compiled.coordinate.values()}
        for step in self.kinematics.tree.joints:
            joint = step.joint
            if step.reverse and joint.type != "revolute":
                raise NotImplementedError(f"joint {joint.name} is walked backwards")
            near, far = joint.frame_a, joint.frame_b
            if step.reverse:
                near, far = far, near
            place = self.inside[step.parent] @ Rigid.of(near)
            child = self.bodies[step.parent].add_body(
                name=step.child, pos=place.translation, quat=quaternion(place.rotation)
            )
            self.bodies[step.child] = child
            self.inside[step.child] = Rigid.of(far).inverse
            for i, (kind, axis) in enumerate(KINDS[joint.type]):
                axis = np.negative(axis) if step.reverse else axis
                child.add_joint(type=kind, axis=axis, name=f"{joint.name}_{i}")
                n = 4 if kind == TYPES.mjJNT_BALL else 1
                self.places.append((f"{joint.name}_{i}", coordinate[joint.name, i].q, n))
            set_inertia(child, mechanism.body(step.child), self.inside[step.child])

    def _site(self, name: str, body: str, local: object) -> None:
        own = self.inside[body]
        place = own.translation + own.rotation @ np.array(local)
        self.bodies[body].add_site(name=name, pos=place)

    def _add_closures(self) -> None:
        rows = " ".join(self.kinematics.redundant_rows)
        for joint in self.kinematics.tree.cut:
            # rotations that follow from the other joints need not be held
            plane = f"joint {joint.name}: x of a normal to z of b" in rows
            both = joint.type == "revolute" and not plane
            for i, off in enumerate((0.0, self.kinematics.size) if both else (0.0,)):
                names = [f"{joint.name} {i} a", f"{joint.name} {i} b"]
                frames = ((joint.body_a, joint.frame_a), (joint.body_b, joint.frame_b))
                for name, (body, frame) in zip(names, frames, strict=True):
                    axis = np.array(frame.rotation)[:, 2]
                    self._site(name, body, np.array(frame.origin) + off * axis)
                self.spec.add_equality(
                    type=mujoco.mjtEq.mjEQ_CONNECT,
                    objtype=mujoco.mjtObj.mjOBJ_SITE,
                    name1=names[0],
                    name2=names[1],
                    **self._stiff(),
                )

    def _stiff(self) -> dict[str, list[float]]:
        return {"solref": [2 * self.step, 1], "solimp": [0.9999, 0.9999, 0.001, 0.5, 2]}

    def _add_struts(self) -> None:
        for e in self.kinematics.mechanism.elements:
            if e.kind == "moment":
                continue
            if e.kind != "spring_damper":
                raise NotImplementedError(f"element {e.name}")
            tendon = self.spec.add_tendon(name=e.name)
            set_first(tendon, "stiffness", e["stiffness"].value or 0.0)
            set_first(tendon, "damping", e["damping"].value or 0.0)
            tendon.springlength = [e["free_length"].value or 0.0] * 2
            for end, point in zip("ab", e.points, strict=True):
                self._site(f"{e.name} {end}", point.body, point.local)
                tendon.wrap_site(f"{e.name} {end}")

    def _add_main(self) -> str | int:
        """Return the joint of the first coordinate, or the axis of the site 'main'."""
        c = self.kinematics.mechanism.coordinates[0]
        if isinstance(c, PointCoordinate):
            self._site("main", c.point.body, c.point.local)
            return c.direction.index(1.0)
        return f"{c.joint}_{c.index}"


def set_first(owner: object, name: str, value: float) -> None:
    """Set a coefficient, or the linear one where MuJoCo takes a polynomial."""
    if np.ndim(getattr(owner, name)):
        getattr(owner, name)[0] = value
    else:
        setattr(owner, name, value)


def set_inertia(child: object, body: Body, own: Rigid) -> None:
    """Give a body of MuJoCo, whose frame is that of its joint, the CAD inertia."""
    if body.inertia is None:
        raise NotImplementedError(f"body {body.name} without inertia")
    xx, xy, xz, yy, yz, zz = body.inertia.inertia_center
    full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    full = own.rotation @ full @ own.rotation.T
    child.mass = body.inertia.mass
    child.ipos = own.translation + own.rotation @ np.array(body.inertia.center)
    order = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    child.fullinertia = [full[i, j] for i, j in order]
    child.explicitinertial = True


def quaternion(rotation: Floats) -> Floats:
    """Return the unit quaternion of a rotation, scalar first."""
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, np.ascontiguousarray(rotation).ravel())
    return found
