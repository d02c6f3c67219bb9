"""What is known of a mechanism before anything is measured, for the estimators."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mechid.base.baseset import BaseSet
from mechid.base.cad import parameter_covariance
from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.regressor import cad_parameters
from mechid.errors import DataError, MechidError
from mechid.estimation.bodies import USUAL_CAD_ERROR
from mechid.estimation.measured_constraints import MeasuredConstraint, informed
from mechid.estimation.perturb import body_root, check_error
from mechid.estimation.prior import Prior
from mechid.mechanism.records import Mechanism


def usual_cad_error(
    mechanism: Mechanism, cad_error: float | None = None
) -> tuple[float | None, tuple[str, ...]]:
    """Return the relative error of the CAD values to go by, and a note if it was assumed.

    None means the standard deviations that the model declares. Where it declares none at all, 20 %
    are assumed.
    """
    if cad_error is not None or np.diag(parameter_covariance(mechanism)).any():
        return cad_error, ()
    return USUAL_CAD_ERROR, (
        "the model declares no standard deviations of its CAD values: "
        f"{100 * USUAL_CAD_ERROR:.0f} % were assumed; give another CAD error to change that",
    )


def prior_from_cad(
    mechanism: Mechanism,
    base_set: BaseSet,
    *,
    cad_error: float | None = None,
    unknown: float | None = None,
    measured: Iterable[MeasuredConstraint] = (),
) -> Prior:
    """Return the CAD values of a mechanism, with their uncertainty.

    Parameters
    ----------
    mechanism : Mechanism
        Whose CAD values count. It may be another than that of the base set, if only in these.
    base_set : BaseSet
        Which parameters are estimated.
    cad_error : float, optional
        Relative error of all CAD values (0.2 for 20 %), in place of the declared standard
        deviations; what it means stands in `mechid.estimation.perturb`.
    unknown : float, optional
        Standard deviation, from zero, of coefficients of force elements that the model leaves
        open (see `left_open`). Without it those that have no value are rejected.
    measured : iterable of MeasuredConstraint, optional
        What else is known.

    Raises
    ------
    ModelError
        Naming the parameters that have no CAD value.
    DataError
        For an error or a constraint that makes no sense.
    """
    model = dynamic_model(mechanism)
    names = tuple(column.name for column in model.columns)
    if names != base_set.null_space.names:
        raise MechidError(
            "the base set belongs to another mechanism",
            where=mechanism.name,
            remedy="choose a base set of this mechanism",
        )
    values = cad_parameters(model)
    covariance = parameter_covariance(mechanism)
    bodies = tuple(
        (body.name, 10 * i) for i, body in enumerate(mechanism.bodies) if not body.massless
    )
    elements = np.arange(10 * len(mechanism.bodies), len(values))
    words = ["CAD values with their declared standard deviations"]
    missing = np.flatnonzero(left_open(model))
    if unknown is not None and missing.size:
        if not 0 < unknown < np.inf:
            raise DataError(
                f"the standard deviation of unknown values must be > 0, got {unknown:g}"
            )
        values[missing] = 0.0
        covariance[missing, missing] = unknown**2
        words.append(f"no CAD value: {', '.join(names[k] for k in missing)}")
    values = parameter_values(model, values)
    if cad_error is not None:
        check_error(cad_error)
        words[0] = f"CAD values with an error of {100 * cad_error:g} %"
        for _, first in bodies:
            ten = slice(first, first + 10)
            F = body_root(values[ten], cad_error)
            covariance[ten, ten] = F @ F.T
        sized = elements[values[elements] != 0]
        covariance[sized, sized] = (cad_error * values[sized]) ** 2
    terms = [term for term in model.terms if not term.known]
    positive = tuple(int(k) for k, x in zip(elements, terms, strict=True) if x.positive)
    known = Prior(
        parameters=names,
        base=base_set.base,
        matrix=base_set.matrix,
        values=values,
        covariance=covariance,
        bodies=bodies,
        positive=positive,
        words=tuple(words),
    )
    return informed(known, measured)


def left_open(model: DynamicModel) -> np.ndarray:
    """Return (p,): coefficients of force elements of which the model says nothing.

    They have no value, or zero without a standard deviation: zero has no size to err by.
    """
    first = 10 * len(model.mechanism.bodies)
    return np.array(
        [
            i >= first and (c.value is None or (c.value == 0 and not c.sigma))
            for i, c in enumerate(model.columns)
        ],
        dtype=bool,
    )
