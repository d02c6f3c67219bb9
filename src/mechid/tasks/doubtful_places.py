"""Joints that may be elsewhere than the model has them, in standard deviations of parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.errors import DataError
from mechid.estimation.doubtful_forces import DoubtfulForces
from mechid.estimation.prior import Prior
from mechid.mechanism.moved import movable_joints
from mechid.mechanism.records import Mechanism
from mechid.mechanism.size import characteristic_size
from mechid.options.noise import NoiseLevels
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.hardpoint_columns import displaced
from mechid.tasks.regress import regression_of

_FAR = 0.1  # of the size of the mechanism: forces are linear in displacements far below it


def check_places(levels: NoiseLevels, mechanism: Mechanism) -> None:
    """Reject places of joints that do not exist, and sizes that make no sense.

    Raises
    ------
    DataError
    """
    known, size = movable_joints(mechanism), characteristic_size(mechanism)
    for joint, level in {"": levels.every, **levels.channels}.items():
        if joint and joint not in known:
            raise DataError(
                f"there is no joint {joint} for hardpoints",
                where=mechanism.name,
                remedy=f"choose one of: {', '.join(known)}",
            )
        value = level.value * (size if level.relative else 1.0)
        if not 0 <= value < _FAR * size:
            where = f" of {joint}" if joint else ""
            raise DataError(
                f"hardpoints{where} must be between 0 and a tenth of the size of the mechanism, "
                f"{_FAR * size:.3g} m, got {value:g} m",
                remedy="give a standard deviation in metres, as 0.0005, or in percent",
            )


def doubtful_places(
    mechanism: Mechanism,
    logs: Sequence[PreparedMeasurement],
    levels: NoiseLevels,
    prior: Prior,
) -> DoubtfulForces | None:
    """Return what joints at other places add to the forces of all logs.

    One column for each axis of each joint, for a displacement of one standard deviation; forces are
    those of the CAD values. None if all places are known.
    """
    size = characteristic_size(mechanism)
    sigma = {
        joint: level.value * (size if level.relative else 1.0)
        for joint in movable_joints(mechanism)
        if (level := levels.of(joint)).value
    }
    if not sigma:
        return None
    columns = []
    for name, models, apart in displaced(mechanism, list(sigma)):
        one, other = (
            np.concatenate([r.W @ prior.values + r.known for r in found])
            for found in ([regression_of(model, log) for log in logs] for model in models)
        )
        columns.append(sigma[name.rpartition(".")[0]] / apart * (one - other))
    words = place_words(max(sigma.values()), alike=len(set(sigma.values())) == 1)
    return DoubtfulForces(np.stack(columns, axis=-1), words, places=True)


def place_words(sigma: float, *, alike: bool = True) -> str:
    """Say how well places of joints are known: standard deviation in m, of all or of the worst."""
    by = "by" if alike else "by up to"
    return (
        f"that joints may be elsewhere {by} {1e3 * sigma:.2g} mm (standard deviation) in every axis"
    )
