"""From a measured motion and a base set to the linear problem, and to forces with CAD values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.regressor import cad_parameters, observe_path
from mechid.errors import DataError, MechidError
from mechid.estimation.regression import Floats, Regression
from mechid.mechanism.records import Mechanism
from mechid.runs.record import MotionData
from mechid.tables.forces import force_unit


def regression_of(
    model: DynamicModel, motion: MotionData, parameters: Sequence[str] | None = None
) -> Regression:
    """Return W φ + known = τ of a motion.

    Parameters
    ----------
    model : DynamicModel
    motion : MotionData
    parameters : sequence of str, optional
        Columns of W that are kept: those that head the base parameters; by default all.

    Raises
    ------
    MechidError
        Naming the file, if the mechanism cannot perform the motion.
    """
    try:
        seen = observe_path(model, motion.y, motion.yd, motion.ydd, time=motion.time)
    except MechidError as error:
        raise error.located(motion.source) from None
    names = [column.name for column in model.columns]
    places = [names.index(name) for name in (names if parameters is None else parameters)]
    rows = measured_rows(model.mechanism, motion.forces)
    valid = np.isfinite(motion.tau)
    return Regression(
        np.ascontiguousarray(seen.W[:, rows][:, :, places]),
        np.where(valid, motion.tau, 0.0),
        seen.known[:, rows],
        motion.time,
        tuple(names[i] for i in places),
        motion.forces,
        tuple(force_unit(model.mechanism.coordinates[i]) for i in rows),
        valid,
    )


def measured_rows(mechanism: Mechanism, forces: Sequence[str]) -> list[int]:
    """Return which forces of a mechanism were measured, by number."""
    known = [c.force for c in mechanism.coordinates]
    if strange := [name for name in forces if name not in known]:
        raise DataError(
            f"{strange[0]} is no force of the mechanism", remedy=f"those are {', '.join(known)}"
        )
    return [known.index(name) for name in forces]


def base_cad(model: DynamicModel, B: Floats) -> Floats:
    """Return the CAD values of base parameters B φ, (b,); not a number where one is missing."""
    phi = cad_parameters(model)
    known = np.isfinite(phi)
    values = B[:, known] @ phi[known]
    return np.where(np.any(B[:, ~known] != 0, axis=1), np.nan, values)
