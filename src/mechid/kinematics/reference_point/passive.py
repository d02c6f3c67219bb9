"""Passive motions: parts that can spin between spherical joints without moving anything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.kinematics.reference_point.constraints import body_numbers
from mechid.kinematics.reference_point.system import Pose, System, joint_centers, twist_jacobian
from mechid.mechanism.parts import ball_parts
from mechid.mechanism.records import Joint
from mechid.spatial.rotations import Array

# Relative to L: centres nearer than this coincide, centres this near to a line lie on it.
COINCIDENT = 1e-9


@dataclass(frozen=True, eq=False)
class Spin:
    """A passive motion: the bodies that spin, the joints they hang on, and the unit twist.

    `twist` (6 n_b,) is in the units of `twist_jacobian`, of unit length.
    """

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    twist: Array

    @property
    def words(self) -> str:
        """Say it."""
        verb = "spins" if len(self.bodies) == 1 else "spin together"
        return f"{_listed(self.bodies)} {verb} about the line through joints {_listed(self.joints)}"


def passive_spins(system: System, poses: Sequence[Pose]) -> tuple[Spin, ...]:
    """Find the parts hung between spherical joints on one line; twists are for the last pose.

    A part is what hangs together when all spherical joints are opened. It spins freely if it is
    not part of the ground, if the centres of its spherical joints are at least two different
    points, and if these lie on one line in all the poses. One centre alone leaves real freedom,
    not a passive one.
    """
    spins = []
    for part in ball_parts(system.mechanism):
        bodies, joints = part.bodies, part.holders
        lines = [_line(_centers(system, pose, bodies, joints), system.size) for pose in poses]
        if any(line is None for line in lines) or lines[-1] is None:
            continue
        twist = _twist(system, poses[-1], bodies, *lines[-1])
        left = twist_jacobian(system, system.named, poses[-1]) @ twist
        if np.max(np.abs(left), initial=0.0) < COINCIDENT:
            spins.append(Spin(bodies, tuple(j.name for j in joints), twist))
    return tuple(spins)


def _centers(
    system: System, pose: Pose, bodies: tuple[str, ...], joints: tuple[Joint, ...]
) -> Array:
    """Return the centres of the joints in the ground frame, (n, 3)."""
    numbers = body_numbers(system.mechanism)
    points = []
    for joint in joints:
        inside = joint.body_a in bodies
        k = numbers[joint.body_a if inside else joint.body_b]
        local = np.array((joint.frame_a if inside else joint.frame_b).origin)
        points.append(pose.position[k] + pose.rotation[k] @ local)
    return np.array(points).reshape(-1, 3)


def _line(points: Array, size: float) -> tuple[Array, Array] | None:
    """Return a point and the direction of the line through all points, if there is just one."""
    if len(points) < 2:
        return None
    arms = points - points[0]
    far = arms[np.argmax(np.linalg.norm(arms, axis=-1))]
    length = np.linalg.norm(far)
    if length < COINCIDENT * size:
        return None
    n = far / length
    if np.max(np.linalg.norm(np.cross(arms, n), axis=-1)) > COINCIDENT * size:
        return None
    return points[0], n


def _twist(
    system: System, pose: Pose, bodies: tuple[str, ...], point: Array, direction: Array
) -> Array:
    numbers = body_numbers(system.mechanism)
    centers = joint_centers(system.mechanism)
    table = np.zeros((system.n_bodies, 6))
    for name in bodies:
        k = numbers[name]
        center = pose.position[k] + pose.rotation[k] @ centers[k]
        table[k, :3] = np.cross(direction, center - point) / system.size
        table[k, 3:] = direction
    return np.asarray(table.ravel() / np.linalg.norm(table))


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
