"""Inertia of the links of a URDF: from <inertial>, or from collision shapes with a density."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mechid.importing import masses
from mechid.importing.angles import Angles, value
from mechid.importing.masses import Mass, total
from mechid.importing.mesh import mesh_mass, package_file
from mechid.importing.poses import IDENTITY, Pose
from mechid.importing.robot import Remarks
from mechid.importing.xml import Node
from mechid.options import ImportOptions
from mechid.spatial.rotations import matrix_from_rpy, snap


def origin(node: Node, angles: Angles, tag: str = "origin") -> Pose:
    """Return the pose that a child of an element states; identity if it has none."""
    child = node.first(tag)
    return IDENTITY if child is None else pose(child, angles)


def pose(node: Node, angles: Angles) -> Pose:
    """Return the pose of the attributes xyz and rpy."""
    xyz = node.numbers("xyz", 3, (0.0, 0.0, 0.0))
    rpy = tuple(angles.read(x) for x in node.numbers("rpy", 3, (0.0, 0.0, 0.0)))
    R = snap(matrix_from_rpy(np.array([value(x) for x in rpy])))
    return Pose(np.array(xyz), np.asarray(R), rpy)


def link_mass(
    link: Node, folder: Path, options: ImportOptions, angles: Angles, remarks: Remarks
) -> Mass | None:
    """Return the mass properties of a link in its frame; None if the file says nothing."""
    inertial = link.first("inertial")
    if inertial is not None:
        return _inertial(link, inertial, angles)
    shapes = list(link.all("collision"))
    if not shapes or options.density is None:
        return None
    return total(_shape(link, shape, folder, options, angles) for shape in shapes)


def _inertial(link: Node, node: Node, angles: Angles) -> Mass | None:
    name = link.needed("name")
    mass_node, tensor_node = node.first("mass"), node.first("inertia")
    mass = 0.0 if mass_node is None else mass_node.number("value")
    if mass < 0:
        raise node.error(f"the mass of link {name} must be ≥ 0, got {mass:g}", "correct the file")
    tensor = np.zeros((3, 3))
    if tensor_node is not None:
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            tensor[i, j] = tensor[j, i] = tensor_node.number("i" + "xyz"[i] + "xyz"[j])
    if mass == 0 and not tensor.any():
        return None
    return Mass(mass, np.zeros(3), tensor).seen_from(origin(node, angles))


def _shape(link: Node, node: Node, folder: Path, options: ImportOptions, angles: Angles) -> Mass:
    geometry = node.first("geometry")
    shape = next(iter(geometry.children), None) if geometry is not None else None
    if shape is None:
        raise node.error("<collision> has no shape", "give it a <geometry>")
    density = options.density or 0.0
    at = origin(node, angles)
    match shape.tag:
        case "box":
            solid = masses.box(*shape.numbers("size", 3, ()))
        case "cylinder":
            solid = masses.cylinder(shape.number("radius"), shape.number("length"))
        case "capsule":
            solid = masses.capsule(shape.number("radius"), shape.number("length"))
        case "sphere":
            solid = masses.ellipsoid(*(shape.number("radius"),) * 3)
        case "mesh":
            if options.ignore_meshes:
                return Mass(0.0, np.zeros(3), np.zeros((3, 3)))
            scale = shape.numbers("scale", 3, (1.0, 1.0, 1.0))
            path = package_file(shape.needed("filename"), folder, options.root, shape)
            return mesh_mass(path, np.diag(scale), np.zeros(3), shape).times(density).seen_from(at)
        case _:
            raise shape.error(f"unknown shape <{shape.tag}>", "use box, cylinder, sphere or mesh")
    volume, per_mass = solid
    if not volume > 0:
        raise shape.error(
            f"<{shape.tag}> of link {link.needed('name')} has no volume", "give positive sizes"
        )
    return Mass(density * volume, np.zeros(3), density * volume * per_mass).seen_from(at)
