"""Generic closed poses: a random walk along the admissible motions, closed at every step."""

from __future__ import annotations

import numpy as np

from mechid.errors import AssemblyError
from mechid.kinematics.reference_point.close import assemble, close, damped_solution
from mechid.kinematics.reference_point.system import (
    Pose,
    System,
    compile_system,
    moved,
    twist_jacobian,
    twist_map,
)
from mechid.mechanism.records import Mechanism
from mechid.spatial.rotations import Array

STEP = 0.08  # largest turn (rad), or displacement in units of L, of a body per step
SMALLEST_STEP = 1e-3
# A step begins at a closed pose: every iteration at least halves the error, also where a linkage is
# stretched to its full length. Where this does not halve in so many, half the step does better.
PATIENCE = 12
NOTHING = 1e-6  # part of a random direction that counts as no admissible motion at all


def random_walk(
    mechanism: Mechanism | System, start: Pose, rng: np.random.Generator, steps: int = 8
) -> Pose:
    """Walk from a closed pose along admissible motions, in a direction that changes gradually."""
    system = mechanism if isinstance(mechanism, System) else compile_system(mechanism)
    pose = start
    heading = rng.standard_normal(6 * system.n_bodies)
    for _ in range(steps):
        heading = heading + 0.3 * rng.standard_normal(heading.shape)
        J = twist_jacobian(system, system.named, pose)
        along = heading - J.T @ damped_solution(J, J @ heading, 0.0)
        fastest = float(np.max(np.linalg.norm(along.reshape(-1, 3), axis=-1), initial=0.0))
        if fastest < NOTHING * np.linalg.norm(heading):
            return pose  # a structure: nowhere to go
        pose = _step(system, pose, twist_map(system, pose) @ (along / fastest))
        heading = along * (np.sqrt(heading.size) / np.linalg.norm(along))
    return pose


def generic_pose(
    mechanism: Mechanism | System,
    rng: np.random.Generator,
    steps: int = 8,
    start: Pose | None = None,
) -> Pose:
    """Assemble the mechanism (or take `start`) and walk to a closed pose that is not special."""
    system = mechanism if isinstance(mechanism, System) else compile_system(mechanism)
    return random_walk(system, assemble(system) if start is None else start, rng, steps)


def _step(system: System, pose: Pose, direction: Array) -> Pose:
    size = STEP
    while size > SMALLEST_STEP:
        found = close(system, moved(system, pose, pose.q + size * direction), patience=PATIENCE)
        change = float(np.linalg.norm((found.pose.q - pose.q) / system.q_scale))
        # A correction larger than the step would be a leap to another branch.
        if found.closed and change < 4 * size * np.sqrt(system.n_bodies):
            return found.pose
        size /= 2
    raise AssemblyError(
        "the loops cannot be kept closed along an admissible motion",
        where=system.mechanism.name,
        remedy="the reference pose is singular; give one that is not stretched or folded",
    )
