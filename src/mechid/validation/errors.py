"""Errors of predicted forces: per force, so that newtons and newton metres never mix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.estimation.regression import Bools, Floats, Regression


@dataclass(frozen=True, eq=False)
class ForceErrors:
    """Errors of the predicted forces of one motion; NaN for forces never measured.

    Attributes
    ----------
    channels : tuple of str
        Names of the n_d forces.
    units : tuple of str
    rms : array (n_d,)
        Root mean square of predicted less measured (N or N m).
    prediction : array (n_d,)
        E_p of each force, ‖τ_est - τ‖/‖τ‖.
    absolute : array (n_d,)
        Relative absolute error, Σ|τ_est - τ|/Σ|τ - mean τ|.
    r2 : array (n_d,)
        1 - Σ(τ_est - τ)²/Σ(τ - mean τ)².
    overall : mapping unit → float
        ‖τ_est - τ‖/‖τ‖ over all forces of a unit, N or N m.
    stacked_absolute : float
        Relative absolute error of all rows together, with one mean, as the push-rod paper writes
        it. It mixes units: for comparison with that paper only.
    """

    channels: tuple[str, ...]
    units: tuple[str, ...]
    rms: Floats
    prediction: Floats
    absolute: Floats
    r2: Floats
    overall: Mapping[str, float]
    stacked_absolute: float

    @property
    def total(self) -> float:
        """Sum of E_p over the forces."""
        return float(np.nansum(self.prediction))


def force_errors(forces: Floats, regression: Regression) -> ForceErrors:
    """Compare predicted forces (N, n_d) with the measured ones of a motion.

    Raises
    ------
    DataError
        If the shapes differ.
    """
    if forces.shape != regression.tau.shape:
        raise DataError(
            f"forces must have shape {regression.tau.shape}, got {forces.shape}",
            remedy="predict the forces of the same motion",
        )
    valid = regression.valid
    tau = np.where(valid, regression.tau, 0.0)
    e = np.where(valid, forces - regression.tau, 0.0)
    n = np.count_nonzero(valid, axis=0)
    rows = max(int(np.count_nonzero(valid)), 1)
    around = np.where(valid, tau - tau.sum(axis=0) / np.maximum(n, 1), 0.0)
    together = np.where(valid, tau - tau.sum() / rows, 0.0)
    rms = np.where(n > 0, np.sqrt(np.sum(e**2, axis=0) / np.maximum(n, 1)), np.nan)
    r2 = 1.0 - _ratio(np.sum(e**2, axis=0), np.sum(around**2, axis=0), n)
    overall = {}
    for unit in dict.fromkeys(regression.units):
        own = np.array([u == unit for u in regression.units])
        error, size = (np.asarray(np.linalg.norm(x[:, own])) for x in (e, tau))
        overall[unit] = float(_ratio(error, size, n[own].sum()))
    return ForceErrors(
        regression.channels,
        regression.units,
        rms,
        prediction_error(forces, regression.tau, valid),
        _ratio(np.sum(np.abs(e), axis=0), np.sum(np.abs(around), axis=0), n),
        r2,
        overall,
        float(_ratio(np.abs(e).sum(), np.abs(together).sum(), np.array(rows))),
    )


def prediction_error(forces: Floats, tau: Floats, valid: Bools) -> Floats:
    """Return E_p of each force, ‖τ_est - τ‖/‖τ‖.

    Parameters
    ----------
    forces : array (…, N, n_d)
        Predicted, of one model or of several.
    tau : array (N, n_d)
        Measured; what is not valid is not read.
    valid : array (N, n_d) of bool

    Returns
    -------
    array (…, n_d)
        NaN for forces without a valid sample.
    """
    e = np.where(valid, forces - tau, 0.0)
    size = np.linalg.norm(np.where(valid, tau, 0.0), axis=0)
    return _ratio(np.linalg.norm(e, axis=-2), size, np.count_nonzero(valid, axis=0))


def _ratio(above: Floats, below: Floats, n: Floats) -> Floats:
    """Return above/below: 0 for 0/0 (nothing to predict, nothing predicted), NaN without
    samples."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(above == 0, 0.0, above / below)
    return np.where(n > 0, found, np.nan)
