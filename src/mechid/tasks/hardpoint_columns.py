"""Forces as functions of the places of joints: columns for hardpoints that are estimated besides.

τ = W(h) φ + known(h), with displacements h of the joints. Linear about the model: columns
∂W/∂h φ + ∂known/∂h, by central differences of the whole observation matrix, since it takes few
motions and no further kernel; φ enters afterwards, so that they serve all values of φ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import observe_path
from mechid.kinematics.tables import Floats
from mechid.mechanism.moved import movable_joints, with_joints_moved
from mechid.mechanism.records import Mechanism
from mechid.mechanism.size import characteristic_size
from mechid.tables.motion import MotionTable

# Of the size of the mechanism: error of truncation and rounding are then alike.
_STEP = float(np.finfo(float).eps) ** (1 / 3)


@dataclass(frozen=True, eq=False)
class HardpointColumns:
    """Change of the forces of a motion with the places of joints.

    Attributes
    ----------
    names : tuple of str
        "hardpoint JOINT.x", ground axes in the reference pose.
    W : array (h, N, n_i, p)
        Derivatives of W, per metre.
    known : array (h, N, n_i)
        Derivatives of what is known.
    """

    names: tuple[str, ...]
    W: Floats
    known: Floats

    def columns(self, phi: Floats) -> Floats:
        """Return the columns (N, n_i, h) for parameters φ (p,), N or N m per metre."""
        return np.moveaxis(self.W @ phi + self.known, 0, -1)


def hardpoint_columns(
    mechanism: Mechanism, motion: MotionTable, joints: Sequence[str] | None = None
) -> HardpointColumns:
    """Return how the forces of a motion change when joints are elsewhere.

    Parameters
    ----------
    mechanism : Mechanism
    motion : MotionTable
        Independent coordinates, which stay.
    joints : sequence of str, optional
        By default all whose place matters.

    Raises
    ------
    KinematicsError
        If the mechanism with a joint moved does not perform the motion.
    """
    step = _STEP * characteristic_size(mechanism)
    names, by_W, by_known = [], [], []
    for joint in movable_joints(mechanism) if joints is None else joints:
        for axis, unit in zip("xyz", np.eye(3), strict=True):
            ends = []
            for sign in (1.0, -1.0):
                moved = with_joints_moved(mechanism, {joint: (sign * step * unit).tolist()})
                model = dynamic_model(moved)
                ends.append(observe_path(model, motion.y, motion.yd, motion.ydd, time=motion.time))
            names.append(f"hardpoint {joint}.{axis}")
            by_W.append((ends[0].W - ends[1].W) / (2 * step))
            by_known.append((ends[0].known - ends[1].known) / (2 * step))
    return HardpointColumns(tuple(names), np.array(by_W), np.array(by_known))
