"""Newton and Euler for every body, from the records: what acts on it, reactions included.

Only solved motions are used of the library, nothing of its dynamics.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechid.dynamics.inverse import InverseDynamics
from mechid.kinematics.compile import Rigid
from mechid.kinematics.frames import FrameMotion, frame_motion
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import (
    GROUND,
    DistanceCoordinate,
    JointCoordinate,
    Point,
    PointCoordinate,
)
from mechid.spatial.rotations import rpy_from_matrix

from ..contract.joint_table import about
from ..contract.states import joint_frames
from .virtual_power import VirtualPower, skew_part, tensor, value

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Push:
    """A force at a point and a moment on a body, (N, 3) each."""

    body: str
    at: Array
    force: Array
    moment: Array


def unbalanced(result: InverseDynamics) -> tuple[Array, float]:
    """Return what is left of force and moment about its origin on every body, and their scale.

    The shape is (N, n_b, 6); moments and, times the size of the mechanism, forces are compared with
    the scale.
    """
    motion = result.motion
    mechanism, frames = motion.model.mechanism, motion.bodies()
    numbers = {body.name: b for b, body in enumerate(mechanism.bodies)}
    left = np.zeros((len(motion.y), len(numbers), 6))
    scale = 0.0
    for push in (
        *_inertial(motion, frames),
        *_elements(motion),
        *_drives(result),
        *_joints(result),
        *_rods(result),
    ):
        if push.body != GROUND:
            b = numbers[push.body]
            left[:, b, :3] += push.force
            left[:, b, 3:] += push.moment + np.cross(push.at - frames.position[:, b], push.force)
        scale = max(scale, motion.model.size * np.abs(push.force).max(initial=0.0))
        scale = max(scale, np.abs(push.moment).max(initial=0.0))
    return left, float(scale)


def _inertial(motion: Motion, f: FrameMotion) -> Iterator[Push]:
    """Weight less what the motion takes, at the centre of mass."""
    mechanism = motion.model.mechanism
    for b, body in enumerate(mechanism.bodies):
        if body.inertia is None:
            continue
        R, w, alpha = f.rotation[:, b], f.omega[:, b], f.alpha[:, b]
        arm = R @ np.array(body.inertia.center)
        a = f.acceleration[:, b] + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        I = R @ tensor(body.inertia.inertia_center) @ np.swapaxes(R, 1, 2)  # noqa: E741
        spin = np.einsum("nij,nj->ni", I, w)
        moment = np.einsum("nij,nj->ni", I, alpha) + np.cross(w, spin)
        force = body.inertia.mass * (np.array(mechanism.gravity) - a)
        yield Push(body.name, f.position[:, b] + arm, force, -moment)


def _elements(motion: Motion) -> Iterator[Push]:
    laws = iter(VirtualPower(motion).laws)
    for e in motion.model.mechanism.elements:
        match e.kind:
            case "spring_damper":
                yield from _apart(motion, *e.points, -next(laws).force)
            case "torsion_spring" | "friction":
                yield from _on_joint(motion, *e.coordinates[0], -next(laws).force)
            case "polynomial_spring_damper" | "piecewise_spring_damper":
                force = -next(laws).force
                if e.points:
                    yield from _apart(motion, *e.points, force)
                else:
                    yield from _on_joint(motion, *e.coordinates[0], force)
            case "joint_force":
                force = np.full(len(motion.y), value(e["force"]))
                yield from _on_joint(motion, *e.coordinates[0], force)
            case "bushing":
                six = np.stack([-next(laws).force for _ in range(6)], axis=1)
                yield from _between_frames(motion, e.coordinates[0][0], six)
            case "transmission":
                for part in e.parts:
                    force = -next(laws).force
                    for (name, index), ratio in zip(e.coordinates, part.ratios, strict=True):
                        yield from _on_joint(motion, name, index, ratio * force)
            case "force" | "moment":
                at = _points(motion, *(e.points or (Point("", e.body, (0.0, 0.0, 0.0)),)))
                axes = _points(motion, Point("", e.axes_of, (0.0, 0.0, 0.0)))
                vector, none = (
                    value(e["magnitude"]) * axes.rotation[:, 0] @ np.array(e.direction),
                    np.zeros((len(motion.y), 3)),
                )
                both = (none, vector) if e.kind == "moment" else (vector, none)
                yield Push(e.body, at.position[:, 0], *both)
            case _:
                raise NotImplementedError(f"{e.kind}: write its wrenches down here, too")


def _drives(result: InverseDynamics) -> Iterator[Push]:
    motion = result.motion
    for c, force in zip(motion.model.mechanism.coordinates, result.tau.T, strict=True):
        match c:
            case JointCoordinate():
                yield from _on_joint(motion, c.joint, c.index, force)
            case DistanceCoordinate():
                yield from _apart(motion, c.point_a, c.point_b, force)
            case PointCoordinate():
                at = _points(motion, c.point).position[:, 0]
                push = force[:, None] * np.array(c.direction)
                yield Push(c.point.body, at, push, np.zeros_like(push))


def _joints(result: InverseDynamics) -> Iterator[Push]:
    found = result.reactions
    assert found is not None
    for j, joint in enumerate(result.motion.model.mechanism.joints):
        at = joint_frames(result.motion, joint.name).position[:, 1]
        yield Push(joint.body_b, at, found.force[:, j], found.moment[:, j])
        yield Push(joint.body_a, at, -found.force[:, j], -found.moment[:, j])


def _rods(result: InverseDynamics) -> Iterator[Push]:
    """Distance constraints push their points apart; what couplings do is in their joints."""
    found = result.reactions
    assert found is not None
    for c in result.motion.model.mechanism.distances:
        force = found.multipliers[:, found.constraints.index(c.name)]
        yield from _apart(result.motion, c.point_a, c.point_b, force)


def _points(motion: Motion, *points: Point) -> FrameMotion:
    frames = [(p.body, Rigid(np.eye(3), np.array(p.local))) for p in points]
    return frame_motion(motion.model, motion.q, motion.v, motion.vd, frames)


def _apart(motion: Motion, a: Point, b: Point, force: Array) -> Iterator[Push]:
    p = _points(motion, a, b).position
    n = p[:, 1] - p[:, 0]
    push = (force / np.linalg.norm(n, axis=1))[:, None] * n
    yield Push(b.body, p[:, 1], push, np.zeros_like(push))
    yield Push(a.body, p[:, 0], -push, np.zeros_like(push))


def _on_joint(motion: Motion, name: str, index: int, force: Array) -> Iterator[Push]:
    joint = motion.model.mechanism.joint(name)
    frames = joint_frames(motion, name)
    a, b = frames.rotation[:, 0], frames.rotation[:, 1]
    orientation = index - joint.kind.n_scalars
    if orientation >= 0:
        axis, turning = _angle_axes(a, b)[:, :, orientation], True
    else:
        step = joint.kind.step(index)
        axis, turning = (a, b)[step.on][:, :, step.axis], step.motion != "slide"
    push, none = force[:, None] * axis, np.zeros((len(force), 3))
    at = frames.position[:, 1]
    both = (none, push) if turning else (push, none)
    yield Push(joint.body_b, at, *both)
    yield Push(joint.body_a, at, *(-x for x in both))


def _between_frames(motion: Motion, name: str, six: Array) -> Iterator[Push]:
    """Forces along the axes of frame a at the origin of b; a moment with the power of the turns."""
    joint, frames = motion.model.mechanism.joint(name), joint_frames(motion, name)
    a, b = frames.rotation[:, 0], frames.rotation[:, 1]
    force = np.einsum("nij,nj->ni", a, six[:, :3])
    R = np.swapaxes(a, 1, 2) @ b
    # A turn e_k of b, seen from a, changes R by e_k × R; the moment is what its work asks for.
    local = np.stack(
        [
            np.einsum("ni,ni->n", skew_part(np.cross(unit, R, axisb=1, axisc=1)), six[:, 3:])
            for unit in np.eye(3)
        ],
        axis=1,
    )
    moment, at = np.einsum("nij,nj->ni", a, local), frames.position[:, 1]
    yield Push(joint.body_b, at, force, moment)
    yield Push(joint.body_a, at, -force, -moment)


def _angle_axes(a: Array, b: Array) -> Array:
    """Moments (columns) that do work on roll, pitch or yaw alone."""
    yaw = rpy_from_matrix(np.swapaxes(a, 1, 2) @ b)[:, 2]
    pitch_axis = (a @ about(2, yaw))[:, :, 1]
    axes = np.stack([b[:, :, 0], pitch_axis, a[:, :, 2]], axis=2)
    return np.asarray(np.swapaxes(np.linalg.inv(axes), 1, 2))
