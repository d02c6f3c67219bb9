"""What joints that are not quite where the model has them would do to the parameters.

Places are taken as exact unless they are declared. Parameters imitate much of what other places do
to the forces, and residuals need not show it. So the result says what it rests on: the shift that
usual errors of the places would cause, as the root mean square over some machines whose joints are
all off, each in a direction of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.errors import MechidError
from mechid.estimation.doubtful_forces import DoubtfulForces
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats
from mechid.mechanism.moved import movable_joints, with_joints_moved
from mechid.mechanism.records import Mechanism
from mechid.mechanism.size import characteristic_size
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.regress import regression_of

_OFF = (
    0.001  # of the size of the mechanism: some tenths of a millimetre of a linkage, 1 mm of a car
)
_MACHINES, _SEED = 12, 0
_MOST = 100_000  # samples: the forces are computed once for each machine
_REMEDY = (
    "places are taken as exact; declare how well they are known (--hardpoints), so that standard "
    "deviations contain it, or that they are exact (--hardpoints 0)"
)


def misplaced_joints(
    mechanism: Mechanism, logs: Sequence[PreparedMeasurement], prior: Prior
) -> DoubtfulForces | None:
    """Return what joints at other places add to the forces, one column for each machine.

    Forces are those of the CAD values. None if no place matters, if CAD values are missing, or if
    a machine whose joints are elsewhere does not perform the motion.
    """
    joints, off = movable_joints(mechanism), _OFF * characteristic_size(mechanism)
    long = sum(len(log.time) for log in logs) > _MOST
    if not joints or long or not np.all(np.isfinite(prior.values)):
        return None

    def forces(machine: Mechanism) -> Floats:
        model = dynamic_model(machine)
        found = [regression_of(model, log) for log in logs]
        return np.concatenate([r.W @ prior.values + r.known for r in found])

    drawn = np.random.default_rng(_SEED).standard_normal((_MACHINES, len(joints), 3))
    drawn *= off / np.linalg.norm(drawn, axis=2)[..., None]
    try:
        rest = forces(mechanism)
        columns = [
            forces(with_joints_moved(mechanism, dict(zip(joints, by.tolist(), strict=True)))) - rest
            for by in drawn
        ]
    except MechidError:
        return None
    words = f"joints that are all {1e3 * off:.2g} mm off their places, in random directions, would"
    return DoubtfulForces(np.stack(columns, axis=-1) / np.sqrt(_MACHINES), words, _REMEDY)
