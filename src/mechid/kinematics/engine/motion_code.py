"""Generated code for the motion of a mechanism: speeds and accelerations of its tree."""

from __future__ import annotations

import numpy as np

from mechid.kinematics.engine.path import PathCode
from mechid.kinematics.engine.record import RecordedPose
from mechid.kinematics.engine.stages import record_stages
from mechid.kinematics.model import KinematicModel
from mechid.tape.number import NOT_RECORDED


def motion_code(model: KinematicModel) -> PathCode | None:
    """Return code that leaves v and v̇ of every sample, or None where it cannot be recorded."""

    def results(
        pose: RecordedPose, R: np.ndarray, v: np.ndarray, vd: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return v, vd

    try:
        return PathCode.compile(record_stages(model, results))
    except NOT_RECORDED:
        return None
