"""Ways from the home pose that lead through no singular pose."""

from __future__ import annotations

import numpy as np

from mechid.kinematics.branch import dependent_jacobians
from mechid.kinematics.motion import Motion
from mechid.kinematics.samples import Samples, solve_each

_HALVINGS = 6  # of a way that is looked at for singular poses


def regular_ways(poses: Motion, least: float) -> np.ndarray:
    """Tell which poses are reached from home on a straight line in y without a singular pose, (N,).

    Where a way leads through a singular pose, several branches may meet, and a pose beyond it need
    not be on the branch of home. Singular values change no more than the matrix does (Weyl): there
    is no singular pose between two poses if the sum of their margins is larger than the distance
    of their Jacobians. Parts of a way for which this does not hold are halved.

    Parameters
    ----------
    poses : Motion
        N poses, each for itself.
    least : float
        Smallest margin that counts as regular.
    """
    model, n = poses.model, len(poses.q)
    if not dependent_jacobians(model, model.home_q[None]).shape[2]:
        return np.ones(n, dtype=bool)
    good = np.ones(n, dtype=bool)
    ends = np.array([[0.0, 1.0]]).repeat(n, axis=0)
    owner = np.arange(n)
    a = dependent_jacobians(model, model.home_q[None]).repeat(n, axis=0)
    b = dependent_jacobians(model, poses.q)
    for _ in range(_HALVINGS + 1):
        margins = [np.linalg.svd(J, compute_uv=False)[:, -1] for J in (a, b)]
        good[owner[np.minimum(*margins) < least]] = False
        apart = np.linalg.norm(b - a, ord=2, axis=(1, 2))
        unsure = (sum(margins) <= apart) & good[owner]
        if not unsure.any():
            return good
        ends, owner, a, b = ends[unsure], owner[unsure], a[unsure], b[unsure]
        middle = ends.mean(axis=1)
        y = model.home_y + middle[:, None] * (poses.y[owner] - model.home_y)
        between = Samples.empty(model, y, np.zeros_like(y), np.zeros_like(y), None)
        solve_each(between, model.home_q, model.home_y)
        good[owner[between.status != 0]] = False
        J = dependent_jacobians(model, between.q)
        ends = np.concatenate(
            [np.stack([ends[:, 0], middle], 1), np.stack([middle, ends[:, 1]], 1)]
        )
        a, b, owner = np.concatenate([a, J]), np.concatenate([J, b]), np.tile(owner, 2)
    good[owner[good[owner]]] = False
    return good
