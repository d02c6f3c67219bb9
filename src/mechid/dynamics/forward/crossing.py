"""Singular poses on the way: the branch on which a motion goes on.

Where the constraints lose rank, branches of the mechanism meet. Forces are finite, so that speeds
are continuous there: the motion goes on along the branch to which its speed belongs. On any other
branch the speeds differ at once.
"""

from __future__ import annotations

import numpy as np

from mechid.errors import SingularPoseError
from mechid.kinematics.tables import Floats

# Smallest singular value of the constraints, in parts of that of the assembled pose.
_NEAR = 0.05
# Change of speed across the pose, in parts of the speed, that accelerations do not explain.
_JUMP = 0.5

REMEDY = "use the formulation independent with a coordinate that drives the mechanism there too"


class Crossing:
    """Sees every evaluation; tells whether speeds jumped near a singular pose."""

    def __init__(self, scale: Floats) -> None:
        self._scale = scale
        self._least = np.inf  # since the last step
        self._before: tuple[float, Floats, Floats] | None = None
        self._last: tuple[float, Floats, Floats, float] | None = None

    def see(self, least: float, t: float, v: Floats, vd: Floats) -> None:
        """Take an evaluation: singular value in parts of its usual one, time, speeds."""
        self._least = min(self._least, least)
        self._last = (t, v / self._scale, vd / self._scale, least)

    def step(self, t: float) -> None:
        """Take the end of a step, the state evaluated last; refuse one beyond a jump of speeds."""
        if self._last is None:
            return
        _, v, vd, least = self._last
        met, before = self._least < _NEAR, self._before
        if met and least < _NEAR and before is not None:
            return  # still inside: what was before counts
        self._least = np.inf
        if not met or before is None:
            self._before = (t, v, vd)
            return
        change = v - before[1] - 0.5 * (t - before[0]) * (vd + before[2])
        speed = max(float(np.linalg.norm(v)), float(np.linalg.norm(before[1])))
        if float(np.linalg.norm(change)) > _JUMP * speed:
            raise SingularPoseError(
                f"the mechanism passes a singular pose after t = {before[0]:.6g} s, where several "
                "branches meet, and would go on along another one",
                remedy=REMEDY,
                time=before[0],
            )
        self._before = (t, v, vd)
