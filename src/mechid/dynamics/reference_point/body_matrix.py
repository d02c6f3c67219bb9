"""The unprojected observation matrix: forces on every body, linear in the parameters.

Force and moment about the frame origin that a body's motion and weight ask for, in ground axes:

    f = m (p̈ - g) + (α× + ω×ω×) R m c
    n = R m c × (p̈ - g) + R (I α' + ω' × I ω')        with ω' = Rᵀ ω, α' = Rᵀ α

Both are linear in φ = (m, m c, I). All bodies and elements together give H φ + k, one row per
speed; H φ + k = C_qᵀ λ + D_qᵀ τ with the multipliers λ and the actuator forces τ.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from mechid.dynamics.reference_point.elements import factors, read
from mechid.dynamics.reference_point.model import ReferenceModel
from mechid.dynamics.reference_point.state import State
from mechid.errors import SingularPoseError
from mechid.kinematics.reference_point.system import quaternion_rates
from mechid.spatial.rotations import Array, axis_rotation, matrix_from_quaternion, rpy_from_matrix
from mechid.spatial.rotations import skew as cross_matrix

Speeds: TypeAlias = Literal["twist", "euler", "rpy"]

# Roll and yaw can no longer be told apart when the cosine of pitch is below this.
LOCKED = 1e-6


def body_regressor(
    rotation: Array, omega: Array, acceleration: Array, alpha: Array, gravity: Array
) -> Array:
    """Return the Newton-Euler regressor of bodies: (f, n) = Y φ, shape (..., 6, 10).

    Parameters
    ----------
    rotation : (..., 3, 3) array
        Axes of the body frame.
    omega, acceleration, alpha : (..., 3) arrays
        Angular velocity (rad/s), acceleration of the frame origin (m/s²), angular acceleration
        (rad/s²), ground axes.
    gravity : (3,) array
        Weight per unit mass (m/s²).

    Returns
    -------
    array (..., 6, 10)
        Force (N) and moment about the frame origin (N m), ground axes, per unit of φ.
    """
    a = acceleration - gravity
    w = cross_matrix(omega)
    out = np.zeros((*rotation.shape[:-2], 6, 10))
    out[..., :3, 0] = a
    out[..., :3, 1:4] = (cross_matrix(alpha) + w @ w) @ rotation
    out[..., 3:, 1:4] = -cross_matrix(a) @ rotation
    local_omega = np.einsum("...ji,...j->...i", rotation, omega)
    local_alpha = np.einsum("...ji,...j->...i", rotation, alpha)
    turning = inertia_product(local_alpha) + cross_matrix(local_omega) @ inertia_product(
        local_omega
    )
    out[..., 3:, 4:] = rotation @ turning
    return out


def inertia_product(w: Array) -> Array:
    """Return L (..., 3, 6) with I w = L (Ixx, Ixy, Ixz, Iyy, Iyz, Izz)."""
    x, y, z = w[..., 0], w[..., 1], w[..., 2]
    out = np.zeros((*w.shape[:-1], 3, 6))
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = x, y, z
    out[..., 1, 1], out[..., 1, 3], out[..., 1, 4] = x, y, z
    out[..., 2, 2], out[..., 2, 4], out[..., 2, 5] = x, y, z
    return out


def twist_rates(q: Array) -> Array:
    """Return T (7 n_b, 6 n_b): q̇ = T (ṗ, ω of each body), ė = ½ Eᵀ ω."""
    e = q.reshape(-1, 7)[:, 3:]
    blocks = np.zeros((len(e), 7, 6))
    blocks[:, :3, :3] = np.eye(3)
    blocks[:, 3:, 3:] = 0.5 * np.swapaxes(quaternion_rates(e), 1, 2)
    return _diagonal(blocks)


def speed_map(q: Array, speeds: Speeds) -> Array:
    """Return S with (ṗ, ω of each body) = S u̇, shape (6 n_b, k n_b).

    ========  =============================================  ===
    speeds    u̇ of each body                                  k
    ========  =============================================  ===
    twist     ṗ, ω                                            6
    euler     ṗ, ė; ω = 2 E ė                                 7
    rpy       ṗ, rates of roll, pitch, yaw (fixed axes)       6
    ========  =============================================  ===

    Forces go the other way, with Sᵀ: the moment n becomes 2 Eᵀ n for Euler parameters.

    Raises
    ------
    SingularPoseError
        For roll, pitch, yaw at a pitch of ±90°.
    """
    e = q.reshape(-1, 7)[:, 3:]
    turn = {"twist": _no_map, "euler": _euler_map, "rpy": _rpy_map}[speeds](e)
    blocks = np.zeros((len(e), 6, 3 + turn.shape[-1]))
    blocks[:, :3, :3] = np.eye(3)
    blocks[:, 3:, 3:] = turn
    return _diagonal(blocks)


def unprojected(
    model: ReferenceModel, state: State, speeds: Speeds = "twist"
) -> tuple[Array, Array]:
    """Return H and k of one sample, before constraint forces are eliminated.

    Parameters
    ----------
    model : ReferenceModel
    state : State
    speeds : "twist", "euler" or "rpy"
        What the rows belong to: 6, 7 or 6 per body.

    Returns
    -------
    H : array (k n_b, p)
        Ten columns per body, then one per element coefficient to be identified.
    k : array (k n_b,)
        What known coefficients and loads contribute.
    """
    n = model.n_bodies
    H = np.zeros((6 * n, len(model.columns)))
    Y = body_regressor(state.rotation, state.omega, state.acceleration, state.alpha, model.gravity)
    for i in range(n):
        H[6 * i : 6 * i + 6, 10 * i : 10 * i + 10] = Y[i]
    readings = read(model.elements, state.q, state.qd, state.qdd, state.near)
    forces = factors(model.elements, readings)[:, None] * (readings.gradient @ twist_rates(state.q))
    known = np.zeros(6 * n)
    column = 10 * n
    for term, force in zip(model.elements.terms, forces, strict=True):
        if term.known:
            known += float(term.column.value or 0.0) * force
        else:
            H[:, column] = force
            column += 1
    if speeds == "twist":
        return H, known
    S = speed_map(state.q, speeds)
    return S.T @ H, S.T @ known


def _no_map(e: Array) -> Array:
    return np.tile(np.eye(3), (len(e), 1, 1))


def _euler_map(e: Array) -> Array:
    return 2 * quaternion_rates(e)


def _rpy_map(e: Array) -> Array:
    """R = Rz Ry Rx: roll turns about Rz Ry x, pitch about Rz y, yaw about z."""
    rpy = rpy_from_matrix(matrix_from_quaternion(e))
    if np.any(np.abs(np.cos(rpy[:, 1])) < LOCKED):
        raise SingularPoseError(
            "the pitch of a body is 90 deg: roll and yaw turn about the same axis there",
            remedy="use twists or Euler parameters",
        )
    yaw, pitch = axis_rotation(2, rpy[:, 2]), axis_rotation(1, rpy[:, 1])
    out = np.zeros((len(e), 3, 3))
    out[:, :, 0] = (yaw @ pitch)[:, :, 0]
    out[:, :, 1] = yaw[:, :, 1]
    out[:, 2, 2] = 1.0
    return out


def _diagonal(blocks: Array) -> Array:
    """Return the block diagonal matrix of (n, r, c) blocks."""
    n, r, c = blocks.shape
    out = np.zeros((n, r, n, c))
    for i in range(n):
        out[i, :, i, :] = blocks[i]
    return out.reshape(n * r, n * c)
