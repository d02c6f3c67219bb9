"""Closing the loops: Levenberg-Marquardt on all rows at once, and assembly from a rough pose.

Rows may be redundant and motions may be free, so steps are the shortest ones. The damping goes to
zero with the square of the residual: the method converges quadratically to the manifold of closed
poses even where the Jacobian has neither full row nor full column rank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.errors import AssemblyError
from mechid.kinematics.reference_point.evaluate import jacobian, values
from mechid.kinematics.reference_point.system import (
    Pose,
    System,
    closure_values,
    compile_system,
    moved,
    reference_pose,
)
from mechid.mechanism.records import Mechanism
from mechid.spatial.rotations import Array

EPS = float(np.finfo(float).eps)
# Rows are sums of a dozen terms of the order of one.
CLOSED = 128 * EPS
HALF_CLOSED = np.sqrt(EPS)
MAX_ITERATIONS = 200
RESTARTS = 6


@dataclass(frozen=True, eq=False)
class Closing:
    """Outcome of one solution: the pose, its largest dimensionless residual, and success."""

    pose: Pose
    residual: float
    closed: bool


def close(
    system: System, start: Pose, y: Array | None = None, patience: int = MAX_ITERATIONS
) -> Closing:
    """Move a pose to the nearest closed one; with `y` (n_i,), to one with these coordinates.

    "Nearest" as Gauss-Newton understands it: every step is the shortest that closes the
    linearised equations, lengths in units of L. Given up where `patience` iterations do not halve
    the residual.
    """
    scale = system.q_scale
    pose = start
    r = _residual(system, pose, pose.q, y)
    cost = float(np.linalg.norm(r))
    floor = CLOSED * (1 + float(np.max(np.abs(pose.position), initial=0.0)) / system.size)
    damping = 1.0
    halved, last = cost, 0
    for k in range(MAX_ITERATIONS):
        if cost <= halved / 2:
            halved, last = cost, k
        elif k - last >= patience:
            break
        if cost <= EPS:  # rows are of the order of one
            break
        J = _jacobian(system, pose, y) * scale
        before = cost
        while damping < 1 / EPS:
            step = -J.T @ damped_solution(J, r, damping * before**2)
            q = pose.q + scale * step
            trial = _residual(system, pose, q, y)
            if np.linalg.norm(trial) < before:
                cost, r, pose = float(np.linalg.norm(trial)), trial, moved(system, pose, q)
                damping = max(damping / 10, EPS)
                break
            if before < floor:  # rounding: no step can do better
                break
            damping = max(10 * damping, 1e-6 / before**2)
        if cost >= before or (before < floor and cost > before / 2):
            break
        # From half of the digits on, the step that closes leaves nothing but rounding.
        if cost <= floor and before <= HALF_CLOSED:
            break
        # A minimum that is not zero: the gradient of the squared residual has vanished.
        if cost > floor and np.linalg.norm(J.T @ r) < np.sqrt(EPS) * cost:
            break
    residual = float(np.max(np.abs(r), initial=0.0))
    return Closing(pose, residual, residual <= floor)


def damped_solution(J: Array, r: Array, damping: float) -> Array:
    """Solve (J Jᵀ + λ 1) x = r; Jᵀ x is then the shortest (damped) solution of J s = r.

    λ has a floor far above the rounding of J Jᵀ, so that redundant rows do no harm, and far below
    the squares of genuine singular values.
    """
    A = J @ J.T
    diagonal = A.reshape(-1)[:: len(A) + 1]
    diagonal += damping + 1e3 * EPS * diagonal.max(initial=EPS)
    return np.asarray(np.linalg.solve(A, r), dtype=float)


def assemble(mechanism: Mechanism | System, rng: np.random.Generator | None = None) -> Pose:
    """Close the mechanism from its rough reference pose, moving it as little as possible.

    Parameters
    ----------
    mechanism : Mechanism or System
    rng : Generator, optional
        Source of the disturbances with which a start that leads nowhere is tried again (default:
        a fixed seed, so that assembly is repeatable).

    Raises
    ------
    AssemblyError
        Naming the joint that stays open, and by how much.
    """
    system = mechanism if isinstance(mechanism, System) else compile_system(mechanism)
    rng = np.random.default_rng(0) if rng is None else rng
    start = reference_pose(system)
    first = close(system, start)
    attempt = first
    for k in range(RESTARTS):
        if attempt.closed and not flipped_joints(system, attempt.pose):
            return attempt.pose
        noise = system.q_scale * rng.standard_normal(start.q.shape)
        attempt = close(system, moved(system, start, start.q + 0.01 * 2**k * noise))
    if attempt.closed and not flipped_joints(system, attempt.pose):
        return attempt.pose
    raise _open_joint(system, first)


def flipped_joints(system: System, pose: Pose) -> tuple[str, ...]:
    """Return the joints closed with an axis reversed, which dot rows cannot tell from aligned."""
    cosines = values(system.sense, pose.q)
    flipped = [row.joint for row, c in zip(system.sense.rows, cosines, strict=True) if c < 0]
    return tuple(dict.fromkeys(flipped))


def joint_gaps(system: System, pose: Pose) -> dict[str, tuple[float, float]]:
    """Return how far each joint stands open: distance (m) and misalignment (rad, small).

    Couplings and distance constraints are listed with their kind before their name.
    """
    gaps: dict[str, tuple[float, float]] = {}
    for row, value in zip(system.closure.rows, closure_values(system, pose), strict=True):
        owner = row.name if row.kind in ("coupling", "distance") else row.joint
        if owner:
            length, angle = gaps.get(owner, (0.0, 0.0))
            is_length = row.unit == "m"
            length = float(np.hypot(length, value)) if is_length else length
            angle = angle if is_length else float(np.hypot(angle, value))
            gaps[owner] = (length, angle)
    return gaps


def _open_joint(system: System, attempt: Closing) -> AssemblyError:
    flipped = flipped_joints(system, attempt.pose)
    if attempt.closed and flipped:
        return AssemblyError(
            f"joint {flipped[0]} closes only with its axis reversed",
            where=system.mechanism.name,
            remedy="reverse the axis in one of its two bodies, or turn the reference pose of a "
            "body so that the two axes point the same way",
        )
    gaps = joint_gaps(system, attempt.pose)
    name = max(gaps, key=lambda j: max(gaps[j][0] / system.size, gaps[j][1]))
    what = f"joint {name}" if any(j.name == name for j in system.mechanism.joints) else name
    length, angle = gaps[name]
    by = f"{length:.3g} m" if length / system.size >= angle else f"{np.degrees(angle):.3g} deg"
    return AssemblyError(
        f"the loops cannot be closed: {what} stays open by {by}",
        where=system.mechanism.name,
        remedy="check the points and axes of this joint and the lengths of the loops through it, "
        "or give a reference pose nearer to a closed one",
    )


def _residual(system: System, pose: Pose, q: Array, y: Array | None) -> Array:
    """Return dimensionless closure and, with y, what is missing to the coordinates."""
    r = system.closure.scale(system.size) * closure_values(system, pose, q)
    if y is None:
        return r
    missing = values(system.drivers, q, near=y) - y
    return np.concatenate([r, system.drivers.scale(system.size) * missing])


def _jacobian(system: System, pose: Pose, y: Array | None) -> Array:
    J: Array = system.closure.scale(system.size)[:, None] * jacobian(system.closure, pose.q)
    if y is None:
        return J
    rows = system.drivers.scale(system.size)[:, None] * jacobian(system.drivers, pose.q)
    return np.concatenate([J, rows])
