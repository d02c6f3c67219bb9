"""The observation matrix of several states in balls, stacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx

from mechid.errors import KinematicsError
from mechid.exact.branch import Branch
from mechid.exact.geometry import Geometry
from mechid.exact.observe import exact_gravity, measures, observe
from mechid.exact.poses import Enclosure, ExactSystem, enclose, exact_system, turns
from mechid.exact.rows import value
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Vec3
from mechid.spatial.rotations import quaternion_from_matrix

_SPREAD = 1e3  # how much farther than the gap poses and their columns may be off


@dataclass(frozen=True, eq=False)
class BallObservation:
    """W in balls.

    Attributes
    ----------
    W : list of arb_mat
        One (n_i, p) block per state.
    radius : float
        Largest radius of the enclosed poses (m, or Euler parameters).
    closure_error : float
        Largest value of the rows set aside as redundant, at the enclosed poses.
    aside : int
        How many rows were set aside.
    kept : tuple of int
        Numbers of the states. One whose pose cannot be enclosed (nearly singular), or is not shown
        to lie on the branch that is asked for, is left out.
    """

    W: list[arb_mat]
    radius: float
    closure_error: float
    aside: int
    kept: tuple[int, ...]


def ball_observation(
    geometry: Geometry,
    motion: Motion,
    gravity: Vec3,
    *,
    precision: int,
    branch: Branch | None = None,
    watch: Callable[[int], None] | None = None,
) -> BallObservation:
    """Enclose the poses of a solved motion, and return W at each of them.

    Raises
    ------
    KinematicsError
        If no pose can be enclosed, and shown to lie on the branch.
    """
    with ctx.workprec(precision):
        x = reference_poses(geometry, motion)
        system = exact_system(geometry, x[0] if branch is None else branch.x)
        found = measures(system)
        weight = exact_gravity(system, gravity)
        blocks, radius, error = [], 0.0, 0.0
        kept: list[int] = []
        for k in range(len(x)):
            try:
                pose = enclose(system, x[k], motion.y[k].tolist())
                if branch is not None:
                    branch.reach(pose, motion.y[k])
            except KinematicsError:
                if not kept and k == len(x) - 1:
                    raise
                continue
            kept.append(k)
            radius = max(radius, pose.radius)
            error = max(error, closure_gap(system, pose, motion.y[k].tolist()))
            W = observe(system, found, pose, motion.yd[k], motion.ydd[k], weight, motion.y[k])
            blocks.append(W)
            if watch is not None:
                watch(1)
        return BallObservation(blocks, radius, error, len(system.aside), tuple(kept))


def closure_gap(system: ExactSystem, pose: Enclosure, y: Sequence[float]) -> float:
    """Return the largest value of the rows set aside, at an enclosed pose."""
    near = turns(system, system.aside, pose.configuration, y)
    values = (value(pose.configuration, row, n) for row, n in zip(system.aside, near, strict=True))
    return max((float(x.abs_upper()) for x in values), default=0.0)


def closes(gap: float) -> bool:
    """Tell whether redundant rows hold as far as the context's precision can tell."""
    return gap < 2.0 ** (-ctx.prec // 2)


def widened(rows: list[list[arb]], gap: float) -> list[list[arb]]:
    """Return rows of W with balls that also hold those of the poses in which all loops close.

    The numbers of an overconstrained mechanism may be rounded, so that its redundant rows are open
    by a gap: poses are then known to some multiple of the gap only. Nothing changes where the
    redundant rows hold.
    """
    if closes(gap) or not rows:
        return rows
    radius = [
        _SPREAD * gap * max(float(x.abs_upper()) for x in column)
        for column in zip(*rows, strict=True)
    ]
    return [[x + arb(0, r) for x, r in zip(row, radius, strict=True)] for row in rows]


def reference_poses(geometry: Geometry, motion: Motion) -> Floats:
    """Return position and Euler parameters of the frames that the geometry uses, (N, 7 n_b)."""
    position, rotation = frame_poses(geometry, motion)
    e = quaternion_from_matrix(rotation)
    return np.concatenate([position, e], axis=-1).reshape(len(position), -1)


def frame_poses(geometry: Geometry, motion: Motion) -> tuple[Floats, Floats]:
    """Return origins (N, n_b, 3) and axes (N, n_b, 3, 3) of the frames that the geometry uses."""
    bodies = motion.bodies()
    position, rotation = bodies.position.copy(), bodies.rotation.copy()
    for i, body in enumerate(geometry.mechanism.bodies):
        if body.name in geometry.turned:
            R0, p0 = np.array(body.frame.rotation), np.array(body.frame.origin)
            rotation[:, i] = rotation[:, i] @ R0.T
            position[:, i] -= rotation[:, i] @ p0
    return position, rotation


def stacked(blocks: Sequence[arb_mat], rows: Sequence[int]) -> list[list[arb]]:
    """Return the chosen rows of all blocks, one below the other."""
    return [[W[i, j] for j in range(W.ncols())] for W in blocks for i in rows]
