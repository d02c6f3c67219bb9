"""Mass properties of a mesh as MuJoCo takes them where a file says nothing else ("legacy")."""

from __future__ import annotations

import numpy as np

from mechid.importing.masses import Mass
from mechid.spatial.rotations import Array


def cone_mass(points: Array, faces: Array) -> Mass:
    """Return the sum of tetrahedra over the faces at 1 kg/m³, all of them positive.

    Their apex is the centroid of the surface, then the centre that follows. For a convex body that
    is exact; what lies outside of another one counts too. The mesh need not be closed.
    """
    corners = points[faces]  # (n, 3, 3)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    middle = corners.mean(axis=1)
    area = np.linalg.norm(normal, axis=1)
    apex = area @ middle / area.sum()

    def volumes(apex: Array) -> Array:
        return np.asarray(np.abs(np.einsum("ij,ij->i", middle - apex, normal)) / 3)

    volume = volumes(apex)
    center = volume @ (0.75 * middle + 0.25 * apex) / volume.sum()
    volume = volumes(center)
    corners = corners - center
    total = corners.sum(axis=1)
    second = np.einsum("i,icj,ick->jk", volume, corners, corners)
    second = (second + np.einsum("i,ij,ik->jk", volume, total, total)) / 20
    return Mass(float(volume.sum()), center, np.trace(second) * np.eye(3) - second)
