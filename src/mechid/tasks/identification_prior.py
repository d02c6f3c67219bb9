"""What an identification takes as known: CAD values, also where a model is silent about them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.base.baseset import BaseSet
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.errors import ModelError
from mechid.estimation.measured_constraints import informed
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions
from mechid.tasks.cad_prior import left_open, prior_from_cad, usual_cad_error
from mechid.tasks.measured_constraints import constraints_from

_WIDE = 10.0  # times what would alone make all forces: next to nothing is known


def prior_of(
    mechanism: Mechanism,
    chosen: BaseSet,
    whole: Regression,
    options: IdentifyOptions = IdentifyOptions(),  # noqa: B008 - frozen
) -> tuple[Prior, tuple[str, ...]]:
    """Return what is known before measuring, and notes about what was assumed.

    Parameters
    ----------
    mechanism : Mechanism
    chosen : BaseSet
    whole : Regression
        Of the identification motion, with all p parameters: how wide "unknown" is depends on it.
    options : IdentifyOptions
        Its `cad_error`: by default the declared standard deviations, or 20 % where a model declares
        none at all. A coefficient to be identified that has no standard deviation then is left to
        the data. Its measured masses and symmetry.

    Raises
    ------
    ModelError
        If a body has no CAD values.
    DataError
        For constraints that make no sense.
    """
    notes: list[str] = []
    model = dynamic_model(mechanism)
    missing = left_open(model)
    cad_error, assumed = usual_cad_error(mechanism, options.cad_error)
    known = prior_from_cad(mechanism, chosen, cad_error=cad_error, unknown=1.0)
    notes += assumed
    silent = (_undeclared(known, mechanism) | missing) & np.isfinite(cad_parameters(model))
    if silent.any():
        names = ", ".join(known.parameters[k] for k in np.flatnonzero(silent))
        notes.append(
            f"the model declares no uncertainty of {names}: only the data determine it; "
            "declare it in the model file to use the CAD value"
        )
    missing = missing | silent
    if missing.any():
        known = _widened(known, missing, whole)
    return informed(known, constraints_from(options, known, mechanism)), tuple(notes)


def _undeclared(known: Prior, mechanism: Mechanism) -> np.ndarray:
    """Return (p,): coefficients to be identified without a declared standard deviation."""
    found = np.asarray(np.diag(known.covariance) == 0)
    found[: 10 * len(mechanism.bodies)] = False
    return found


def _widened(known: Prior, missing: np.ndarray, whole: Regression) -> Prior:
    """Give coefficients without CAD value or standard deviation a standard deviation that leaves
    them to the data."""
    W = np.where(whole.valid[..., None], whole.W, 0.0)
    lengths = np.sqrt(np.sum(W**2, axis=(0, 1)))
    size = float(np.sqrt(np.sum(whole.target[whole.valid] ** 2)))
    covariance = known.covariance.copy()
    for k in np.flatnonzero(missing):
        # A column of zeros shows nothing, so any standard deviation will do.
        covariance[k, k] = (_WIDE * size / lengths[k]) ** 2 if lengths[k] > 0 else 1.0
    return replace(known, covariance=covariance)


def cad_or_none(
    mechanism: Mechanism,
    chosen: BaseSet,
    whole: Regression,
    options: IdentifyOptions,
) -> tuple[Prior | None, tuple[str, ...], ModelError | None]:
    """Return what `prior_of` does; for a model without CAD values nothing, and why."""
    try:
        return *prior_of(mechanism, chosen, whole, options), None
    except ModelError as error:
        return None, (), error
