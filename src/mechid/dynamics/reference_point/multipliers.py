"""Multipliers of the constraints, and inverse dynamics that yields them."""

from __future__ import annotations

import numpy as np

from mechid.dynamics.reference_point.body_matrix import speed_map, twist_rates, unprojected
from mechid.dynamics.reference_point.model import ReferenceModel, parameter_values
from mechid.dynamics.reference_point.observation import observe
from mechid.dynamics.reference_point.state import State
from mechid.kinematics.reference_point.evaluate import jacobian
from mechid.spatial.rotations import Array


def inverse_dynamics(
    model: ReferenceModel, state: State, phi: Array | None = None
) -> tuple[Array, Array]:
    """Return the actuator forces τ (n_i,) and the multipliers λ (m,) of a motion.

    `phi` (p,) are the values of the parameters (default: CAD).
    """
    values = parameter_values(model, phi)
    W, known = observe(model, state)
    tau = W @ values + known
    H, k = unprojected(model, state)
    needed = speed_map(state.q, "euler").T @ (H @ values + k)
    actuators = jacobian(model.system.drivers, state.q).T @ tau
    return tau, multipliers_of(model, state.q, needed - actuators)


def multipliers_of(model: ReferenceModel, q: Array, force: Array) -> Array:
    """Return λ (m,) with C_qᵀ λ = force (7 n_b,); the shortest one where rows are redundant.

    Joints and gauges are solved for in twists, where unit quaternions need no rows; what is left
    along each quaternion is the multiplier of its norm, and moves nothing.
    """
    C, rows, columns = scaled_constraints(model, q)
    rank = C.shape[1] - model.n_free
    U, s, Vt = np.linalg.svd(C, full_matrices=False)
    on_twists = columns * (twist_rates(q).T @ force)
    joints = rows * (U[:, :rank] @ (Vt[:rank] @ on_twists / s[:rank]))
    left = force - jacobian(model.constraints, q).T @ joints
    e, along = q.reshape(-1, 7)[:, 3:], left.reshape(-1, 7)[:, 3:]
    norms = np.sum(e * along, axis=1) / (2 * np.sum(e * e, axis=1))
    return np.concatenate([joints, norms])


def scaled_constraints(model: ReferenceModel, q: Array) -> tuple[Array, Array, Array]:
    """Return the dimensionless C (m', 6 n_b) of joints and gauges by twists, and its scales.

    C = rows · (Φ_q T) · columns, with T from twists of the frame origins to q̇.
    """
    size = model.system.size
    rows = model.constraints.scale(size)
    columns = np.tile([size] * 3 + [1.0] * 3, model.n_bodies)
    C = rows[:, None] * (jacobian(model.constraints, q) @ twist_rates(q)) * columns
    return C, rows, columns
