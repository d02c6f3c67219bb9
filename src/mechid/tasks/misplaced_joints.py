"""Joints that are not quite where the model has them, where nobody says how well places are known.

Parameters imitate much of what other places do to the forces, and residuals need not show it: a
first moment about an axis is known no better than the axis. So standard deviations of parameters
contain displacements of the size of fine tolerances, as the mean square over some machines whose
joints are all off. Columns for all joints and axes would take as many models; the standard
deviation that some machines tell is right to a fifth, which is enough for a size that is a guess.
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
from mechid.tasks.doubtful_places import place_words
from mechid.tasks.regress import regression_of

# Standard deviation in every axis, of the size of the mechanism. ISO 2768-f allows ±0.2 mm from 120
# to 400 mm and ±0.3 mm up to 1 m: standard deviations of uniform errors are 0.03 % and more.
USUAL_PLACE = 0.0003
_MACHINES, _SEED = 16, 0
_MOST = 100_000  # samples: the forces are computed once for each machine
_ADVICE = "; declare how well places are known (--hardpoints), 0 if they are exact"


def misplaced_joints(
    mechanism: Mechanism, logs: Sequence[PreparedMeasurement], prior: Prior
) -> DoubtfulForces | None:
    """Return what joints at other places add to the forces, one column for each machine.

    Forces are those of the CAD values. None if no place matters, if CAD values are missing, or if
    a machine whose joints are elsewhere does not perform the motion.
    """
    joints, off = movable_joints(mechanism), USUAL_PLACE * characteristic_size(mechanism)
    long = sum(len(log.time) for log in logs) > _MOST
    if not joints or long or not np.all(np.isfinite(prior.values)):
        return None

    def forces(machine: Mechanism) -> Floats:
        model = dynamic_model(machine)
        found = [regression_of(model, log) for log in logs]
        return np.concatenate([r.W @ prior.values + r.known for r in found])

    # Signs alone: what one displacement does is then the same in all machines, and known exactly.
    drawn = off * np.random.default_rng(_SEED).choice((-1.0, 1.0), (_MACHINES, len(joints), 3))
    try:
        rest = forces(mechanism)
        columns = [
            forces(with_joints_moved(mechanism, dict(zip(joints, by.tolist(), strict=True)))) - rest
            for by in drawn
        ]
    except MechidError:
        return None
    found = np.stack(columns, axis=-1) / np.sqrt(_MACHINES)
    return DoubtfulForces(found, place_words(off), _ADVICE, places=True)
