"""Generated code for the motion of a mechanism: speeds and accelerations of its tree."""

from __future__ import annotations

import numpy as np

from mechid.kinematics.engine.batch import BatchCode
from mechid.kinematics.engine.path import PathCode
from mechid.kinematics.engine.record import RecordedKernels, RecordedPose
from mechid.kinematics.engine.stages import Placed, record_stages
from mechid.kinematics.model import KinematicModel
from mechid.tape.number import NOT_RECORDED
from mechid.tape.program import Slots, Tape


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


def jacobian_code(model: KinematicModel) -> BatchCode | None:
    """Return code from q of closed poses to `branch.dependent_jacobians`.

    None where the kernels cannot be recorded.
    """
    try:
        slots, tape = Slots(), Tape()
        given = slots.take(model.compiled.n_q)
        q = tape.input(given, model.home_q)
        J: np.ndarray = RecordedPose.closed(model, RecordedKernels(tape.recorder), q).jacobian()
        placed = Placed.of(J, slots)
        tape.output(placed.slots, J)
        return BatchCode.compile(
            tape.program(), slots.count, [given], [placed.slots], fixed=[placed.constants]
        )
    except NOT_RECORDED:
        return None
