"""Drives that give way under load, and what that does to the parameters.

A position that is measured at the motor is that of the link and a deflection, y + c τ. The forces
τ(y) of the link differ from those that the model gives for the measured motion by

    -c (∂f/∂y τ + ∂f/∂ẏ τ̇ + ∂f/∂ÿ τ̈),

which inertias of drives take up for the most part. How much drives give way is taken as alike: a
part of their motion, under their usual force.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.errors import MechidError
from mechid.estimation.doubtful_forces import DoubtfulForces
from mechid.estimation.estimate import Estimate
from mechid.estimation.regression import Floats, joined
from mechid.mechanism.element_terms import driven_joints
from mechid.mechanism.records import Mechanism
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.regress import regression_of
from mechid.validation.diagnosis_linear import Candidate

_STEP = 1e-4  # of the motion of a drive: what is linear in it
_MOST = 100_000  # samples: the forces are computed twice for each drive
_REMEDY = "measure the positions of the links, or move more slowly"


def elastic_candidate(
    estimate: Estimate, mechanism: Mechanism, logs: Sequence[PreparedMeasurement]
) -> list[Candidate]:
    """Return what deflections as large as the motion of each drive would add to the forces.

    None where no drive has a measured force, or where the mechanism does not move on so.
    """
    try:
        columns = list(_columns(estimate, mechanism, logs))
    except MechidError:
        return []
    if not columns:
        return []
    parts = np.stack(columns, axis=-1)
    return [Candidate("elasticity", "", parts.sum(axis=-1), "", "", _REMEDY, parts)]


def doubtful_elasticity(forces: Floats | None) -> DoubtfulForces | None:
    """Return deflections of drives as forces that parameters have adapted to.

    Parameters
    ----------
    forces : array (N, n_d, k), optional
        Of each drive, as the diagnosis found them.
    """
    if forces is None:
        return None
    return DoubtfulForces(forces, "what drives that give way under load would do to the parameters")


def _columns(
    estimate: Estimate, mechanism: Mechanism, logs: Sequence[PreparedMeasurement]
) -> Iterator[Floats]:
    """Yield forces (N, n_d) of the deflection of each drive."""
    model = dynamic_model(mechanism)

    def forces(motions: Sequence[PreparedMeasurement]) -> Floats:
        r = joined([regression_of(model, motion, estimate.parameters) for motion in motions])
        return np.asarray(r.W @ estimate.values + r.known)

    channels = logs[0].forces
    drives = {
        i: channels.index(c.force)
        for i in driven_joints(mechanism.coordinates, mechanism.joint).values()
        if not (c := mechanism.coordinates[i]).held and c.force in channels
    }
    if not drives or sum(len(log.time) for log in logs) > _MOST:
        return
    acting = [forces([replace(log, decimation=1)]) for log in logs]
    usual = np.sqrt(np.mean(np.concatenate(acting) ** 2, axis=0))
    for i, j in drives.items():
        moved = float(np.std(np.concatenate([log.y[:, i] for log in logs])))
        if not (moved > 0 and usual[j] > 0):
            continue
        one, other = (
            forces(
                [
                    _deflected(log, i, step * moved * own[:, j] / usual[j])
                    for log, own in zip(logs, acting, strict=True)
                ]
            )
            for step in (_STEP, -_STEP)
        )
        yield -(one - other) / (2 * _STEP)


def _deflected(motion: PreparedMeasurement, i: int, by: Floats) -> PreparedMeasurement:
    """Return a motion in which a coordinate is deflected by (N,)."""
    values = [motion.y.copy(), motion.yd.copy(), motion.ydd.copy()]
    for x in values:
        x[:, i] += by
        by = np.gradient(by, motion.time)
    y, yd, ydd = values
    return replace(motion, y=y, yd=yd, ydd=ydd)
