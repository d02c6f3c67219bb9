"""Experiment `time-history`: quantities of a simulation over time, a row per sample of each."""

from __future__ import annotations

import numpy as np

from mechid.dynamics.simulation import Simulation, simulated_motion
from mechid.errors import DataError
from mechid.estimation.regression import Floats
from mechid.kinematics.joints import joint_motion
from mechid.studies.experiment import Experiment, Row
from mechid.studies.one_by_one import one_by_one
from mechid.studies.simulated import Simulated, differences, relative_energy_error, simulated
from mechid.textfile.words import hint

_ENERGIES = ("kinetic", "potential", "work", "dissipated")
_ERRORS = ("constraint error", "energy error", "difference")


def rows(s: Simulated) -> list[Row]:
    """Return quantity, time (s) and value (SI units; energy errors relative to their range)."""
    found = simulated(s)
    return [
        {"quantity": name, "time": float(t), "value": float(x)}
        for name in s.quantities
        for t, x in zip(found.time, _values(s, found, name), strict=True)
    ]


def _values(s: Simulated, found: Simulation, name: str) -> Floats:
    mechanism = found.model.mechanism
    coordinates = [c.name for c in mechanism.coordinates]
    forces = [c.force for c in mechanism.coordinates]
    joints = [j.name for j in mechanism.joints]
    if name in _ENERGIES:
        return np.asarray(getattr(found, name))
    if name in coordinates:
        return found.y[:, coordinates.index(name)]
    if name in forces:
        return found.tau[:, forces.index(name)]
    if name in joints:
        return joint_motion(simulated_motion(found), name).coordinates[:, 0]
    if name == "constraint error":
        return found.constraint_error * found.model.kinematics.size
    if name == "energy error":
        return relative_energy_error(found)
    if name == "difference":
        off = differences(s, found)
        return np.full(len(found.time), np.nan) if off is None else off
    known = [*coordinates, *forces, *joints, *_ENERGIES, *_ERRORS]
    raise DataError(f"there is no quantity {name}", where=s.model, remedy=hint(name, known))


EXPERIMENT = Experiment(Simulated, Simulated.shared, one_by_one(rows))
