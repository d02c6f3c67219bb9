"""Experiment `prediction`: a reduced model predicts the forces of a motion, one row per cell."""

from __future__ import annotations

from mechid.studies.experiment import Experiment, Row
from mechid.studies.fitted import condition_numbers, fitted, predicted
from mechid.studies.one_by_one import one_by_one
from mechid.studies.reduced import Reduced
from mechid.validation.errors import force_errors


def rows(s: Reduced) -> list[Row]:
    """Return one row: E_p and the relative absolute error ε_RA of the predicted forces.

    `error_cad` and `absolute_cad` are those of the same parameters with their CAD values.
    """
    f = fitted(s)
    forces, r = predicted(s, f)
    found = force_errors(forces, r)
    unit, raw = condition_numbers(r.select(f.parameters))
    guess = force_errors(predicted(s, f, f.cad)[0], r)
    return [
        {
            "kept": f.kept,
            "parameters": len(f.parameters),
            "condition": f.condition,
            "raw_condition": f.raw_condition,
            "condition_validation": unit,
            "raw_condition_validation": raw,
            "error": found.total,
            "absolute": found.stacked_absolute,
            "error_cad": guess.total,
            "absolute_cad": guess.stacked_absolute,
        }
    ]


EXPERIMENT = Experiment(Reduced, Reduced.shared, one_by_one(rows))
