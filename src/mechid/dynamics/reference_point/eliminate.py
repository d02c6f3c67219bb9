"""Elimination of the constraint forces: admissible motions R with C R = 0, by four methods.

Each method yields a basis Z of the null space of C, the dimensionless Jacobian of joints and gauges
with respect to twists. Constraints do no work on it, so Zᵀ (H φ + k) is free of multipliers. The
declared coordinates have the speeds D Z ż; R = Z (D Z)⁻¹ is the basis in which they are the
coordinates, whatever Z was.

=========  ===============================================================================
partition  n_i components of the twists are kept, the others follow from them
svd        right singular vectors of C
qr         last columns of Q, Cᵀ P = Q R with pivoting
gauss      reduced row echelon form with full pivoting
=========  ===============================================================================

The dimension of the null space is known (the declared coordinates), so redundant rows need no
tolerance. A pose where it is larger is singular, and rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg import qr

from mechid.dynamics.reference_point.body_matrix import Speeds, speed_map, twist_rates
from mechid.dynamics.reference_point.model import ReferenceModel
from mechid.errors import ModelError, SingularPoseError
from mechid.kinematics.reference_point.evaluate import jacobian
from mechid.kinematics.reference_point.system import Pose, twist_jacobian, twist_map
from mechid.spatial.rotations import Array

Method: TypeAlias = Literal["partition", "svd", "qr", "gauss"]

# Pivots of dimensionless constraints: below this, a pose is singular to working precision.
SINGULAR = 1e-9
# What a motion may leave of closed constraints, dimensionless.
LEFT = 1e-7


def null_basis(C: Array, n_free: int, method: Method = "partition") -> Array:
    """Return Z (n, n_free) with C Z = 0, for C (m, n) of rank n - n_free.

    Raises
    ------
    SingularPoseError
        If the rank of C is smaller.
    """
    rank = C.shape[1] - n_free
    if rank == 0:
        return np.eye(C.shape[1])
    if rank < 0 or len(C) < rank:
        raise _too_few(n_free)
    return _METHODS[method](C, rank)


def admissible_motions(
    model: ReferenceModel,
    q: Array,
    method: Method = "partition",
    *,
    own_basis: bool = False,
    speeds: Speeds = "twist",
) -> Array:
    """Return R (k n_b, n_i): speeds of all bodies per unit speed of each declared coordinate.

    Parameters
    ----------
    model : ReferenceModel
    q : (7 n_b,) array
        A closed pose.
    method : "partition", "svd", "qr" or "gauss"
    own_basis : bool
        True: the basis that the method yields, with coordinates of its own; its speeds are per
        second, in units of L for translations, and its forces are in N m.
    speeds : "twist", "euler" or "rpy"
        In which the motions are written, see `speed_map`.

    Raises
    ------
    SingularPoseError, ModelError
        If the declared coordinates do not determine the motion, here or anywhere.
    """
    pose = Pose(q, np.zeros(0))
    C = twist_jacobian(model.system, model.constraints, pose)
    Z = null_basis(C, model.n_free, method)
    if np.max(np.abs(C @ Z), initial=0.0) > LEFT * max(1.0, float(np.max(np.abs(Z), initial=0.0))):
        raise ModelError(
            "there are fewer admissible motions than declared coordinates",
            path=("coordinates",),
            remedy="remove a coordinate, or close the pose first",
        )
    rates = twist_map(model.system, pose) @ Z  # q̇
    if not own_basis:
        rates = rates @ to_declared(model, q, rates)
    twists = speed_map(q, "euler") @ rates
    if speeds == "twist":
        return twists
    if speeds == "euler":
        return np.asarray(twist_rates(q) @ twists)
    return np.asarray(np.linalg.solve(speed_map(q, speeds), twists))


def to_declared(model: ReferenceModel, q: Array, rates: Array) -> Array:
    """Return (D Z)⁻¹ for admissible q̇ = Z ż (7 n_b, n): own coordinates from the declared ones."""
    DZ = jacobian(model.system.drivers, q) @ rates
    if DZ.shape[0] != DZ.shape[1]:
        raise ModelError(
            "a spin that no coordinate describes is not held",
            path=("coordinates",),
            remedy="hold the spins, or ask for the method's own basis",
        )
    scale = model.system.drivers.scale(model.system.size)
    singular = np.linalg.svd(scale[:, None] * DZ, compute_uv=False)
    if singular.size and singular[-1] < SINGULAR * max(float(singular[0]), SINGULAR):
        raise _singular()
    return np.asarray(np.linalg.inv(DZ)).reshape(DZ.shape)


def _partition(C: Array, rank: int) -> Array:
    """Keep the components that column pivoting leaves over; solve for the others."""
    R, order = qr(C, mode="r", pivoting=True)
    if abs(R[rank - 1, rank - 1]) < SINGULAR:
        raise _singular()
    dependent, kept = order[:rank], order[rank:]
    Z = np.zeros((C.shape[1], len(kept)))
    Z[kept] = np.eye(len(kept))
    Z[dependent] = -np.linalg.lstsq(C[:, dependent], C[:, kept], rcond=None)[0]
    return Z


def _svd(C: Array, rank: int) -> Array:
    _, s, Vt = np.linalg.svd(C)
    if s[rank - 1] < SINGULAR:
        raise _singular()
    return np.asarray(Vt[rank:].T)


def _qr(C: Array, rank: int) -> Array:
    Q, R, _ = qr(C.T, pivoting=True)
    if abs(R[rank - 1, rank - 1]) < SINGULAR:
        raise _singular()
    return np.asarray(Q[:, rank:])


def _gauss(C: Array, rank: int) -> Array:
    """Bring C to (1 | F) by elimination with full pivoting; then Z = (-F; 1)."""
    A = C.copy()
    order = np.arange(A.shape[1])
    for k in range(rank):
        i, j = divmod(int(np.argmax(np.abs(A[k:, k:]))), A.shape[1] - k)
        A[[k, k + i]] = A[[k + i, k]]
        A[:, [k, k + j]] = A[:, [k + j, k]]
        order[[k, k + j]] = order[[k + j, k]]
        if abs(A[k, k]) < SINGULAR:
            raise _singular()
        A[k] /= A[k, k]
        others = np.arange(len(A)) != k
        A[others] -= np.outer(A[others, k], A[k])
    Z = np.zeros((A.shape[1], A.shape[1] - rank))
    Z[order[:rank]] = -A[:rank, rank:]
    Z[order[rank:]] = np.eye(A.shape[1] - rank)
    return Z


_METHODS: Mapping[Method, Callable[[Array, int], Array]] = MappingProxyType(
    {"partition": _partition, "svd": _svd, "qr": _qr, "gauss": _gauss}
)


def _singular() -> SingularPoseError:
    return SingularPoseError(
        "the independent coordinates do not determine the velocities in this pose",
        remedy="keep the motion away from this pose, or choose other independent coordinates",
    )


def _too_few(n_free: int) -> ModelError:
    return ModelError(
        f"the joints leave more than the {n_free} motions that are declared",
        path=("coordinates",),
        remedy="declare more independent coordinates",
    )
