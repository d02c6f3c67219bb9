"""Poses, velocities and accelerations of all bodies from the independent coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.errors import SingularPoseError, UnreachablePoseError
from mechid.kinematics.reference_point.close import assemble, close, flipped_joints
from mechid.kinematics.reference_point.evaluate import gamma, jacobian
from mechid.kinematics.reference_point.passive import passive_spins
from mechid.kinematics.reference_point.system import (
    Pose,
    System,
    compile_system,
    coordinates,
    moved,
    quaternion_rates,
    twist_jacobian,
)
from mechid.mechanism.records import Mechanism
from mechid.spatial.rotations import Array, matrix_from_quaternion

# Largest turn (rad), or displacement in units of L, between two closed poses of a continuation.
STEP = 0.2
SMALLEST_STEP = 1e-6
# Singular values below this part of the largest are rounding: closed poses leave about 1e-15 where
# the exact value is zero, and genuine ones stay above 1e-6 in any mechanism worth building.
RANK_TOLERANCE = 1e-10
# Where the motion turns back, rounding in the closure leaves the pose uncertain by its square root,
# about 1e-7; nearer than this to a singular pose there are no velocities worth printing.
SINGULAR = 1e-6


@dataclass(frozen=True, eq=False)
class Motion:
    """Motion of all body frames in ground axes; N samples, n_b bodies (units: NOTATION.md)."""

    position: Array
    quaternion: Array
    rotation: Array
    velocity: Array
    omega: Array
    acceleration: Array
    alpha: Array


def solve_position(system: System, y: Array, start: Pose, *, sample: int | None = None) -> Pose:
    """Move a closed pose to the coordinates `y` (n_i,), following the motion in small steps.

    The pose found lies on the branch of `start`. Passive motions take the shortest way.

    Raises
    ------
    UnreachablePoseError
        If the motion cannot be followed to the end; the message says how far it came.
    """
    pose = start
    y0 = coordinates(system, start, near=y)
    done, step = 0.0, 1.0
    while done < 1.0:
        tangent = _least_squares(system, pose, np.zeros(len(system.closure.rows)), y - y0)
        before = _scaled(system, pose)
        largest = float(np.max(np.abs(tangent / system.q_scale), initial=0.0))
        step = min(step, 1.0 - done, STEP / max(largest, STEP))
        while True:
            guess = moved(system, pose, pose.q + step * tangent)
            found = close(system, guess, y0 + (done + step) * (y - y0))
            correction = np.max(np.abs((found.pose.q - guess.q) / system.q_scale), initial=0.0)
            # A correction as large as the largest step would be a leap to another branch.
            if (
                found.closed
                and correction < STEP / 2
                and not flipped_joints(system, found.pose)
                and _same_side(before, _scaled(system, found.pose))
            ):
                break
            step /= 2
            if step < SMALLEST_STEP:
                raise _unreachable(system, y0 + done * (y - y0), y, sample)
        pose = found.pose
        done = 1.0 if done + step > 1.0 - SMALLEST_STEP else done + step
        step *= 2
    return pose


def solve_velocity(system: System, pose: Pose, yd: Array) -> Array:
    """Return q̇ (7 n_b,) for speeds yd (n_i,); the shortest one where motions are passive."""
    return _least_squares(system, pose, np.zeros(len(system.closure.rows)), yd)


def solve_acceleration(system: System, pose: Pose, qd: Array, ydd: Array) -> Array:
    """Return q̈ (7 n_b,) for accelerations ydd (n_i,) at speeds q̇."""
    drivers = ydd + gamma(system.drivers, pose.q, qd)
    return _least_squares(system, pose, gamma(system.closure, pose.q, qd), drivers)


def margin(system: System, poses: Sequence[Pose]) -> float:
    """Return how far the last pose is from one where the coordinates determine no velocities.

    The smallest singular value of joint and driver rows, passive motions held (they are those
    found in all the poses); dimensionless.
    """
    pose = poses[-1]
    held = [spin.twist for spin in passive_spins(system, poses)]
    joints = twist_jacobian(system, system.named, pose)
    drivers = twist_jacobian(system, system.drivers, pose)
    J = np.vstack([joints, drivers, *held])
    if len(J) < J.shape[1]:
        return 0.0
    return float(np.linalg.svd(J, compute_uv=False)[-1])


def follow(
    mechanism: Mechanism | System,
    y: Array,
    yd: Array | None = None,
    ydd: Array | None = None,
    start: Pose | None = None,
) -> Motion:
    """Return the motion of all bodies along a trajectory of the independent coordinates.

    Parameters
    ----------
    mechanism : Mechanism or System
    y, yd, ydd : (N, n_i) arrays
        Coordinates, speeds and accelerations (m or rad, s); speeds and accelerations default to
        zero.
    start : Pose, optional
        Closed pose from which the first sample is reached (default: the assembled one).

    Raises
    ------
    UnreachablePoseError, SingularPoseError
        Naming the sample.
    """
    system = mechanism if isinstance(mechanism, System) else compile_system(mechanism)
    first = assemble(system) if start is None else start
    yd = np.zeros_like(y) if yd is None else yd
    ydd = np.zeros_like(y) if ydd is None else ydd
    pose = first
    n = (len(y), 7 * system.n_bodies)
    q, qd, qdd = np.empty(n), np.empty(n), np.empty(n)
    for k in range(len(y)):
        pose = solve_position(system, y[k], pose, sample=k)
        _refuse_singular(system, [first, pose], k)
        q[k] = pose.q
        qd[k] = solve_velocity(system, pose, yd[k])
        qdd[k] = solve_acceleration(system, pose, qd[k], ydd[k])
    return motion(q, qd, qdd)


def motion(q: Array, qd: Array, qdd: Array) -> Motion:
    """Read positions, angular velocities and so on from the 7 n_b numbers, each (N, 7 n_b)."""
    x, xd, xdd = (table.reshape(len(table), -1, 7) for table in (q, qd, qdd))
    e = x[..., 3:]
    rates = 2 * quaternion_rates(e)
    return Motion(
        position=x[..., :3],
        quaternion=e,
        rotation=matrix_from_quaternion(e),
        velocity=xd[..., :3],
        omega=np.einsum("nbij,nbj->nbi", rates, xd[..., 3:]),
        acceleration=xdd[..., :3],
        alpha=np.einsum("nbij,nbj->nbi", rates, xdd[..., 3:]),
    )


def _same_side(before: Array, after: Array) -> bool:
    """Tell whether no singular pose lies between two poses, by their dimensionless Φ_q.

    Branches that nearly meet lie on both sides of one, however near to each other: the determinant
    changes its sign. Rows may be redundant and motions passive, so it is that of the part that had
    full rank before.
    """
    U, s, Vt = np.linalg.svd(before, full_matrices=False)
    full = s > RANK_TOLERANCE * s[0]
    return bool(np.linalg.slogdet(U[:, full].T @ after @ Vt[full].T)[0] > 0)


def _scaled(system: System, pose: Pose) -> Array:
    """Return dimensionless Φ_q of joints and drivers."""
    J = np.vstack([jacobian(system.closure, pose.q), jacobian(system.drivers, pose.q)])
    return np.asarray(_row_scale(system)[:, None] * J * system.q_scale)


def _row_scale(system: System) -> Array:
    return np.concatenate([system.closure.scale(system.size), system.drivers.scale(system.size)])


def _least_squares(system: System, pose: Pose, closure: Array, drivers: Array) -> Array:
    """Solve Φ_q x = (closure, drivers) for the shortest x, lengths in units of L."""
    right = _row_scale(system) * np.concatenate([closure, drivers])
    x = np.linalg.lstsq(_scaled(system, pose), right, rcond=RANK_TOLERANCE)[0]
    return np.asarray(system.q_scale * x)


def _refuse_singular(system: System, poses: Sequence[Pose], sample: int) -> None:
    if margin(system, poses) < SINGULAR:
        raise SingularPoseError(
            "the independent coordinates do not determine the velocities here",
            where=f"{system.mechanism.name}: sample {sample}",
            remedy="keep the motion away from this pose, or choose other independent coordinates",
            sample=sample,
        )


def _unreachable(
    system: System, reached: Array, y: Array, sample: int | None
) -> UnreachablePoseError:
    names = [row.name for row in system.drivers.rows]
    wanted = ", ".join(f"{n} = {v:.6g}" for n, v in zip(names, y, strict=True))
    came = ", ".join(f"{n} = {v:.6g}" for n, v in zip(names, reached, strict=True))
    where = system.mechanism.name + ("" if sample is None else f": sample {sample}")
    return UnreachablePoseError(
        f"no pose with {wanted} can be reached; the motion ends at {came}",
        where=where,
        remedy="keep the coordinates within the reach of the mechanism",
        sample=sample,
    )
