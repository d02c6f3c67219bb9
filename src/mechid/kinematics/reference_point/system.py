"""A mechanism compiled to reference-point equations, and the poses of its bodies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from mechid.kinematics.couplings import coupling_constant, coupling_scale
from mechid.kinematics.reference_point.constraints import (
    Row,
    axis,
    body_numbers,
    constraint_rows,
    norm_rows,
    sense_rows,
    separation,
)
from mechid.kinematics.reference_point.drivers import apart, driver_rows, joint_coordinate_row
from mechid.kinematics.reference_point.evaluate import (
    Equations,
    compile_rows,
    jacobian,
    turn_angles,
    values,
)
from mechid.mechanism.records import Coupling, Mechanism, checked_mechanism
from mechid.mechanism.size import characteristic_size
from mechid.spatial.rotations import Array, matrix_from_quaternion, quaternion_from_matrix, skew


def coupling_rows(mechanism: Mechanism) -> tuple[Row, ...]:
    """Return one row per constraint, in the order of the mechanism."""
    numbers = body_numbers(mechanism)
    size = characteristic_size(mechanism)
    return tuple(
        _coupling_row(mechanism, c, numbers, size)
        if isinstance(c, Coupling)
        else Row(
            f"distance {c.name}",
            "",
            "distance",
            "distance",
            "m",
            apart(c, numbers),
            coefficient=c.length,
        )
        for c in mechanism.constraints
    )


def _coupling_row(
    mechanism: Mechanism, coupling: Coupling, numbers: dict[str, int], size: float
) -> Row:
    """Return the sum of coordinates, divided by its scale: dimensionless, of the order of one."""
    scale = coupling_scale(mechanism, coupling, size)
    terms = []
    for name, index, factor in coupling.terms:
        joint = mechanism.joint(name)
        row = joint_coordinate_row(f"{name} {index}", joint, index, numbers)
        if joint.kind.thread:  # its displacement counts the turns
            slide = separation(joint, numbers, axis(joint.frame_a, 2), numbers[joint.body_a])
            row = Row(row.name, name, "driver", "value", "m", (slide,), index=index)
            factor /= joint.pitch / (2 * np.pi)
        terms.append((row, scale * factor))
    return Row(
        f"coupling {coupling.name}",
        "",
        "coupling",
        "coupling",
        "-",
        tuple(p for row, _ in terms for p in row.products),
        coefficient=scale * coupling_constant(mechanism, coupling),
        terms=tuple(terms),
    )


@dataclass(frozen=True, eq=False)
class System:
    """The equations of a mechanism.

    Attributes
    ----------
    closure : Equations
        Rows of all joints and constraints, then the unit length of every quaternion.
    named : Equations
        Rows of all joints and constraints alone, points along the axes of frame a: what the row
        names mean.
    drivers : Equations
        One row per independent coordinate.
    sense : Equations
        Cosines that are +1 unless a joint was closed with its axis reversed.
    size : float
        Characteristic length L (m).
    """

    mechanism: Mechanism
    closure: Equations
    named: Equations
    drivers: Equations
    sense: Equations
    size: float

    @property
    def n_bodies(self) -> int:
        """Number of moving bodies."""
        return len(self.mechanism.bodies)

    @cached_property
    def q_scale(self) -> Array:
        """Units of the 7 n_b numbers: L for positions, 1 for Euler parameters."""
        return np.tile([self.size] * 3 + [1.0] * 4, self.n_bodies)

    @cached_property
    def turning(self) -> tuple[tuple[int, slice], ...]:
        """Closure rows that count full turns, and where their angles stand in `Pose.turns`."""
        rows = [(i, len(row.angles)) for i, row in enumerate(self.closure.rows) if row.angles]
        ends = np.cumsum([0, *(n for _, n in rows)]).tolist()
        return tuple((i, slice(a, b)) for (i, _), (a, b) in zip(rows, pairwise(ends), strict=True))

    @cached_property
    def centers(self) -> Array:
        """Mean of each body's joint origins, in its own frame, (n_b, 3)."""
        return joint_centers(self.mechanism)

    @property
    def turning_coordinates(self) -> tuple[tuple[str, int], ...]:
        """Joint and number of the coordinate that each entry of `Pose.turns` is."""
        return tuple(angle for row in self.closure.rows for angle in row.angles)


@dataclass(frozen=True, eq=False)
class Pose:
    """Positions and quaternions of all bodies.

    Attributes
    ----------
    q : (7 n_b,) array
        (p, e) of each body: m, and Euler parameters.
    turns : (n,) array
        Angle of each helical joint and of each coupled angle (rad), counted through full turns.
    """

    q: Array
    turns: Array

    @property
    def position(self) -> Array:
        """Origins of the body frames, (n_b, 3), m."""
        return self.q.reshape(-1, 7)[:, :3]

    @property
    def quaternion(self) -> Array:
        """Euler parameters, (n_b, 4)."""
        return self.q.reshape(-1, 7)[:, 3:]

    @property
    def rotation(self) -> Array:
        """Rotation matrices, (n_b, 3, 3)."""
        return matrix_from_quaternion(self.quaternion)


def compile_system(mechanism: Mechanism) -> System:
    """Write the equations of a mechanism."""
    mechanism = checked_mechanism(mechanism)
    n = len(mechanism.bodies)
    constraints = coupling_rows(mechanism)
    return System(
        mechanism=mechanism,
        closure=compile_rows(constraint_rows(mechanism) + constraints + norm_rows(mechanism), n),
        named=compile_rows(constraint_rows(mechanism, "joint") + constraints, n),
        drivers=compile_rows(driver_rows(mechanism), n),
        sense=compile_rows(sense_rows(mechanism), n),
        size=characteristic_size(mechanism),
    )


def reference_pose(system: System) -> Pose:
    """Return the rough pose of the records, not closed yet."""
    table = np.empty((system.n_bodies, 7))
    for row, body in zip(table, system.mechanism.bodies, strict=True):
        row[:3] = body.frame.origin
        row[3:] = quaternion_from_matrix(np.array(body.frame.rotation))
    q = table.ravel()
    return pose_at(system, q)


def pose_at(system: System, q: Array) -> Pose:
    """Return the pose of given numbers; turns are those that helical joints show, others none."""
    turns = [turn_angles(system.closure, q, i, None) for i, _ in system.turning]
    return Pose(q, np.concatenate([np.zeros(0), *turns]))


def moved(system: System, pose: Pose, q: Array) -> Pose:
    """Return the pose with new numbers, turning angles followed from the old one."""
    turns = [turn_angles(system.closure, q, i, pose.turns[at]) for i, at in system.turning]
    return Pose(q, np.concatenate([np.zeros(0), *turns]))


def closure_values(system: System, pose: Pose, q: Array | None = None) -> Array:
    """Return Φ at a pose, or at `q` nearby (turning angles then follow from the pose), (m,)."""
    near: list[Array | float] = [0.0] * len(system.closure.rows)
    for i, at in system.turning:
        near[i] = pose.turns[at]
    return values(system.closure, pose.q if q is None else q, near)


def coordinates(system: System, pose: Pose, near: Array | None = None) -> Array:
    """Return the independent coordinates of a pose, (n_i,), m or rad.

    Angles lie within π of `near` (default: zero), those of helical joints and coupled ones are
    counted through full turns.
    """
    target = np.zeros(len(system.drivers.rows)) if near is None else near.copy()
    turns = dict(zip(system.turning_coordinates, pose.turns.tolist(), strict=True))
    for i, row in enumerate(system.drivers.rows):
        target[i] = turns.get((row.joint, row.index), target[i])
    return values(system.drivers, pose.q, target)


def quaternion_rates(e: Array) -> Array:
    """Return E (n_b, 3, 4): ω = 2 E ė and ė = ½ Eᵀ ω, with ω in ground axes."""
    out = np.empty((*e.shape[:-1], 3, 4))
    out[..., 0] = -e[..., 1:]
    out[..., 1:] = e[..., :1, None] * np.eye(3) + skew(e[..., 1:])
    return out


def twist_map(system: System, pose: Pose) -> Array:
    """Return the matrix from twists (v/L, ω of each body) to q̇, shape (7 n_b, 6 n_b).

    v is the speed of the body point that lies amid the body's joints: the singular values of
    constraints then do not depend on where the body frame was put.
    """
    n = system.n_bodies
    out = np.zeros((n, 7, n, 6))
    each = np.arange(n)
    offsets = np.einsum("nij,nj->ni", pose.rotation, system.centers)
    out[each, :3, each, :3] = system.size * np.eye(3)
    out[each, :3, each, 3:] = skew(offsets)
    out[each, 3:, each, 3:] = 0.5 * np.swapaxes(quaternion_rates(pose.quaternion), 1, 2)
    return out.reshape(7 * n, 6 * n)


def twist_jacobian(system: System, equations: Equations, pose: Pose) -> Array:
    """Return the dimensionless Jacobian of rows with respect to twists, (m, 6 n_b)."""
    scaled: Array = equations.scale(system.size)[:, None] * jacobian(equations, pose.q)
    return scaled @ twist_map(system, pose)


def joint_centers(mechanism: Mechanism) -> Array:
    """Return the mean of each body's joint origins, in its own frame, (n_b, 3)."""
    numbers = body_numbers(mechanism)
    found: list[list[tuple[float, float, float]]] = [[] for _ in numbers]
    for joint in mechanism.joints:
        found[numbers[joint.body_a]].append(joint.frame_a.origin)
        found[numbers[joint.body_b]].append(joint.frame_b.origin)
    means = [np.mean(f, axis=0) if f else np.zeros(3) for f in found[:-1]]
    return np.array(means).reshape(-1, 3)
