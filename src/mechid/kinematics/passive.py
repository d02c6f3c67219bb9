"""Parts hung between spherical joints only, which can spin without moving anything else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.kinematics.mobility import generic_poses
from mechid.kinematics.reference_point.passive import passive_spins
from mechid.kinematics.reference_point.system import compile_system
from mechid.kinematics.tables import Floats
from mechid.mechanism.parts import ball_parts
from mechid.mechanism.records import Joint, JointCoordinate, Mechanism, Vec3


@dataclass(frozen=True)
class PassivePart:
    """A part that spins about the line through its spherical joints.

    `inside` (in the part) and `outside` are the bodies that the first of these joints connects;
    the two directions are fixed in them and normal to the line and to each other in the reference
    pose. Holding them normal holds the spin, as a universal joint instead of the ball would.
    """

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    inside: str
    outside: str
    direction_inside: Vec3
    direction_outside: Vec3


def passive_parts(mechanism: Mechanism) -> tuple[PassivePart, ...]:
    """Find the parts that are attached to the rest by spherical joints on one line.

    Where the whole orientation of one of these joints is declared as independent coordinates, as in
    an open chain of balls, they drive the spin, and nothing must hold it.
    """
    parts = []
    for part in ball_parts(mechanism):
        bodies, holders = part.bodies, part.holders
        if len(holders) < 2 or any(_driven(mechanism, j) for j in holders):
            continue
        centers = np.array([_center(mechanism, j, bodies) for j in holders])
        arms = centers - centers[0]
        lengths = np.linalg.norm(arms, axis=1)
        longest = int(np.argmax(lengths))
        if lengths[longest] == 0:
            continue
        line = arms[longest] / lengths[longest]
        off = np.linalg.norm(np.cross(arms, line), axis=1)
        if np.any(off > 1e-9 * lengths[longest]):
            continue
        inside = {j.body_a if j.body_a in bodies else j.body_b for j in holders}
        doubtful = part.guides or (len(holders) > 2 and len(inside) > 1)
        if doubtful and not _always_spins(mechanism, bodies):
            continue  # on one line in the reference pose only, or held by a guide
        parts.append(_part(mechanism, bodies, holders, line))
    return tuple(parts)


def _driven(mechanism: Mechanism, joint: Joint) -> bool:
    """Tell whether the whole orientation of a joint is independent coordinates."""
    declared = {
        c.index
        for c in mechanism.coordinates
        if isinstance(c, JointCoordinate) and c.joint == joint.name
    }
    return declared >= set(range(joint.kind.n_scalars, joint.kind.n_speeds))


def _always_spins(mechanism: Mechanism, bodies: tuple[str, ...]) -> bool:
    """Tell whether a part of several bodies spins in generic poses too."""
    system = compile_system(mechanism)
    poses = [generic.pose for generic in generic_poses(system)]
    return any(spin.bodies == bodies for spin in passive_spins(system, poses))


def _center(mechanism: Mechanism, joint: Joint, bodies: tuple[str, ...]) -> Floats:
    body, frame = (
        (joint.body_a, joint.frame_a) if joint.body_a in bodies else (joint.body_b, joint.frame_b)
    )
    pose = mechanism.body(body).frame
    center: Floats = np.array(pose.origin) + np.array(pose.rotation) @ np.array(frame.origin)
    return center


def _part(
    mechanism: Mechanism, bodies: tuple[str, ...], holders: tuple[Joint, ...], line: Floats
) -> PassivePart:
    first = holders[0]
    inside, outside = first.body_b, first.body_a
    if first.body_a in bodies:
        inside, outside = outside, inside
    helper = np.eye(3)[int(np.argmin(np.abs(line)))]
    across = np.cross(line, helper)
    across /= np.linalg.norm(across)
    third = np.cross(line, across)
    return PassivePart(
        bodies,
        tuple(j.name for j in holders),
        inside,
        outside,
        _local(mechanism, inside, third),
        _local(mechanism, outside, across),
    )


def _local(mechanism: Mechanism, body: str, vector: Floats) -> Vec3:
    x, y, z = np.array(mechanism.body(body).frame.rotation).T @ vector
    return (float(x), float(y), float(z))
