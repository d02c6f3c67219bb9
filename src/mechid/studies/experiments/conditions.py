"""Experiment `conditions`: condition numbers of the observation matrix of a motion."""

from __future__ import annotations

import numpy as np

from mechid.studies.experiment import Experiment, Row
from mechid.studies.fitted import condition_numbers
from mechid.studies.one_by_one import one_by_one
from mechid.studies.reduced import Reduced, columns, exact


def rows(s: Reduced) -> list[Row]:
    """Return one row: κ(W) with columns of unit length and in SI units, κ(WᵀW) in SI units.

    All are computed in double precision, which shows no more than about 1e16; κ(WᵀW) is that of the
    product, which has lost half of the digits.
    """
    r = exact(s)
    A = r.stacked()[0]
    unit, raw = condition_numbers(r)
    return [
        {
            "parameters": A.shape[1],
            "valid": columns(s).base is not None,
            "condition": unit,
            "raw_condition": raw,
            "information": float(np.linalg.cond(A.T @ A)),
        }
    ]


EXPERIMENT = Experiment(Reduced, Reduced.shared, one_by_one(rows))
