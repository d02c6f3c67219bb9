"""What an identification takes as known: CAD values, also where a model is silent about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.errors import DataError, ModelError
from mechid.estimation.measured_constraints import MeasuredConstraint, informed, weighed
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.estimation.symmetry import Plane, mirrored_pairs, symmetric
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions
from mechid.tasks.cad_prior import assumed_errors, left_open, prior_from_cad, widened

if TYPE_CHECKING:
    from mechid.base.baseset import BaseSet


def constraints_from(
    options: IdentifyOptions, prior: Prior, mechanism: Mechanism
) -> tuple[MeasuredConstraint, ...]:
    """Return measured masses and symmetry as statements about the parameters.

    Raises
    ------
    DataError
        If they do not belong to this mechanism.
    """
    found = [weighed(prior, w.bodies, w.mass, w.sigma) for w in options.weigh]
    if options.symmetric is not None:
        found += symmetric(prior, mechanism, Plane.across(options.symmetric))
    return tuple(found)


def check_constraints(options: IdentifyOptions, mechanism: Mechanism) -> None:
    """Reject constraints on bodies that a mechanism does not have, before anything is computed.

    Raises
    ------
    DataError
    """
    bodies = [body.name for body in mechanism.bodies if not body.massless]
    for w in options.weigh:
        for name in w.bodies:
            if name not in bodies:
                raise DataError(
                    f"there is no body {name} with a mass",
                    where=mechanism.name,
                    remedy=f"choose one of: {', '.join(bodies)}",
                )
    if options.symmetric is not None:
        plane = Plane.across(options.symmetric)
        if not mirrored_pairs(mechanism, plane):
            raise DataError(
                f"no two bodies mirror each other across {options.symmetric} = 0",
                where=mechanism.name,
                remedy="omit symmetric, or name another axis",
            )


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
        Of the identification motion, with the parameters at least that `left_open` names: how wide
        "unknown" is depends on it.
    options : IdentifyOptions
        Its `cad_error`: by default the declared standard deviations, and 20 % where none is
        declared. A coefficient to be identified without a value, or with zero and no standard
        deviation, is left to the data. Its measured masses and symmetry.

    Raises
    ------
    ModelError
        If a body has no CAD values.
    DataError
        For constraints that make no sense.
    """
    model = dynamic_model(mechanism)
    missing = left_open(model)
    known = prior_from_cad(mechanism, chosen, cad_error=options.cad_error, unknown=1.0)
    notes = assumed_errors(mechanism, options.cad_error)
    phi = cad_parameters(model)
    silent = missing & np.isfinite(phi) & (phi != 0)
    if silent.any():
        names = ", ".join(known.parameters[k] for k in np.flatnonzero(silent))
        notes += (
            f"the model declares no uncertainty of {names}: only the data determine it; "
            "declare it in the model file to use the CAD value",
        )
    if missing.any():
        # Lengths of the columns are all that counts: as if they were one sample.
        at = [known.parameters.index(name) for name in whole.parameters]
        lengths = np.zeros((1, 1, len(known.parameters)))
        squares = np.einsum("ndk,ndk,nd->k", whole.W, whole.W, whole.valid.astype(float))
        lengths[..., at] = np.sqrt(squares)
        known = widened(known, missing, lengths, whole.target[whole.valid])
    return informed(known, constraints_from(options, known, mechanism)), notes


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
