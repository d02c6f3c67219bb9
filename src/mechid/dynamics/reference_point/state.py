"""States: positions, Euler parameters, and their first and second rates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechid.dynamics.reference_point.model import ReferenceModel
from mechid.errors import SingularPoseError
from mechid.kinematics.frames import FrameMotion
from mechid.kinematics.motion import Motion as TreeMotion
from mechid.kinematics.reference_point.close import assemble
from mechid.kinematics.reference_point.evaluate import values
from mechid.kinematics.reference_point.solve import (
    SINGULAR,
    Motion,
    margin,
    motion,
    solve_acceleration,
    solve_position,
    solve_velocity,
)
from mechid.kinematics.reference_point.system import Pose, quaternion_rates
from mechid.spatial.rotations import Array, quaternion_from_matrix


@dataclass(frozen=True, eq=False)
class State:
    """One sample of a motion.

    Attributes
    ----------
    q, qd, qdd : (7 n_b,) arrays
        Position (m) and Euler parameters of each body, their rates and second rates.
    near : (n_rows,) array or None
        Values near which the angles that elements measure lie; None: within (-π, π].
    """

    q: Array
    qd: Array
    qdd: Array
    near: Array | None = None

    @cached_property
    def bodies(self) -> Motion:
        """Motion of the body frames; shapes (1, n_b, ...), ground axes."""
        return motion(self.q[None], self.qd[None], self.qdd[None])

    @property
    def rotation(self) -> Array:
        """Rotation matrices, (n_b, 3, 3)."""
        return np.asarray(self.bodies.rotation[0])

    @property
    def omega(self) -> Array:
        """Angular velocities, (n_b, 3), rad/s."""
        return np.asarray(self.bodies.omega[0])

    @property
    def alpha(self) -> Array:
        """Angular accelerations, (n_b, 3), rad/s²."""
        return np.asarray(self.bodies.alpha[0])

    @property
    def acceleration(self) -> Array:
        """Accelerations of the frame origins, (n_b, 3), m/s²."""
        return np.asarray(self.bodies.acceleration[0])

    @property
    def twist(self) -> Array:
        """Velocity of each frame origin and angular velocity, (6 n_b,), m/s and rad/s."""
        return np.concatenate([self.bodies.velocity[0], self.omega], axis=1).ravel()


def solve_states(
    model: ReferenceModel,
    y: Array,
    yd: Array | None = None,
    ydd: Array | None = None,
    *,
    ordered: bool = True,
) -> list[State]:
    """Solve the kinematics in reference-point coordinates, sample by sample.

    Parameters
    ----------
    model : ReferenceModel
    y, yd, ydd : (N, n_i) arrays
        Independent coordinates (m or rad), speeds and accelerations (default: zero).
    ordered : bool
        True: each sample is reached from the one before; False: each from the assembled pose.

    Raises
    ------
    UnreachablePoseError, SingularPoseError
        Naming the sample.
    """
    system = model.system
    yd = np.zeros_like(y) if yd is None else yd
    ydd = np.zeros_like(y) if ydd is None else ydd
    home = assemble(system)
    home_near = values(model.elements.rows, home.q, np.zeros(len(model.elements.rows.rows)))
    pose, near = home, home_near
    states = []
    for k in range(len(y)):
        start = pose if ordered else home
        pose = solve_position(system, y[k], start, sample=k)
        _refuse_singular(model, pose, k)
        near = model.elements.near(near if ordered else home_near, y[k], pose.q)
        near = values(model.elements.rows, pose.q, near)
        qd = solve_velocity(system, pose, yd[k])
        states.append(State(pose.q, qd, solve_acceleration(system, pose, qd, ydd[k]), near))
    return states


def state_from_motion(model: ReferenceModel, moved: TreeMotion | FrameMotion) -> list[State]:
    """Return the states of a motion that the tree formulation (or anything else) has solved.

    The signs of quaternions are chosen so that they change little from sample to sample.
    """
    frames = moved.bodies() if isinstance(moved, TreeMotion) else moved
    states: list[State] = []
    near: Array | None = None
    rows = model.elements.rows
    for k in range(len(frames.position)):
        e = quaternion_from_matrix(frames.rotation[k])
        if states:
            before = states[-1].q.reshape(-1, 7)[:, 3:]
            e = np.where(np.sum(e * before, axis=1, keepdims=True) < 0, -e, e)
        omega, alpha = frames.omega[k], frames.alpha[k]
        half = 0.5 * np.swapaxes(quaternion_rates(e), 1, 2)  # ė = ½ Eᵀ ω
        ed = np.einsum("bij,bj->bi", half, omega)
        square = np.sum(omega * omega, axis=1, keepdims=True)
        edd = np.einsum("bij,bj->bi", half, alpha) - 0.25 * square * e
        q = np.concatenate([frames.position[k], e], axis=1).ravel()
        start = np.zeros(len(rows.rows)) if near is None else near
        y = moved.y[k] if isinstance(moved, TreeMotion) else None
        near = values(rows, q, model.elements.near(start, y, q))
        qd = np.concatenate([frames.velocity[k], ed], axis=1).ravel()
        qdd = np.concatenate([frames.acceleration[k], edd], axis=1).ravel()
        states.append(State(q, qd, qdd, near))
    return states


def _refuse_singular(model: ReferenceModel, pose: Pose, sample: int) -> None:
    if margin(model.system, [pose]) < SINGULAR:
        raise SingularPoseError(
            "the independent coordinates do not determine the velocities here",
            where=f"{model.mechanism.name}: sample {sample}",
            remedy="keep the motion away from this pose, or choose other independent coordinates",
            sample=sample,
        )
