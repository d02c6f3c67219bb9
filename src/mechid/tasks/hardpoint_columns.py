"""Forces as functions of the places of joints: columns for hardpoints that are estimated besides.

τ = W(h) φ + known(h), with displacements h of the joints. Linear about the model: columns
∂W/∂h φ + ∂known/∂h, by central differences of the whole observation matrix, since it takes few
motions and no further kernel; φ enters afterwards, so that they serve all values of φ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model, with_geometry
from mechid.dynamics.regressor import observe_path
from mechid.kinematics.tables import Floats
from mechid.mechanism.altered import movable_joints, with_joints_moved
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
    names, by_W, by_known = [], [], []
    chosen = movable_joints(mechanism) if joints is None else joints
    for name, models, apart in displaced(mechanism, chosen):
        one, other = (
            observe_path(model, motion.y, motion.yd, motion.ydd, time=motion.time)
            for model in models
        )
        names.append(f"hardpoint {name}")
        by_W.append((one.W - other.W) / apart)
        by_known.append((one.known - other.known) / apart)
    return HardpointColumns(tuple(names), np.array(by_W), np.array(by_known))


def displaced(
    mechanism: Mechanism, joints: Sequence[str]
) -> Iterator[tuple[str, tuple[DynamicModel, DynamicModel], float]]:
    """Yield JOINT.x, models with that joint displaced forwards and backwards, and the distance."""
    step, model = _STEP * characteristic_size(mechanism), dynamic_model(mechanism)
    for joint in joints:
        for axis, unit in zip("xyz", np.eye(3), strict=True):
            one, other = (
                with_geometry(
                    model, with_joints_moved(mechanism, {joint: (s * step * unit).tolist()})
                )
                for s in (1.0, -1.0)
            )
            yield f"{joint}.{axis}", (one, other), 2 * step
