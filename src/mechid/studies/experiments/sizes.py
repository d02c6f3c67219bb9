"""Experiment `sizes`: errors and condition numbers against the number of parameters.

Parameters are eliminated one by one, the smallest contribution first, going by CAD values.
"""

from __future__ import annotations

import numpy as np

from mechid.reduction.curves import reduction_curves
from mechid.studies.experiment import Experiment, Row
from mechid.studies.fitted import OLS
from mechid.studies.one_by_one import one_by_one
from mechid.studies.reduced import Reduced, contributions, counted, exact, measured

NOTICED = 1e-6  # growth of E_p above rounding, and far below what matters


def rows(s: Reduced) -> list[Row]:
    """Return a row per number of parameters.

    E_p is that on the motion of identification (with its measured forces) and on the motion for
    validation (exact forces). `removable` is how many parameters can go before E_p on the motion of
    identification grows by 1e-6; it is the same in all rows of a cell.
    """
    order = contributions(s).ranking.order
    r, other = counted(s, measured(s)), counted(s, exact(s, s.validation))
    found = reduction_curves(order, r, OLS, validation=[other])
    own = found.identification_total
    enough = found.sizes[np.flatnonzero(own > own[-1] + NOTICED)]
    removable = len(order) - (int(enough.max()) + 1 if len(enough) else 1)
    wanted = set(s.sizes) or set(found.sizes.tolist())
    return [
        {
            "parameters": int(n),
            "condition": float(found.condition[k]),
            "raw_condition": float(found.raw_condition[k]),
            "error_identification": float(own[k]),
            "error_validation": float(found.validation_total[k, 0]),
            "removable": removable,
        }
        for k, n in enumerate(found.sizes)
        if int(n) in wanted
    ]


EXPERIMENT = Experiment(Reduced, Reduced.shared, one_by_one(rows))
