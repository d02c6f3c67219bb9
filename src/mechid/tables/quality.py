"""How good a solved motion is: closure of the loops, limits of the joints."""

from __future__ import annotations

import numpy as np

from mechid.errors import KinematicsError
from mechid.kinematics.joint_limits import limit_excess
from mechid.kinematics.kernels.dense import dense_rows
from mechid.kinematics.mobility import Mobility
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.start import start_of
from mechid.mechanism.plausible import implausible_units, impossible_bodies
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


_CLEAR_GAP = 1e4  # below it, a singular value counts as zero that is not much smaller than others


def model_warnings(model: KinematicModel, m: Mobility) -> list[str]:
    """Return missing inertias, implausible units and bodies, nearly singular or wrong poses."""
    unknown = [b.name for b in model.mechanism.bodies if b.inertia is None and not b.massless]
    warnings = [f"no inertia is given for {', '.join(unknown)}"] if unknown else []
    warnings += [*implausible_units(model.mechanism), *impossible_bodies(model.mechanism)]
    if m.gap < _CLEAR_GAP:
        warnings.append(
            f"the rank of the constraints is not clear (gap {m.gap:.1g}): is the pose "
            "nearly singular?"
        )
    try:
        start = _start(model)
    except KinematicsError as error:
        warnings.append(f"the start of the model cannot be reached: {error.what}")
    else:
        warnings += [note.partition(" (at")[0] + " at the start" for note in limit_notes(start)]
    return warnings


def _start(model: KinematicModel) -> Motion:
    """Return the pose from which motions start, at rest."""
    y = start_of(model)[None]
    if model.mechanism.start.positions:
        return solve_motion(model, y)
    still, speeds = np.zeros_like(y), np.zeros((1, model.compiled.n_v))  # as it was assembled
    return Motion(model, None, y, still, still, model.home_q[None], speeds, speeds, ordered=True)
