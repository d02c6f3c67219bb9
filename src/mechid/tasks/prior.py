"""What an identification takes as known: CAD values, also where a model is silent about them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.base.baseset import BaseSet
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.errors import ModelError
from mechid.estimation.knowledge import Knowledge
from mechid.estimation.regression import Regression
from mechid.mechanism.records import Mechanism
from mechid.tasks.knowledge import knowledge_of

USUAL_ERROR = 0.2  # of CAD values whose deviations nobody declares
_WIDE = 10.0  # times what would alone make all forces: next to nothing is known


def prior_of(
    mechanism: Mechanism, chosen: BaseSet, whole: Regression, cad_error: float | None = None
) -> tuple[Knowledge, tuple[str, ...]]:
    """Return what is known before measuring, and notes about what was assumed.

    Parameters
    ----------
    mechanism : Mechanism
    chosen : BaseSet
    whole : Regression
        Of the identification motion, with all p parameters: how wide "unknown" is depends on it.
    cad_error : float, optional
        Relative error of the CAD values; by default the declared deviations, or 20 % where a model
        declares none at all.

    Raises
    ------
    ModelError
        If a body has no CAD values.
    """
    notes = []
    model = dynamic_model(mechanism)
    missing = np.isnan(cad_parameters(model))
    known = knowledge_of(mechanism, chosen, cad_error=cad_error, unknown=1.0)
    declared = np.diag(known.covariance)[~missing] > 0
    if cad_error is None and not declared.any():
        known = knowledge_of(mechanism, chosen, cad_error=USUAL_ERROR, unknown=1.0)
        notes.append(
            "the model declares no deviations of its CAD values: "
            f"{100 * USUAL_ERROR:.0f} % were assumed; say --cad-error to change that"
        )
    if missing.any():
        known = _widened(known, missing, whole)
    return known, tuple(notes)


def _widened(known: Knowledge, missing: np.ndarray, whole: Regression) -> Knowledge:
    """Give coefficients without CAD value a deviation that leaves them to the data."""
    W = np.where(whole.valid[..., None], whole.W, 0.0)
    lengths = np.sqrt(np.sum(W**2, axis=(0, 1)))
    size = float(np.sqrt(np.sum(whole.target[whole.valid] ** 2)))
    covariance = known.covariance.copy()
    for k in np.flatnonzero(missing):
        # A column of zeros shows nothing, so any deviation will do.
        covariance[k, k] = (_WIDE * size / lengths[k]) ** 2 if lengths[k] > 0 else 1.0
    return replace(known, covariance=covariance)


def cad_or_none(
    mechanism: Mechanism, chosen: BaseSet, whole: Regression, cad_error: float | None
) -> tuple[Knowledge | None, tuple[str, ...], ModelError | None]:
    """Return what `prior_of` does; for a model without CAD values nothing, and why."""
    try:
        return *prior_of(mechanism, chosen, whole, cad_error), None
    except ModelError as error:
        return None, (), error
