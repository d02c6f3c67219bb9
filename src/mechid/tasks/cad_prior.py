"""What is known of a mechanism before anything is measured, for the estimators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.regressor import cad_parameters
from mechid.errors import DataError, MechidError
from mechid.estimation.bodies import USUAL_CAD_ERROR
from mechid.estimation.measured_constraints import MeasuredConstraint, informed
from mechid.estimation.perturb import check_error
from mechid.estimation.prior import Prior
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism

if TYPE_CHECKING:
    from mechid.base.baseset import BaseSet

_WIDE = 10.0  # times what would alone make all forces: next to nothing is known


def undeclared_values(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the bodies and coefficients with a CAD value but no declared standard deviation.

    Of a body that declares some of them, what is missing stands in parentheses.
    """
    model = dynamic_model(mechanism)
    bodies = [
        body.name if len(missing) == 3 else f"{body.name} ({', '.join(missing)})"
        for body in mechanism.bodies
        if body.inertia is not None and not body.massless
        if (missing := body.inertia.undeclared)
    ]
    return (*bodies, *(model.columns[k].name for k in _unsized(model)))


def assumed_errors(mechanism: Mechanism, cad_error: float | None = None) -> tuple[str, ...]:
    """Return a note about the CAD values that get the usual error, if there are such."""
    missing = undeclared_values(mechanism) if cad_error is None else ()
    if not missing:
        return ()
    usual = f"{100 * USUAL_CAD_ERROR:.0f} % were assumed"
    if not _declares(mechanism):
        return (
            f"the model declares no standard deviations of its CAD values: {usual}; "
            "give another CAD error to change that",
        )
    return (
        f"the model declares no uncertainty of {', '.join(missing)}: {usual}; "
        "declare it in the model file (0 for exact), or give one CAD error for all values",
    )


def cad_covariance(mechanism: Mechanism, cad_error: float | None = None) -> Floats:
    """Return the covariance of all CAD values (p, p); zero where there is no value.

    Without a relative error of all values, the declared standard deviations, and the usual error
    of 20 % where none is declared.
    """
    from mechid.base.cad import parameter_covariance

    error = USUAL_CAD_ERROR if cad_error is None else cad_error
    check_error(error)
    model = dynamic_model(mechanism)
    covariance = parameter_covariance(mechanism, error, declared=cad_error is None)
    values = cad_parameters(model)
    elements = np.arange(10 * len(mechanism.bodies), len(values))
    sized = (
        elements[np.nan_to_num(values[elements]) != 0] if cad_error is not None else _unsized(model)
    )
    covariance[sized, sized] = (error * values[sized]) ** 2
    return covariance


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
        deviations; what it means stands in `mechid.estimation.perturb`. By default the declared
        ones, and 20 % where none is declared.
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
    covariance = cad_covariance(mechanism, cad_error)
    bodies = tuple(
        (body.name, 10 * i) for i, body in enumerate(mechanism.bodies) if not body.massless
    )
    elements = np.arange(10 * len(mechanism.bodies), len(values))
    words = [f"CAD values with {_known_words(mechanism, cad_error)}"]
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


def _declares(mechanism: Mechanism) -> bool:
    """Return whether a model declares any standard deviation of a CAD value."""
    from mechid.base.cad import parameter_covariance

    inertias = [body.inertia for body in mechanism.bodies if body.inertia is not None]
    return bool(parameter_covariance(mechanism).any()) or any(cad.exact for cad in inertias)


def _known_words(mechanism: Mechanism, cad_error: float | None) -> str:
    missing = undeclared_values(mechanism)
    if cad_error is not None or (missing and not _declares(mechanism)):
        return f"an error of {100 * (cad_error or USUAL_CAD_ERROR):g} %"
    usual = f"; 20 % assumed for {', '.join(missing)}" if missing else ""
    return "their declared standard deviations" + usual


def _unsized(model: DynamicModel) -> list[int]:
    """Return the coefficients of force elements with a value but no standard deviation."""
    first = 10 * len(model.mechanism.bodies)
    return [i for i, c in enumerate(model.columns) if i >= first and c.value and c.sigma is None]


def widened(known: Prior, missing: np.ndarray, W: Floats, forces: Floats) -> Prior:
    """Return a prior that leaves coefficients (p,) to the data.

    Their standard deviation is ten times what would alone make all forces (N, n) with the
    observation matrix W (N, n, p); a column of zeros shows nothing, so any will do.
    """
    lengths = np.sqrt(np.sum(W**2, axis=(0, 1)))
    size = float(np.sqrt(np.sum(forces**2)))
    covariance = known.covariance.copy()
    for k in np.flatnonzero(missing):
        covariance[k, k] = (_WIDE * size / lengths[k]) ** 2 if lengths[k] > 0 else 1.0
    return replace(known, covariance=covariance)


def left_open(model: DynamicModel) -> np.ndarray:
    """Return (p,): coefficients of force elements of which the model says nothing.

    They have no value, or zero without a standard deviation: zero has no size to err by.
    """
    first = 10 * len(model.mechanism.bodies)
    return np.array(
        [
            i >= first and (c.value is None or (c.value == 0 and c.sigma is None))
            for i, c in enumerate(model.columns)
        ],
        dtype=bool,
    )
