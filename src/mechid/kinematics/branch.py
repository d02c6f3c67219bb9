"""Distance from singular poses."""

from __future__ import annotations

import numpy as np

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

    Parameters
    ----------
    model : KinematicModel
    q : array (N, n_q)
        Closed poses, as in `Motion`.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> motion = mechid.tour(mechid.load("four_bar"))
    >>> bool(np.all(mechid.singularity_margin(motion.model, motion.q) > 0))
    True
    """
    margin = np.full(q.shape[0], np.inf)
    for first in range(0, q.shape[0], _CHUNK):
        part = slice(first, first + _CHUNK)
        J = dependent_jacobians(model, q[part])
        if J.shape[2]:
            margin[part] = np.linalg.svd(J, compute_uv=False)[:, -1]
    return margin
