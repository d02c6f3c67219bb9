"""What an identification takes as known: CAD values, also where a model is silent about them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.base.baseset import BaseSet
from mechid.dynamics.compile import dynamic_model
from mechid.errors import ModelError
from mechid.estimation.measured_constraints import informed
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.mechanism.records import Mechanism
from mechid.tasks.cad_prior import left_open, prior_from_cad
from mechid.tasks.measured_constraints import NO_CONSTRAINTS, MeasuredConstraints, constraints_from

USUAL_ERROR = 0.2  # of CAD values whose deviations nobody declares
_WIDE = 10.0  # times what would alone make all forces: next to nothing is known


def prior_of(
    mechanism: Mechanism,
    chosen: BaseSet,
    whole: Regression,
    cad_error: float | None = None,
    measured: MeasuredConstraints = NO_CONSTRAINTS,
) -> tuple[Prior, tuple[str, ...]]:
    """Return what is known before measuring, and notes about what was assumed.

    Parameters
    ----------
    mechanism : Mechanism
    chosen : BaseSet
    whole : Regression
        Of the identification motion, with all p parameters: how wide "unknown" is depends on it.
    cad_error : float, optional
        Relative error of the CAD values; by default the declared deviations, or 20 % where a model
        declares none at all. A coefficient to be identified that has no deviation then is left
        to the data.
    measured : MeasuredConstraints
        What is known besides.

    Raises
    ------
    ModelError
        If a body has no CAD values.
    DataError
        For facts that make no sense.
    """
    notes = []
    model = dynamic_model(mechanism)
    missing = left_open(model)
    known = prior_from_cad(mechanism, chosen, cad_error=cad_error, unknown=1.0)
    declared = np.diag(known.covariance)[~missing] > 0
    if cad_error is None and not declared.any():
        known = prior_from_cad(mechanism, chosen, cad_error=USUAL_ERROR, unknown=1.0)
        notes.append(
            "the model declares no deviations of its CAD values: "
            f"{100 * USUAL_ERROR:.0f} % were assumed; say --cad-error to change that"
        )
    silent = _undeclared(known, mechanism) & ~missing
    if silent.any():
        names = ", ".join(known.parameters[k] for k in np.flatnonzero(silent))
        notes.append(
            f"the model declares no uncertainty of {names}, to be identified: the data alone "
            "decide; declare it in the model file to have the CAD value count"
        )
    missing = missing | silent
    if missing.any():
        known = _widened(known, missing, whole)
    return informed(known, constraints_from(measured, known, mechanism)), tuple(notes)


def _undeclared(known: Prior, mechanism: Mechanism) -> np.ndarray:
    """Return (p,): coefficients to be identified that nobody gives a deviation."""
    found = np.asarray(np.diag(known.covariance) == 0)
    found[: 10 * len(mechanism.bodies)] = False
    return found


def _widened(known: Prior, missing: np.ndarray, whole: Regression) -> Prior:
    """Give coefficients without CAD value or deviation a deviation that leaves them to the data."""
    W = np.where(whole.valid[..., None], whole.W, 0.0)
    lengths = np.sqrt(np.sum(W**2, axis=(0, 1)))
    size = float(np.sqrt(np.sum(whole.target[whole.valid] ** 2)))
    covariance = known.covariance.copy()
    for k in np.flatnonzero(missing):
        # A column of zeros shows nothing, so any deviation will do.
        covariance[k, k] = (_WIDE * size / lengths[k]) ** 2 if lengths[k] > 0 else 1.0
    return replace(known, covariance=covariance)


def cad_or_none(
    mechanism: Mechanism,
    chosen: BaseSet,
    whole: Regression,
    cad_error: float | None,
    measured: MeasuredConstraints = NO_CONSTRAINTS,
) -> tuple[Prior | None, tuple[str, ...], ModelError | None]:
    """Return what `prior_of` does; for a model without CAD values nothing, and why."""
    try:
        return *prior_of(mechanism, chosen, whole, cad_error, measured), None
    except ModelError as error:
        return None, (), error
