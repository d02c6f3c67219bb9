"""Experiment `forces`: exact and predicted forces over time, a row per sample, force and curve."""

from __future__ import annotations

import numpy as np

from mechid.studies.experiment import Experiment, Row
from mechid.studies.fitted import fitted, predicted
from mechid.studies.one_by_one import one_by_one
from mechid.studies.reduced import Reduced


def rows(s: Reduced) -> list[Row]:
    """Return force, curve (exact, predicted, or difference of the two), time (s) and value (N or
    N m)."""
    forces, r = predicted(s, fitted(s))
    last = np.inf if s.reported is None else s.reported
    curves = {"exact": r.tau, "predicted": forces, "difference": forces - r.tau}
    return [
        {"force": name, "curve": curve, "time": float(t), "value": float(values[k, i])}
        for i, name in enumerate(r.channels)
        for curve, values in curves.items()
        for k, t in enumerate(r.time)
        if t < last
    ]


EXPERIMENT = Experiment(Reduced, Reduced.shared, one_by_one(rows))
