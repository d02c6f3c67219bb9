"""Mass matrix and bias in positions and Euler parameters.

With ω = 2 E ė, and α = 2 E ë because Ė ė = 0, the forces of a body (see `body_matrix`) become, for
the speeds (ṗ, ė) whose generalised forces are (f, 2 Eᵀ n),

    M = | m 1              -2 (R m c)× E |        h = | ω × (ω × R m c) - m g               |
        | 2 Eᵀ (R m c)×     4 Eᵀ R I Rᵀ E |           | 2 Eᵀ (ω × R I Rᵀ ω - R m c × g)     |

so that M q̈ + h are the forces that its motion asks for. Rᵀ E = G is the matrix of the angular
velocity in body axes, ω' = 2 G ė: the lower block is 4 Gᵀ I G. It is singular along e; the row
eᵀ e = 1 makes up for it. A motor's inertia J on a measure s, s̈ = s_q q̈ + b, adds J s_qᵀ s_q to M
and J b s_qᵀ to h.
"""

from __future__ import annotations

import numpy as np

from mechid.dynamics.reference_point.body_matrix import speed_map, twist_rates
from mechid.dynamics.reference_point.elements import factors, read
from mechid.dynamics.reference_point.model import ReferenceModel
from mechid.kinematics.reference_point.system import quaternion_rates
from mechid.spatial.inertia import tensor
from mechid.spatial.rotations import Array, matrix_from_quaternion, skew


def mass_and_bias(
    model: ReferenceModel, phi: Array, q: Array, qd: Array, near: Array | None = None
) -> tuple[Array, Array]:
    """Return M (7 n_b, 7 n_b) and h (7 n_b,): M q̈ + h = H φ + k, elements and loads included.

    Parameters
    ----------
    model : ReferenceModel
    phi : (p,) array
        Values of the columns, as measured or identified.
    q, qd : (7 n_b,) arrays
    near : (n_rows,) array, optional
        Values near which the angles of elements lie.
    """
    n = model.n_bodies
    e, ed = q.reshape(-1, 7)[:, 3:], qd.reshape(-1, 7)[:, 3:]
    rotation, E = matrix_from_quaternion(e), quaternion_rates(e)
    M = np.zeros((n, 7, n, 7))
    h = np.zeros((n, 7))
    for i in range(n):
        M[i, :, i, :], h[i] = _body(
            phi[10 * i : 10 * i + 10], rotation[i], E[i], ed[i], model.gravity
        )
    return _elements(model, phi, q, qd, near, M.reshape(7 * n, 7 * n), h.ravel())


def _body(phi: Array, rotation: Array, E: Array, ed: Array, g: Array) -> tuple[Array, Array]:
    m, mc = phi[0], rotation @ phi[1:4]
    inertia = rotation @ tensor(phi[4:]) @ rotation.T
    omega = 2 * E @ ed
    M = np.zeros((7, 7))
    M[:3, :3] = m * np.eye(3)
    M[:3, 3:] = -2 * skew(mc) @ E
    M[3:, :3] = M[:3, 3:].T
    M[3:, 3:] = 4 * E.T @ inertia @ E
    force = np.cross(omega, np.cross(omega, mc)) - m * g
    moment = np.cross(omega, inertia @ omega) - np.cross(mc, g)
    return M, np.concatenate([force, 2 * E.T @ moment])


def _elements(
    model: ReferenceModel,
    phi: Array,
    q: Array,
    qd: Array,
    near: Array | None,
    M: Array,
    h: Array,
) -> tuple[Array, Array]:
    readings = read(model.elements, q, qd, _without_turning(q, qd), near)
    # Only the part of a gradient that turns bodies does work; that along e is the norm's.
    gradients = readings.gradient @ twist_rates(q) @ speed_map(q, "euler")
    column = 10 * model.n_bodies
    taken = factors(model.elements, readings)
    for i, term in enumerate(model.elements.terms):
        coefficient = float(term.column.value or 0.0) if term.known else float(phi[column])
        column += 0 if term.known else 1
        h += coefficient * taken[i] * gradients[i]
        if term.order == 2:
            M += coefficient * np.outer(gradients[i], gradients[i])
    return M, h


def _without_turning(q: Array, qd: Array) -> Array:
    """Return the q̈ of bodies without acceleration: p̈ = 0, and ë = -(ė·ė) e, for which α = 0."""
    e, ed = q.reshape(-1, 7)[:, 3:], qd.reshape(-1, 7)[:, 3:]
    out = np.zeros((len(e), 7))
    out[:, 3:] = -e * np.sum(ed * ed, axis=1, keepdims=True) / np.sum(e * e, axis=1, keepdims=True)
    return out.ravel()
