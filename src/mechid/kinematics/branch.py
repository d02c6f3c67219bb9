"""Distance from singular poses, and the check that a motion stays on its branch."""

from __future__ import annotations

import numpy as np

from mechid.errors import BranchJumpError
from mechid.kinematics.kernels.dense import dense_batch
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.tables import Floats

_CHUNK = 2048  # samples at a time: bounds the memory of the dense matrices


def dependent_jacobians(model: KinematicModel, q: Floats) -> Floats:
    """Return the dimensionless Jacobians (N, n_rows, n_unknown) of rows by dependent speeds."""
    t = model.tables
    jacobians = np.zeros((q.shape[0], t.rows.size, t.columns.size))
    if t.rows.size:
        dense_batch(t, q, jacobians)
    return jacobians[:, :, model.order.columns.piece >= 0]


def singularity_margin(model: KinematicModel, q: Floats) -> Floats:
    """Return the smallest singular value of the dependent part of J for every pose, (N,).

    Rows and columns are dimensionless, so the number compares between poses of one mechanism; it
    is the distance to the nearest singular matrix. Infinite where nothing is dependent.
    """
    margin = np.full(q.shape[0], np.inf)
    for first in range(0, q.shape[0], _CHUNK):
        part = slice(first, first + _CHUNK)
        J = dependent_jacobians(model, q[part])
        if J.shape[2]:
            margin[part] = np.linalg.svd(J, compute_uv=False)[:, -1]
    return margin


def check_branch(model: KinematicModel, q: Floats, time: Floats | None) -> None:
    """Refuse an ordered motion that went through a singular pose between two samples.

    The kernels watch the sign of the determinant where the system is square. With redundant rows
    there is no determinant; there the sign of det(J_kᵀ J_{k+1}) is watched instead.
    """
    pieces = model.order.pieces
    n_rows, n_columns = pieces.row_end - pieces.row_start, pieces.column_end - pieces.column_start
    if np.all(n_rows <= n_columns) or q.shape[0] < 2:
        return
    for first in range(0, q.shape[0] - 1, _CHUNK):
        J = dependent_jacobians(model, q[first : first + _CHUNK + 1])
        sign, _ = np.linalg.slogdet(np.swapaxes(J[:-1], 1, 2) @ J[1:])
        turned = np.flatnonzero(sign <= 0)
        if turned.size:
            sample = first + int(turned[0]) + 1
            when = None if time is None else float(time[sample])
            raise BranchJumpError(
                "a singular pose lies between this sample and the one before: beyond it the "
                "branch is not determined",
                where=f"sample {sample}" + ("" if when is None else f" (t = {when:g} s)"),
                remedy="keep the motion on one side of the singular pose, or choose other "
                "independent coordinates",
                sample=sample,
                time=when,
            )
