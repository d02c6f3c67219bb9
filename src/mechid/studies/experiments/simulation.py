"""Experiment `simulation`: evaluations and errors of a simulation, one row per cell."""

from __future__ import annotations

import numpy as np

from mechid.studies.experiment import Experiment, Row
from mechid.studies.one_by_one import one_by_one
from mechid.studies.simulated import Simulated, differences, relative_energy_error, simulated


def rows(s: Simulated) -> list[Row]:
    """Return one row: evaluations, steps, where it ended (s), and the largest errors.

    `constraint_error` is in m, `energy_error` relative to the range of the energies, `difference`
    (from what is expected, or from the reference) in the unit of the coordinate, m or rad.
    """
    found = simulated(s)
    off = differences(s, found)
    return [
        {
            "evaluations": found.evaluations,
            "steps": found.steps,
            "ended": float(found.time[-1]),
            "constraint_error": float(found.constraint_error.max()) * found.model.kinematics.size,
            "energy_error": float(relative_energy_error(found).max()),
            "difference": None if off is None else float(np.nanmax(off)),
        }
    ]


EXPERIMENT = Experiment(Simulated, Simulated.shared, one_by_one(rows))
