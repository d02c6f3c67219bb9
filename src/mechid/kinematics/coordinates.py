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
    about_z = np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
    x, y, z = (translation[..., k] for k in range(3))
    match joint.type:
        case "revolute":
            parts = [about_z]
        case "helical":
            turns = np.rint(z / joint.pitch - about_z / (2 * np.pi)) if joint.pitch else 0.0
            parts = [about_z + 2 * np.pi * turns]
        case "prismatic":
            parts = [z]
        case "cylindrical":
            parts = [about_z, z]
        case "universal":
            parts = [about_z, np.arctan2(rotation[..., 2, 1], rotation[..., 2, 2])]
        case "planar":
            parts = [x, y, about_z]
        case "fixed":
            parts = []
        case "spherical" | "free":
            turn = rpy_from_matrix(rotation) if angles else quaternion_from_matrix(rotation)
            parts = [x, y, z] if joint.type == "free" else []
            parts += [turn[..., k] for k in range(turn.shape[-1])]
    if not parts:
        return np.zeros((*rotation.shape[:-2], 0))
    return np.stack(parts, axis=-1)
