"""How good a solved motion is: closure of the loops, limits of the joints."""

from __future__ import annotations

import numpy as np

from mechid.kinematics.joint_limits import limit_excess
from mechid.kinematics.kernels.dense import dense_rows
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.motion import Motion
from mechid.tables.files import Floats


def closure_residual(model: KinematicModel, q: Floats) -> Floats:
    """Return the largest closure residual of each pose, (N,); m, or - where a direction is held.

    All rows of the cut joints count, the redundant ones too.
    """
    closing = model.tables.rows.driver < 0
    tables = model.compiled.for_kernels
    values = [np.abs(dense_rows(tables, pose)[0][closing]).max(initial=0.0) for pose in q]
    return np.array(values, dtype=float)


def limit_notes(motion: Motion) -> tuple[str, ...]:
    """Say which joints leave their limits, how far, and when."""
    notes = []
    for joint, k, over in limit_excess(motion):
        if np.any(over):
            worst = int(np.argmax(over))
            when = f"sample {worst}" if motion.time is None else f"t = {motion.time[worst]:g} s"
            notes.append(
                f"{joint.name}.{joint.kind.coordinates[k]} leaves its limits by "
                f"{over[worst]:.3g} {joint.kind.units[k]} (at {when})"
            )
    return tuple(notes)
