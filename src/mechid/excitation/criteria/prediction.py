"""Prediction variance: how uncertain the forces of other motions remain (I-optimality)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.errors import DataError
from mechid.excitation.criteria.root import Floats


def prediction_factor(targets: Sequence[Floats], references: Floats | Sequence[Floats]) -> Floats:
    """Return H (≤ b, b) such that tr(H C Hᵀ) is the mean relative variance of predicted forces.

    The mean is over targets t, over the coordinates j with a reference, and over the samples n:

        tr(H C Hᵀ) = mean_t mean_j mean_n (w_tnj C w_tnjᵀ) / reference_tj².

    Parameters
    ----------
    targets : sequence of arrays (N_t, n_i, b)
        Base observation matrices of the motions that the model is for.
    references : array (n_i,), or one per target
        What an error of each force is compared with: `rms_forces` of the target, or the
        standard deviation of its noise. An infinite one leaves the coordinate out.

    Raises
    ------
    DataError
        If shapes do not fit, or a reference is zero.
    """
    if not len(targets):
        raise DataError("there are no target motions")
    rows = np.asarray(references, dtype=float)
    n_i, b = targets[0].shape[1:]
    rows = np.broadcast_to(rows, (len(targets), n_i)) if rows.ndim < 2 else rows
    H = np.zeros((0, b))
    for k, W in enumerate(targets):
        if W.shape[1:] != (n_i, b) or rows[k].shape != (n_i,) or not len(W):
            raise DataError(
                f"target {k + 1} must have shape (samples, {n_i}, {b}) and {n_i} "
                f"references, got {W.shape} and {rows[k].size}",
                remedy=f"give (samples, {n_i}, {b}) and {n_i} references",
            )
        if not np.all(rows[k] > 0):
            raise DataError(
                f"the reference of force {int(np.flatnonzero(~(rows[k] > 0))[0]) + 1} of "
                f"target {k + 1} must be > 0",
                remedy="give a positive reference, or inf to exclude the force",
            )
        counted = int(np.count_nonzero(np.isfinite(rows[k])))
        if not counted:
            raise DataError(
                f"all forces of target {k + 1} are excluded", remedy="give a finite reference"
            )
        weight = 1 / (rows[k] * np.sqrt(len(targets) * counted * len(W)))
        stacked = (W * weight[:, None]).reshape(-1, b)
        H = np.asarray(np.linalg.qr(np.vstack([H, stacked]), mode="r"))
    return H


def rms_forces(tau: Floats) -> Floats:
    """Return the root mean square of forces (N, n_i) per coordinate, as a reference (n_i,).

    A coordinate without any force gives inf: it is left out.
    """
    rms = np.sqrt(np.mean(np.asarray(tau, dtype=float) ** 2, axis=0))
    return np.where(rms > 0, rms, np.inf)
