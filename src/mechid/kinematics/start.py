"""The pose from which motions start."""

from __future__ import annotations

import numpy as np

from mechid.kinematics.model import KinematicModel
from mechid.kinematics.tables import Floats


def start_of(model: KinematicModel) -> Floats:
    """Return the independent coordinates from which motions start: `start`, else the assembled."""
    given = dict(model.mechanism.start.positions)
    pairs = zip(model.mechanism.coordinates, model.home_y, strict=True)
    return np.array([given.get(c.name, value) for c, value in pairs], dtype=float)
