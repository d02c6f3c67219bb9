"""A robot file read by MuJoCo and by Pinocchio, moved as mechid says, compared with mechid.

The engines know the tree of the file only. Loops and couplings are closed by mechid, whose motion
of all joints is put into them; forces are compared along admissible motions, where constraint
forces do no work: τ = Sᵀ τ_tree, with v_tree = S ẏ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from mechid.dynamics.inverse import inverse_dynamics
from mechid.importing.api import ImportedModel
from mechid.kinematics.joints import JointMotion, joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import Mechanism
from mechid.spatial.rotations import matrix_from_quaternion

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Errors:
    """Largest differences: positions and rotations of bodies, forces and mass matrix, relative."""

    place: float
    forces: float
    mass: float


def states(mechanism: Mechanism, n: int, spread: float, seed: int = 1) -> tuple[Motion, Motion]:
    """Return a motion of n random samples, and one with unit speeds and accelerations.

    The second has, for each of the samples, one at rest, then one per coordinate with the unit
    speed and one per coordinate at rest with the unit acceleration.
    """
    rng = np.random.default_rng(seed)
    model = kinematic_model(mechanism)
    m = model.n_independent
    y = model.home_y + rng.uniform(-spread, spread, (n, m))
    moving = solve_motion(
        model, y, rng.uniform(-1, 1, (n, m)), rng.uniform(-2, 2, (n, m)), ordered=False
    )
    eye, zero = np.eye(m), np.zeros((m, m))
    yd = np.tile(np.concatenate([np.zeros((1, m)), eye, zero]), (n, 1))
    ydd = np.tile(np.concatenate([np.zeros((1, m)), zero, eye]), (n, 1))
    units = solve_motion(model, np.repeat(y, 2 * m + 1, axis=0), yd, ydd, ordered=False)
    return moving, units


def compare(
    found: ImportedModel, engine: Engine, n: int = 3, spread: float = 0.4, elements: bool = False
) -> Errors:
    """Return how far mechid and an engine are apart, in random states."""
    mechanism = found.mechanism
    if not elements:
        rotors = [e for e in mechanism.elements if e.kind == "transmission"]
        mechanism = replace(mechanism, elements=tuple(rotors if engine.rotors else ()))
    moving, units = states(mechanism, n, spread)
    names = {new: old for what, old, new in found.renamed if what == "joint"}
    tree = [j for j in mechanism.joints if names.get(j.name, j.name) in engine.joints]
    m = len(mechanism.coordinates)

    def tree_motion(motion: Motion) -> dict[str, JointMotion]:
        return {names.get(j.name, j.name): joint_motion(motion, j.name) for j in tree}

    a, b = tree_motion(moving), tree_motion(units)
    tau = inverse_dynamics(moving).tau
    tau_unit = inverse_dynamics(units).tau
    place = forces = mass = 0.0
    bodies = moving.bodies()
    body_names = {new: old for what, old, new in found.renamed if what == "body"}
    for k in range(n):
        first = k * (2 * m + 1)
        S = np.stack([engine.state(b, first + 1 + i)[1] for i in range(m)], axis=1)
        q, v, vd = engine.state(a, k)
        theirs = S.T @ engine.inverse(q, v, vd)
        scale = max(float(np.abs(theirs).max()), 1e-9)
        forces = max(forces, float(np.abs(tau[k] - theirs).max()) / scale)
        M = S.T @ engine.mass_matrix(q) @ S
        ours = tau_unit[first + 1 + m : first + 1 + 2 * m] - tau_unit[first]
        mass = max(mass, float(np.abs(ours.T - M).max()) / float(np.abs(M).max()))
        engine.inverse(q, v, vd)
        for i, body in enumerate(mechanism.bodies):
            at = engine.place(body_names.get(body.name, body.name))
            if at is not None:
                place = max(
                    place,
                    float(np.abs(bodies.position[k, i] - at[0]).max()),
                    float(np.abs(bodies.rotation[k, i] - at[1]).max()),
                )
    return Errors(place, forces, mass)


class Engine:
    """What a comparison asks of an engine."""

    joints: set[str]
    rotors = False
    state: Callable[[dict[str, JointMotion], int], tuple[Array, Array, Array]]
    inverse: Callable[[Array, Array, Array], Array]
    mass_matrix: Callable[[Array], Array]
    place: Callable[[str], tuple[Array, Array] | None]


class OnPinocchio(Engine):
    """A URDF in Pinocchio; `free`: on a floating base."""

    def __init__(self, path: Path, free: bool = False) -> None:
        arguments = (str(path), pin.JointModelFreeFlyer()) if free else (str(path),)
        self.model = pin.buildModelFromUrdf(*arguments)
        self.data = self.model.createData()
        self.names = list(self.model.names)[1:]
        self.base = self.names[0] if free else ""
        self.joints = {"base" if name == self.base else name for name in self.names}

    def state(self, motions: dict[str, JointMotion], k: int) -> tuple[Array, Array, Array]:
        q, v, a = pin.neutral(self.model), np.zeros(self.model.nv), np.zeros(self.model.nv)
        for i, name in enumerate(self.names, start=1):
            joint, m = self.model.joints[i], motions["base" if name == self.base else name]
            c, s, d = m.coordinates[k], m.speeds[k], m.accelerations[k]
            iq, iv = joint.idx_q, joint.idx_v
            if joint.nq == 1:
                q[iq], v[iv], a[iv] = c[0], s[0], d[0]
            elif joint.nv == 1:  # continuous: cosine and sine
                q[iq : iq + 2], v[iv], a[iv] = [np.cos(c[0]), np.sin(c[0])], s[0], d[0]
            elif joint.nv == 3:  # planar: velocities in the moving axes
                co, si = np.cos(c[2]), np.sin(c[2])
                Rt = np.array([[co, si], [-si, co]])
                u = Rt @ s[:2]
                q[iq : iq + 4] = [c[0], c[1], co, si]
                v[iv : iv + 3] = [*u, s[2]]
                a[iv : iv + 3] = [*(Rt @ d[:2] - s[2] * np.array([-u[1], u[0]])), d[2]]
            else:
                Rt = matrix_from_quaternion(c[3:]).T
                u, w = Rt @ s[:3], Rt @ s[3:]
                q[iq : iq + 7] = [*c[:3], *c[[4, 5, 6, 3]]]
                v[iv : iv + 6] = [*u, *w]
                a[iv : iv + 6] = [*(Rt @ d[:3] - np.cross(w, u)), *(Rt @ d[3:])]
        return q, v, a

    def inverse(self, q: Array, v: Array, a: Array) -> Array:
        tau = np.array(pin.rnea(self.model, self.data, q, v, a))
        pin.framesForwardKinematics(self.model, self.data, q)
        return tau

    def mass_matrix(self, q: Array) -> Array:
        M = np.triu(pin.crba(self.model, self.data, q))
        return np.asarray(M + np.triu(M, 1).T)

    def place(self, body: str) -> tuple[Array, Array] | None:
        if not self.model.existBodyName(body):
            return None
        at = self.data.oMf[self.model.getBodyId(body)]
        return np.array(at.translation), np.array(at.rotation)


class OnMujoco(Engine):
    """An MJCF in MuJoCo, without contacts and constraints; springs and dampers on request."""

    rotors = True

    def __init__(self, model: mujoco.MjModel, passive: bool = False) -> None:
        off = mujoco.mjtDisableBit
        model.opt.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_ACTUATION
        if not passive:
            model.opt.disableflags |= off.mjDSBL_SPRING | off.mjDSBL_DAMPER
        self.model, self.data = model, mujoco.MjData(model)
        self.names = [model.joint(i).name or self._unnamed(i) for i in range(model.njnt)]
        self.joints = set(self.names)

    def _unnamed(self, i: int) -> str:
        body = self.model.body(self.model.jnt_bodyid[i])
        return f"{body.name}_joint"

    def state(self, motions: dict[str, JointMotion], k: int) -> tuple[Array, Array, Array]:
        q, v, a = self.model.qpos0.copy(), np.zeros(self.model.nv), np.zeros(self.model.nv)
        for i, name in enumerate(self.names):
            if name not in motions:  # locked by the import
                continue
            m, iq, iv = motions[name], self.model.jnt_qposadr[i], self.model.jnt_dofadr[i]
            c, s, d = m.coordinates[k], m.speeds[k], m.accelerations[k]
            n = {0: 3, 1: 0}.get(int(self.model.jnt_type[i]))
            if n is None:
                q[iq], v[iv], a[iv] = c[0], s[0], d[0]
                continue
            Rt = matrix_from_quaternion(c[n:]).T  # angular speeds in the axes of the body
            q[iq : iq + n + 4] = c
            v[iv : iv + n + 3] = [*s[:n], *(Rt @ s[n:])]
            a[iv : iv + n + 3] = [*d[:n], *(Rt @ d[n:])]
        return q, v, a

    def inverse(self, q: Array, v: Array, a: Array) -> Array:
        self.data.qpos[:], self.data.qvel[:], self.data.qacc[:] = q, v, a
        mujoco.mj_inverse(self.model, self.data)
        return np.array(self.data.qfrc_inverse)

    def mass_matrix(self, q: Array) -> Array:
        self.data.qpos[:] = q
        mujoco.mj_forward(self.model, self.data)
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M

    def place(self, body: str) -> tuple[Array, Array] | None:
        number = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, body)
        if number < 0:
            return None
        return self.data.xpos[number].copy(), self.data.xmat[number].reshape(3, 3).copy()


def without_meshes(path: Path) -> mujoco.MjModel:
    """An MJCF in MuJoCo without pictures and without geoms that are meshes."""
    root = ElementTree.parse(path).getroot()
    for parent in list(root.iter()):
        for child in list(parent):
            mesh = child.tag == "geom" and child.get("mesh") is not None
            if mesh or (child.tag == "asset" and parent is root):
                parent.remove(child)
            child.attrib.pop("material", None)
    for default in root.iter("default"):  # a class of geoms must not ask for a mesh
        for geom in default.findall("geom"):
            if geom.get("type") == "mesh":
                del geom.attrib["type"]
        for mesh in default.findall("mesh"):
            default.remove(mesh)
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
