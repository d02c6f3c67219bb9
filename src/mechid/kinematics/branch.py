"""Distance from singular poses."""

from __future__ import annotations

import numpy as np

from mechid.kinematics.engine.choice import wanted
from mechid.kinematics.kernels.dense import dense_batch
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.tables import Floats
from mechid.tape.lanes_math import LARGEST_ANGLE

_CHUNK = 2048  # samples at a time: bounds the memory of the dense matrices


def dependent_jacobians(model: KinematicModel, q: Floats) -> Floats:
    """Return the dimensionless Jacobians (N, n_rows, n_unknown) of rows by dependent speeds."""
    unknown = model.order.columns.piece >= 0
    if not unknown.any():
        return np.zeros((len(q), model.tables.rows.size, 0))
    code = model.jacobian_code if wanted(len(q)) else None
    if code is not None and np.all(np.abs(q) <= LARGEST_ANGLE):
        J = np.empty((len(q), model.tables.rows.size, int(unknown.sum())))
        code.run((q,), (J,))
        return J
    return dense_batch(model.compiled.for_kernels, q)[1][:, :, unknown]


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
