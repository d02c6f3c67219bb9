"""Closing the loops from a rough start, and generic closed poses, in tree coordinates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mechid.errors import AssemblyError
from mechid.kinematics.compile import Compiled, Rigid
from mechid.kinematics.coordinates import joint_coordinates
from mechid.kinematics.kernels.dense import dense_rows
from mechid.kinematics.kernels.few import few
from mechid.kinematics.kernels.links import advance, place_links
from mechid.kinematics.tables import Floats
from mechid.kinematics.tree import SpanningTree
from mechid.mechanism.records import Frame, Mechanism

CLOSED = 1e-12  # dimensionless residual that counts as closed
_TRIES = 200


def reference_coordinates(mechanism: Mechanism, tree: SpanningTree, c: Compiled) -> Floats:
    """Return the tree coordinates that come nearest to the reference pose of the file."""
    q = np.zeros(c.n_q)
    for step in tree.joints:
        joint = step.joint
        a = Rigid.of(mechanism.body(joint.body_a).frame) @ Rigid.of(joint.frame_a)
        b = Rigid.of(mechanism.body(joint.body_b).frame) @ Rigid.of(joint.frame_b)
        relative = a.inverse @ b
        angles = joint.name in c.angles
        values = joint_coordinates(joint, relative.rotation, relative.translation, angles)
        for (name, index), place in c.coordinate.items():
            if name != joint.name:
                continue
            if place.ball:
                q[place.q : place.q + 4] = values[index : index + 4]
                if step.reverse:
                    q[place.q + 1 : place.q + 4] *= -1.0
            else:
                q[place.q] = values[index]
    return q


class Closed(NamedTuple):
    """A closed pose: tree coordinates, values of the rows, and their dimensionless Jacobian."""

    q: Floats
    values: Floats
    jacobian: Floats


def close(c: Compiled, start: Floats, where: str = "") -> Closed:
    """Return a closed pose near `start`: damped least-squares steps on the closure.

    No independent coordinate is held; every coordinate moves as little as it can.

    Raises
    ------
    AssemblyError
        If the residual cannot be brought to rounding; it names the joint that stays open, and
        `where`: the mechanism.
    """
    t = c.tables
    closure = t.rows.driver < 0
    q = start.copy()
    damping = 1e-3
    values, jacobian = dense_rows(c.for_kernels, q)
    error = (values * t.rows.scale)[closure]
    for _ in range(_TRIES):
        size = float(np.abs(error).max(initial=0.0))
        if size <= CLOSED:
            break
        J = jacobian[closure]
        if size < 1e-4:
            step = -np.linalg.lstsq(J, error, rcond=1e-10)[0]
        else:
            H = J.T @ J + damping * np.eye(c.n_v)
            step = -np.linalg.solve(H, J.T @ error)
        step *= min(1.0, 0.5 / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        trial = q.copy()
        few(advance, 1)(c.for_kernels, trial, step * t.columns.scale, 1.0)
        trial_values, trial_jacobian = dense_rows(c.for_kernels, trial)
        trial_error = (trial_values * t.rows.scale)[closure]
        if trial_error @ trial_error < error @ error:
            q, values, jacobian, error = trial, trial_values, trial_jacobian, trial_error
            damping = max(damping / 5, 1e-12)
        elif size < 1e-10:
            break  # rounding: no step improves it any more
        else:
            damping *= 4
            if damping > 1e12:
                break
    size = np.abs(error)
    if size.max(initial=0.0) > 1e-10:
        names = [name for name, closing in zip(c.row_names, closure, strict=True) if closing]
        worst = int(np.argmax(size))
        gap = float(size[worst] * c.size)
        place = names[worst].split(":")[0]
        raise AssemblyError(
            f"the loops cannot be closed from the reference pose: {place} stays open by about "
            f"{gap:.3g} m",
            where=where,
            remedy="check the lengths and points of its loop, or give a reference pose nearer to "
            "an assembled one",
        )
    return Closed(q, values, jacobian)


def refuse_reversed(mechanism: Mechanism, tree: SpanningTree, c: Compiled, q: Floats) -> None:
    """Raise if a cut joint was closed with an axis reversed, which its equations cannot tell.

    They hold products of directions at zero, and a half turn about the other axis does that too.
    """
    poses = link_poses(c, q)

    def placed(body: str, frame: Frame) -> Rigid:
        link, fixed = c.body_link[body]
        return poses[link] @ fixed @ Rigid.of(frame)

    for joint in tree.cut:
        a, b = placed(joint.body_a, joint.frame_a), placed(joint.body_b, joint.frame_b)
        R = (a.inverse @ b).rotation
        if any(R[k, k] < 0 for k in joint.kind.aligned):
            raise AssemblyError(
                f"joint {joint.name} closes only with its axis reversed",
                where=mechanism.name,
                remedy="reverse the axis in one of its two bodies, or turn the reference pose of a "
                "body so that the two axes point the same way",
            )


def link_poses(c: Compiled, q: Floats) -> list[Rigid]:
    """Return the pose of every link at given coordinates."""
    t = c.tables
    rotation, origin = np.zeros((t.links.size, 3, 3)), np.zeros((t.links.size, 3))
    rotation[0] = np.eye(3)
    axes = np.zeros((t.columns.size, 3))
    every = np.arange(t.links.size)
    few(place_links, 1)(c.for_kernels, every, 1, t.links.size, q, rotation, origin, axes)
    return [Rigid(R, p) for R, p in zip(rotation, origin, strict=True)]


def generic_pose(c: Compiled, start: Closed, rng: np.random.Generator) -> Closed:
    """Return a closed pose some way from `start`, reached along random admissible motions."""
    t = c.tables
    closure = t.rows.driver < 0
    pose = start
    for _ in range(4):
        J = pose.jacobian[closure]
        direction = rng.standard_normal(c.n_v)
        direction -= np.linalg.lstsq(J, J @ direction, rcond=1e-9)[0]
        size = float(np.abs(direction).max(initial=0.0))
        if size < 1e-9:
            return pose
        trial = pose.q.copy()
        few(advance, 1)(c.for_kernels, trial, direction / size * 0.03 * t.columns.scale, 1.0)
        pose = close(c, trial)
    return pose
