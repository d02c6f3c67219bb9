"""Measured wrenches of joints as generalised forces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechid.dynamics.wrench import SensedJoint, sensed_joints
from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import IndependentCoordinate, Mechanism


@dataclass(frozen=True, eq=False)
class Sensed:
    """Measured forces by name: tau (N, n_d), and where they are valid."""

    forces: tuple[str, ...]
    tau: Floats
    valid: npt.NDArray[np.bool_]


def generalised_forces(
    mechanism: Mechanism,
    coordinates: tuple[IndependentCoordinate, ...],
    y: Floats,
    sensed: Sensed,
) -> Sensed:
    """Return the forces with wrenches of free and spherical joints as generalised forces.

    Parameters
    ----------
    coordinates, y : tuple, array (N, n)
        What was measured, or stands still.

    Raises
    ------
    DataError
        If a force or moment is measured in part, or the orientation of the joint is not known.
    """
    for joint in sensed_joints(mechanism):
        for part in (joint.components[:-3], joint.components[-3:]):
            given = [name for name in part if name in sensed.forces]
            missing = [name for name in part if name not in sensed.forces]
            if given and missing:
                raise DataError(
                    f"{', '.join(given)} without {', '.join(missing)}",
                    remedy="give all three components",
                )
        if any(name in sensed.forces for name in joint.components):
            known = {j.name: j for j in sensed_joints(mechanism, coordinates)}
            if joint.name not in known:
                raise DataError(
                    f"the forces in joint {joint.name} are measured, its pose is not",
                    remedy="give all its coordinates, or hold them in the model file",
                )
            sensed = _replaced(mechanism, joint, known[joint.name], y, sensed)
    return sensed


def _replaced(
    mechanism: Mechanism, joint: SensedJoint, pose: SensedJoint, y: Floats, sensed: Sensed
) -> Sensed:
    """Return the forces with those of one joint as generalised ones."""
    place = {name: k for k, name in enumerate(sensed.forces)}
    own = [place.get(name) for name in joint.components]
    wrench = np.column_stack([np.zeros(len(y)) if k is None else sensed.tau[:, k] for k in own])
    found = pose.generalised(y, wrench)
    names, tau, valid = list(sensed.forces), sensed.tau.copy(), sensed.valid.copy()
    for start in range(0, len(own), 3):
        columns = [k for k in own[start : start + 3] if k is not None]
        for j, k in enumerate(columns):
            names[k] = mechanism.coordinates[joint.columns[start + j]].force
            tau[:, k] = found[:, start + j]
            valid[:, k] = np.all(sensed.valid[:, columns], axis=1)
    if len(set(names)) < len(names):
        raise DataError(
            f"the forces of joint {joint.name} are given twice",
            remedy="give what the sensor measures, or the generalised forces",
        )
    return Sensed(tuple(names), tau, valid)
