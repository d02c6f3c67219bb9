"""Experiment `forces`: exact and predicted forces over time, a row per sample and force."""

from __future__ import annotations

import numpy as np

from mechid.studies.experiment import Experiment, Row
from mechid.studies.one_by_one import one_by_one
from mechid.studies.reduced import Reduced, fitted, predicted


def rows(s: Reduced) -> list[Row]:
    """Return time (s), force, and its exact and predicted values (N or N m)."""
    forces, r = predicted(s, fitted(s))
    last = np.inf if s.reported is None else s.reported
    return [
        {
            "time": float(t),
            "force": name,
            "exact": float(r.tau[k, i]),
            "predicted": float(forces[k, i]),
        }
        for i, name in enumerate(r.channels)
        for k, t in enumerate(r.time)
        if t < last
    ]


EXPERIMENT = Experiment(Reduced, Reduced.shared, one_by_one(rows))
