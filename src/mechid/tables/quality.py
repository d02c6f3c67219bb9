"""How good a solved motion is: closure of the loops, limits of the joints."""

from __future__ import annotations

import numpy as np

from mechid.kinematics.joints import joint_motion
from mechid.kinematics.kernels.dense import dense_rows
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.motion import Motion
from mechid.tables.files import Floats

_SLACK = 1e-9  # of the size, or rad: a motion that is meant to touch a limit does so with rounding


def closure_residual(model: KinematicModel, q: Floats) -> Floats:
    """Return the largest closure residual of each pose, (N,); m, or - where a direction is held.

    All rows of the cut joints count, the redundant ones too.
    """
    closing = model.tables.rows.driver < 0
    values = [np.abs(dense_rows(model.tables, pose)[0][closing]).max(initial=0.0) for pose in q]
    return np.array(values, dtype=float)


def limit_notes(motion: Motion) -> tuple[str, ...]:
    """Say which joints leave their limits, how far, and when."""
    notes = []
    for joint in motion.model.mechanism.joints:
        if not joint.limits:
            continue
        coordinates = joint_motion(motion, joint.name).coordinates
        for k, (limit, values) in enumerate(zip(joint.limits, coordinates.T, strict=False)):
            over = np.maximum(
                values - (np.inf if limit.upper is None else limit.upper),
                (-np.inf if limit.lower is None else limit.lower) - values,
            )
            worst = int(np.argmax(over)) if over.size else 0
            scale = motion.model.size if joint.kind.units[k] == "m" else 1.0
            if over.size and over[worst] > _SLACK * scale:
                when = f"sample {worst}" if motion.time is None else f"t = {motion.time[worst]:g} s"
                notes.append(
                    f"{joint.name}.{joint.kind.coordinates[k]} leaves its limits by "
                    f"{over[worst]:.3g} {joint.kind.units[k]} (at {when})"
                )
    return tuple(notes)
