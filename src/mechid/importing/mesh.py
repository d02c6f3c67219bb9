"""Mass properties of meshes, by trimesh (the optional extra `mesh`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from mechid.errors import ModelError
from mechid.importing.masses import Mass
from mechid.importing.xml import LARGEST, Node, inside
from mechid.outputs import real_path
from mechid.spatial.rotations import Array
from mechid.textfile.paths import is_file
from mechid.textfile.quiet import quiet


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


MAX_BYTES = 256_000_000
Volume: TypeAlias = Literal["exact", "convex", "cones"]


def package_file(name: str, folder: Path, root: str | Path | None, node: Node) -> Path:
    """Return the file of a mesh; `package://name/…` is sought with and without the name."""
    root = Path(root) if root is not None else folder
    if name.startswith(("package://", "model://")):
        rest = name.partition("://")[2]
        tries = [(root, rest), (root, rest.partition("/")[2])]
    else:
        tries = [(folder, name.removeprefix("file://"))]
    paths = []
    for start, rest in tries:
        path = real_path(start / rest)
        inside(root, str(path), node)
        paths.append(path)
    for path in paths:
        if is_file(path):
            return path
    raise missing(name, root, node)


def missing(name: str, root: Path, node: Node) -> ModelError:
    """Return the error of a mesh that is not there."""
    return node.error(
        f'the mesh "{name}" is not under {root}, and the body has no <inertial>',
        "name the folder of the meshes by the option root, give the body an <inertial>, or set "
        "ignore_meshes, which gives them no mass",
    )


def mesh_mass(
    path: Path, matrix: Array, shift: Array, node: Node, volume: Volume = "exact"
) -> Mass:
    """Return the mass properties at 1 kg/m³ of a mesh whose points p stand at matrix (p - shift).

    A mesh that is not closed has no exact volume and counts as its convex hull.
    """
    trimesh = _trimesh(node)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise node.error(f"the mesh {path.name} is larger than {MAX_BYTES // 1_000_000} MB")
        with quiet():
            mesh = trimesh.load_mesh(path, process=True)
        points, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces)
        if points.shape[1:] != (3,) or not np.all(np.abs(points) <= LARGEST):
            raise ValueError("its points must have three finite coordinates")
    except ModelError:
        raise
    except Exception as error:  # of whatever reader the format has
        raise node.error(
            f"cannot read the mesh {path.name}: {error}", "save it as STL or OBJ"
        ) from None
    return _solid((points - shift) @ matrix.T, faces, volume, node, path.name)


def hull_mass(points: Array, matrix: Array, shift: Array, node: Node) -> Mass:
    """Return the mass properties at 1 kg/m³ of the convex hull of points, placed likewise."""
    return _solid((points - shift) @ matrix.T, np.zeros((0, 3)), "convex", node, "vertices")


def _solid(points: Array, faces: Array, volume: Volume, node: Node, name: str) -> Mass:
    trimesh = _trimesh(node)
    try:
        with quiet():
            mesh = trimesh.Trimesh(points, faces)
            if volume == "cones" and len(faces):
                found = cone_mass(points, faces)
            else:
                closed = len(faces) and mesh.is_watertight
                found = _exact(mesh if closed and volume != "convex" else mesh.convex_hull)
    except Exception as error:
        raise node.error(f"the mesh {name} encloses no volume: {error}", "close it") from None
    if not found.mass > 0:
        raise node.error(f"the mesh {name} encloses no volume", "close it")
    return found


def _exact(mesh: Any) -> Mass:
    found = mesh.mass_properties
    sign = 1.0 if found.mass > 0 else -1.0  # a negative scale turns the faces inside out
    return Mass(sign * float(found.mass), np.array(found.center_mass), sign * found.inertia)


def _trimesh(node: Node) -> Any:
    try:
        import trimesh
    except ImportError:
        raise node.error(
            "inertia from meshes needs trimesh", 'install it: pip install "mechid[mesh]"'
        ) from None
    return trimesh
