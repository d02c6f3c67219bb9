"""Dynamics against other engines, and against numbers that two independent engines agree on."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import numpy.typing as npt
import pinocchio as pin
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters, observation_matrix
from mechid.dynamics.simulate import FORMULATIONS, Simulation, simulate
from mechid.kinematics.compile import Rigid
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, rates, solve_motion
from mechid.mechanism.records import GROUND, Mechanism
from mechid.modelfile import load
from mechid.spatial.rotations import matrix_from_quaternion

from ..contract.states import EPS, condition, random_course, solve_course
from ..dynamics.virtual_power import SIX, VirtualPower, tensor

Array = npt.NDArray[np.float64]

TREES = ["pendulum", "puma560@bare", "n_pendulum", "n_pendulum@plane"]
LOOPS = ["four_bar", "sla_suspension", "stewart_platform", "planar_3rrr", "delta", "three_rps"]
LOOPS += ["geared_gripper", "rssr_linkage"]


@cache
def bare(spec: str) -> tuple[Mechanism, Motion]:
    """A mechanism without force elements, along a random course."""
    mechanism = replace(load(spec), elements=())
    model = kinematic_model(mechanism)
    course = random_course(model, np.random.default_rng(1))
    return mechanism, solve_course(model, course, np.linspace(0, 5, 6))


# --------------------------------------------------------------------------- Pinocchio


class OnPinocchio:
    """The spanning tree as a Pinocchio model; joint frames of Pinocchio are b's joint frames.

    A joint that the tree walks backwards has the inverse motion: same axis, other sign, and the
    frames of its bodies change places.
    """

    def __init__(self, motion: Motion) -> None:
        self.motion, k = motion, motion.model
        self.model = pin.Model()
        self.model.gravity.linear = np.array(k.mechanism.gravity)
        self.body_in_joint = {GROUND: Rigid(np.eye(3), np.zeros(3))}
        self.number = {GROUND: 0}
        self.signs: list[float] = []
        self.balls: list[tuple[int, int]] = []  # our places in q and v
        self.steps: list[tuple[str, int, int]] = []  # kind, our place in q, in v
        for step in k.tree.joints:
            joint = step.joint
            start, end = Rigid.of(joint.frame_a), Rigid.of(joint.frame_b)
            sign = 1.0
            if step.reverse:
                start, end, sign = end, start, -1.0
            parent = step.parent
            placement = self.body_in_joint[parent] @ start
            kinds = {
                "revolute": [("RZ", 0)],
                "prismatic": [("PZ", 0)],
                "universal": [("RZ", 0), ("RX", 1)],
                "spherical": [("S", 0)],
                "cylindrical": [("RZ", 0), ("PZ", 1)],
            }[joint.type]
            here = self.number[parent]
            for kind, index in kinds[::-1] if step.reverse else kinds:
                make = {
                    "RZ": pin.JointModelRZ,
                    "RX": pin.JointModelRX,
                    "PZ": pin.JointModelPZ,
                    "S": pin.JointModelSpherical,
                }[kind]
                place = k.compiled.coordinate[joint.name, index]
                here = self.model.addJoint(here, make(), se3(placement), f"{joint.name}_{index}")
                self.steps.append((kind, place.q, place.v))
                self.signs.append(1.0 if kind == "S" else sign)
                placement = Rigid(np.eye(3), np.zeros(3))
            self.number[step.child] = here
            self.body_in_joint[step.child] = end.inverse

    def fill(self) -> None:
        """Give every joint the inertia of its body."""
        for body in self.motion.model.mechanism.bodies:
            c = body.inertia
            assert c is not None
            own = pin.Inertia(c.mass, np.array(c.center), tensor(c.inertia_center))
            place = se3(self.body_in_joint[body.name])
            self.model.appendBodyToJoint(self.number[body.name], own, place)

    def state(self, k: int) -> tuple[Array, Array, Array, Array]:
        """q, v, v̇ of Pinocchio and the matrix of its speeds by ours, at one sample.

        Its balls have quaternions with the scalar last, and speeds in the axes of the outer frame
        where ours are in those of the inner one; both have the same derivative rule, as ω × ω = 0.
        """
        q, T = [], np.zeros((self.model.nv, self.motion.v.shape[1]))
        at = 0
        for (kind, i, j), sign in zip(self.steps, self.signs, strict=True):
            if kind == "S":
                w, x, y, z = self.motion.q[k, i : i + 4]
                q += [x, y, z, w]
                T[at : at + 3, j : j + 3] = matrix_from_quaternion(np.array([w, x, y, z])).T
                at += 3
            else:
                q.append(sign * self.motion.q[k, i])
                T[at, j] = sign
                at += 1
        return np.array(q), T @ self.motion.v[k], T @ self.motion.vd[k], T


def se3(x: Rigid) -> pin.SE3:
    return pin.SE3(x.rotation, x.translation)


def moved(ten: Array, pose: Rigid) -> Array:
    """φ about another frame in which the body frame has this pose, by the pseudo-inertia."""
    inertia = tensor(ten[4:])
    J = np.zeros((4, 4))
    J[:3, :3] = np.trace(inertia) / 2 * np.eye(3) - inertia
    J[:3, 3] = J[3, :3] = ten[1:4]
    J[3, 3] = ten[0]
    H = np.eye(4)
    H[:3, :3], H[:3, 3] = pose.rotation, pose.translation
    J = H @ J @ H.T
    back = np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]
    return np.array([J[3, 3], *J[:3, 3], *(back[i, j] for i, j in SIX)])


# Pinocchio's order of the six: xx, xy, yy, xz, yz, zz.
PINOCCHIO_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


@pytest.mark.parametrize("spec", TREES)
def test_regressor_is_that_of_pinocchio(spec: str) -> None:
    _, motion = bare(spec)
    other = OnPinocchio(motion)
    other.fill()
    data = other.model.createData()
    W = observation_matrix(motion).W
    R = rates(motion).R
    for k in range(len(motion.y)):
        q, v, vd, T = other.state(k)
        theirs = pin.computeJointTorqueRegressor(other.model, data, q, v, vd)
        ours = (T @ R[k]).T @ np.atleast_2d(theirs)  # one joint: a plain vector
        for b, body in enumerate(motion.model.mechanism.bodies):
            pose = other.body_in_joint[body.name]
            change = np.array([moved(x, pose) for x in np.eye(10)]).T[PINOCCHIO_ORDER]
            first = 10 * (other.number[body.name] - 1)
            want = ours[:, first : first + 10] @ change
            found = W[k, :, 10 * b : 10 * b + 10]
            scale = np.abs(theirs).max() * (1 + np.abs(change).max())
            assert np.abs(found - want).max() <= 100 * EPS * scale, body.name


@pytest.mark.parametrize("spec", [*TREES, *LOOPS])
def test_inverse_dynamics_is_that_of_pinocchio(spec: str) -> None:
    """`rnea` on the tree, with our speeds and accelerations, projected on our admissible motions.

    The parts of the sum are large where the sum is small: rounding is relative to the parts.
    """
    mechanism, motion = bare(spec)
    other = OnPinocchio(motion)
    other.fill()
    data = other.model.createData()
    R = rates(motion).R
    o = observation_matrix(motion)
    tau = o.W @ cad_parameters(dynamic_model(mechanism)) + o.known
    bound, least = 100 * EPS * condition(motion), VirtualPower(motion).inverse.size
    for k in range(len(motion.y)):
        q, v, vd, T = other.state(k)
        project = (T @ R[k]).T
        forces = pin.rnea(other.model, data, q, v, vd)
        size = np.maximum(np.abs(project) @ np.abs(forces), least)
        assert np.all(np.abs(project @ forces - tau[k]) <= bound * size)


# --------------------------------------------------------------------------- MuJoCo


def on_mujoco(
    motion: Motion, attached: dict[str, tuple[float, Array, Array]] | None = None
) -> tuple[mujoco.MjModel, list[tuple[str, int, int, float]]]:
    """The spanning tree as a MuJoCo model, bodies with b's joint frames; closure left out.

    `attached` are mass, centre and central inertia (3, 3) of further bodies, in body frames.
    """
    k = motion.model
    spec = mujoco.MjSpec()
    spec.option.gravity = k.mechanism.gravity
    spec.compiler.inertiafromgeom = False
    bodies = {GROUND: spec.worldbody}
    inside = {GROUND: Rigid(np.eye(3), np.zeros(3))}
    steps: list[tuple[str, int, int, float]] = []
    for step in k.tree.joints:
        joint = step.joint
        start, end, sign = Rigid.of(joint.frame_a), Rigid.of(joint.frame_b), 1.0
        if step.reverse:
            start, end, sign = end, start, -1.0
        place = inside[step.parent] @ start
        child = bodies[step.parent].add_body(
            name=step.child, pos=place.translation, quat=quaternion(place.rotation)
        )
        bodies[step.child], inside[step.child] = child, end.inverse
        names = {"turn": "hinge"}
        kinds = [
            (names.get(s.motion, s.motion), index, np.eye(3)[s.axis])
            for index, s in joint.kind.numbered
        ]
        for kind, index, axis in kinds[::-1] if step.reverse else kinds:
            types = mujoco.mjtJoint
            number = {
                "hinge": types.mjJNT_HINGE,
                "slide": types.mjJNT_SLIDE,
                "ball": types.mjJNT_BALL,
            }[kind]
            child.add_joint(type=number, axis=axis, name=f"{joint.name}_{index}")
            at = k.compiled.coordinate[joint.name, index]
            steps.append((f"{joint.name}_{index}", at.q, at.v, 1.0 if kind == "ball" else sign))
        c = k.mechanism.body(step.child).inertia
        assert c is not None
        own = inside[step.child]
        full = own.rotation @ tensor(c.inertia_center) @ own.rotation.T
        child.mass = c.mass
        child.ipos = own.translation + own.rotation @ np.array(c.center)
        child.fullinertia = [
            full[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        ]
        child.explicitinertial = True
    for name, (mass, center, inertia) in (attached or {}).items():
        own = inside[name]
        more = bodies[name].add_body(pos=own.translation, quat=quaternion(own.rotation))
        more.mass, more.ipos = mass, center
        more.fullinertia = [
            inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        ]
        more.explicitinertial = True
    return spec.compile(), steps


def quaternion(R: Array) -> Array:
    """Unit quaternion of a rotation, by the eigenvector of its largest eigenvalue."""
    Q = pin.Quaternion(R)
    return np.array([Q.w, Q.x, Q.y, Q.z])


@pytest.mark.parametrize("spec", ["puma560@bare", "four_bar", "sla_suspension", "delta"])
def test_inverse_dynamics_is_that_of_mujoco(spec: str) -> None:
    """`mj_inverse` on the tree, projected; balls have speeds in the outer axes."""
    mechanism, motion = bare(spec)
    model, steps = on_mujoco(motion)
    data = mujoco.MjData(model)
    R = rates(motion).R
    o = observation_matrix(motion)
    tau = o.W @ cad_parameters(dynamic_model(mechanism)) + o.known
    size, bound = VirtualPower(motion).inverse.size, 100 * EPS * condition(motion)
    for k in range(len(motion.y)):
        T = np.zeros((model.nv, motion.v.shape[1]))
        for name, i, j, sign in steps:
            joint = model.joint(name)
            a, b = int(joint.qposadr[0]), int(joint.dofadr[0])
            if joint.type[0] == mujoco.mjtJoint.mjJNT_BALL:
                e = motion.q[k, i : i + 4]
                data.qpos[a : a + 4] = e
                T[b : b + 3, j : j + 3] = matrix_from_quaternion(e).T
            else:
                data.qpos[a] = sign * motion.q[k, i]
                T[b, j] = sign
        data.qvel[:], data.qacc[:] = T @ motion.v[k], T @ motion.vd[k]
        mujoco.mj_inverse(model, data)
        found = (T @ R[k]).T @ data.qfrc_inverse
        assert np.all(np.abs(found - tau[k]) <= bound * size)


# --------------------------------------------------------------------------- published examples

# Angle of the first bar at 1, 2, 3 and 4 s, as two independent multibody engines give it.
EXAMPLES = {
    "four_bar@example-1": (0.884094348, 1.162501991, 1.590886006, 2.167943075),
    "four_bar@example-2": (-1.334765597, -4.045094565, -1.066312311, 0.772350138),
    "planar_3rrr@example-4": (1.101891515, 1.248428562, 1.459513252, 1.733233749),
}


def run(spec: str, times: Array, **options: object) -> Simulation:
    return simulate(load(spec), times, rtol=1e-10, atol=1e-12, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("spec", EXAMPLES)
def test_published_examples(spec: str, formulation: str) -> None:
    """Tables of two engines with nine decimals; 1e-7 leaves room for their own step sizes."""
    slow = formulation == "augmented"  # hundredths of a second per evaluation: the first second
    times = np.arange(2.0 if slow else 5.0)
    found = run(spec, times, formulation=formulation)
    assert found.y[1:, 0] == pytest.approx(EXAMPLES[spec][: len(times) - 1], abs=1e-7)
    assert found.constraint_error.max() < 1e-12


def test_falling_four_bar_keeps_its_energy() -> None:
    """Example II, 30 s."""
    found = run("four_bar@example-2", np.linspace(0, 30, 301))
    assert np.abs(found.energy_error).max() < 1e-8 * np.ptp(found.kinetic)


def test_driven_four_bar_turns_evenly() -> None:
    """Example III: the torque for 1 rad/s by inverse dynamics, fed back without any control."""
    model = dynamic_model(load("four_bar@example-3"))
    phi = cad_parameters(model)
    one = np.ones((1, 1))

    def torque(t: float, y: Array, yd: Array) -> Array:
        motion = solve_motion(model.kinematics, one * (0.785 + t), one, 0 * one, ordered=False)
        o = observation_matrix(motion, model)
        return np.asarray(o.W[0] @ phi + o.known[0])

    times = np.linspace(0, 3, 13)
    found = simulate(model, times, forces=torque, rtol=1e-10, atol=1e-12)
    assert np.abs(found.tau).max() > 0.1
    assert found.y[:, 0] == pytest.approx(0.785 + times, abs=1e-7)
    assert found.yd[:, 0] == pytest.approx(np.ones(13), abs=1e-7)
