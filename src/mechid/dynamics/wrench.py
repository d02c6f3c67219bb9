"""Forces on a free or spherical joint as a sensor in it measures them.

The generalised forces of such a joint belong to x, y, z and roll, pitch, yaw: F in the axes of
frame a, and moments about the axes of the three turns, which are neither fixed nor perpendicular.
A sensor (a force plate under a machine) has the axes of frame b and its origin:

    F_a = R F_b,   τ_rpy = Eᵀ R M_b,   ω_a = E (roll, pitch, yaw)',   R = Rz Ry Rx

In the pose where all three angles are zero both are the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.kinematics.tables import Floats
from mechid.mechanism.records import IndependentCoordinate, JointCoordinate, Mechanism
from mechid.spatial.rotations import matrix_from_rpy

COMPONENTS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


@dataclass(frozen=True)
class SensedJoint:
    """A joint whose whole wrench is generalised forces.

    Attributes
    ----------
    name : str
    angles : tuple of int
        Which of the coordinates are roll, pitch, yaw.
    forces, moments : tuples of int
        Whose generalised forces make F and M; no forces for a spherical joint.
    """

    name: str
    angles: tuple[int, ...]
    forces: tuple[int, ...]
    moments: tuple[int, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        """Numbers of the generalised forces, in the order of the components."""
        return (*self.forces, *self.moments)

    @property
    def components(self) -> tuple[str, ...]:
        """Names of what a sensor measures: `joint.Fx` … `joint.Mz`."""
        return tuple(f"{self.name}.{c}" for c in COMPONENTS[6 - len(self.columns) :])

    def wrench(self, y: Floats, tau: Floats) -> Floats:
        """Return what a sensor measures, (N, 6) or (N, 3), of generalised forces (N, n_i)."""
        R, E = _rotations(y[:, self.angles])
        M = np.linalg.solve(np.swapaxes(E, 1, 2) @ R, tau[:, self.moments, None])[..., 0]
        if not self.forces:
            return np.asarray(M)
        F = np.einsum("nji,nj->ni", R, tau[:, self.forces])
        return np.hstack([F, M])

    def generalised(self, y: Floats, wrench: Floats) -> Floats:
        """Return the generalised forces (N, 6) or (N, 3) of what a sensor measured."""
        R, E = _rotations(y[:, self.angles])
        M = np.einsum("nji,njk,nk->ni", E, R, wrench[:, -3:])
        if not self.forces:
            return np.asarray(M)
        return np.hstack([np.einsum("nij,nj->ni", R, wrench[:, :3]), M])


def sensed_joints(
    mechanism: Mechanism, coordinates: Sequence[IndependentCoordinate] | None = None
) -> tuple[SensedJoint, ...]:
    """Return the joints whose whole orientation is independent: free and spherical ones.

    Parameters
    ----------
    coordinates : sequence of IndependentCoordinate, optional
        What the columns of `y` and `tau` are; default: the coordinates of the mechanism.
    """
    columns = mechanism.coordinates if coordinates is None else tuple(coordinates)
    found = []
    for joint in mechanism.joints:
        size = len(joint.kind.choices)
        mine = {
            c.index: i
            for i, c in enumerate(columns)
            if isinstance(c, JointCoordinate) and c.joint == joint.name
        }
        if joint.kind.has_orientation and sorted(mine) == list(range(size)):
            order = tuple(mine[k] for k in range(size))
            forces = order[:-3] if size == 6 else ()  # a part of a force has no axes to turn to
            found.append(SensedJoint(joint.name, order[-3:], forces, order[-3:]))
    return tuple(found)


def sensed_forces(mechanism: Mechanism, y: Floats, tau: Floats) -> dict[str, Floats]:
    """Return what sensors in free and spherical joints measure, by component, (N,) each.

    Parameters
    ----------
    y, tau : arrays (N, n_i)
        Independent coordinates and their generalised forces.

    Returns
    -------
    dict
        `joint.Fx`, `joint.Fy`, `joint.Fz` (N) and `joint.Mx`, `joint.My`, `joint.Mz` (N m): what
        the first body does to the second one, at the origin and in the axes of its joint frame.
    """
    return {
        name: column
        for joint in sensed_joints(mechanism)
        for name, column in zip(joint.components, joint.wrench(y, tau).T, strict=True)
    }


def _rotations(rpy: Floats) -> tuple[Floats, Floats]:
    """Return R and E, each (N, 3, 3)."""
    _, pitch, yaw = rpy.T
    E = np.zeros((len(rpy), 3, 3))
    E[:, :, 0] = np.column_stack(
        [np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), -np.sin(pitch)]
    )
    E[:, :, 1] = np.column_stack([-np.sin(yaw), np.cos(yaw), np.zeros(len(yaw))])
    E[:, 2, 2] = 1.0
    return matrix_from_rpy(rpy), E
