"""Joint coordinates from the relative pose of the two joint frames; batched."""

from __future__ import annotations

import numpy as np

from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Joint
from mechid.spatial.rotations import quaternion_from_matrix, rpy_from_matrix


def joint_coordinates(
    joint: Joint, rotation: Floats, translation: Floats, angles: bool = False
) -> Floats:
    """Return the coordinates (..., n) of frame b seen from frame a, in the order of NOTATION.md.

    Angles are in (-π, π]; that of a screw counts the turns that its displacement tells. `angles`
    writes orientations as roll, pitch, yaw (fixed axes).
    """
    parts: list[Floats] = []
    for step in joint.kind.steps:
        match step.motion:
            case "slide":
                parts.append(translation[..., step.axis])
            case "turn" if step.on == 0:
                parts.append(_about_z(rotation))
            case "turn":
                parts.append(np.arctan2(rotation[..., 2, 1], rotation[..., 2, 2]))
            case "screw":
                angle, z = _about_z(rotation), translation[..., 2]
                turns = np.rint(z / joint.pitch - angle / (2 * np.pi)) if joint.pitch else 0.0
                parts.append(angle + 2 * np.pi * turns)
            case "ball":
                turn = rpy_from_matrix(rotation) if angles else quaternion_from_matrix(rotation)
                parts += [turn[..., k] for k in range(turn.shape[-1])]
    if not parts:
        return np.zeros((*rotation.shape[:-2], 0))
    return np.stack(parts, axis=-1)


def _about_z(rotation: Floats) -> Floats:
    return np.asarray(np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0]))
