"""Inertia of the bodies of an MJCF file: from <inertial>, or from their geoms."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mechid.importing import masses
from mechid.importing.masses import Mass, total
from mechid.importing.mesh import Volume, hull_mass, mesh_mass, missing
from mechid.importing.mjcf_compiler import Compiler, to_z
from mechid.importing.poses import Pose, unit
from mechid.importing.xml import Node, inside
from mechid.options import ImportOptions
from mechid.outputs import real_path
from mechid.textfile.paths import is_file
from mechid.textfile.words import hint

_NOTHING = ("plane", "hfield")
_SOLIDS = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", *_NOTHING)
_VOLUMES: dict[str, Volume] = {"exact": "exact", "convex": "convex", "legacy": "cones"}
_WATER = 1000.0  # kg/m³, MuJoCo's default
_SMALLEST = 1e-30  # size of a geom, m: its volume has to be a number


@dataclass(frozen=True, eq=False)
class Inertias:
    """Finds the mass properties of bodies."""

    compiler: Compiler
    meshes: dict[str, Node]
    folder: Path
    limit: Path
    options: ImportOptions

    def of_body(self, body: Node, geoms: list[tuple[Node, Pose]], needed: bool) -> Mass | None:
        """Return mass, centre and inertia of a body in its frame, bounded as the compiler says.

        `geoms` have the poses of the frames around them; where the result is not needed (of what
        stands on the ground), shapes are not read.
        """
        inertial = body.first("inertial")
        use = self.compiler.from_geom
        if inertial is not None and use != "true":
            return self._bounded(self._inertial(inertial), body)
        if use == "false" or not needed:
            return None
        parts = [part for geom, around in geoms if (part := self._geom(geom, around)) is not None]
        return self._bounded(total(part for part in parts if part.mass), body)

    def _inertial(self, node: Node) -> Mass:
        mass = node.number("mass", -1.0)
        if mass < 0:
            raise node.error(
                "<inertial> must have a mass ≥ 0" + (f", got {mass:g}" if node.get("mass") else ""),
                "correct the file",
            )
        node.numbers("pos", 3, ())  # it has no default
        tensor = np.zeros((3, 3))
        if node.get("fullinertia") is not None:
            xx, yy, zz, xy, xz, yz = node.numbers("fullinertia", 6, ())
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        elif node.get("diaginertia") is not None:
            tensor = np.diag(node.numbers("diaginertia", 3, ()))
        return Mass(mass, np.zeros(3), tensor).seen_from(self.compiler.pose(node))

    def _bounded(self, mass: Mass | None, body: Node) -> Mass | None:
        """Return mass properties with the lower bounds of the compiler, and balanced by it."""
        c = self.compiler
        if mass is None:
            if not c.bound_mass:
                return None
            mass = Mass(0.0, np.zeros(3), np.zeros((3, 3)))
        moments, axes = np.linalg.eigh(mass.tensor)
        changed = np.maximum(moments, c.bound_inertia) if c.bound_inertia else moments
        if c.balance and changed[0] + changed[1] < changed[2]:
            changed = np.full(3, changed.mean())
        tensor = mass.tensor
        if not np.array_equal(changed, moments):
            tensor = axes @ np.diag(changed) @ axes.T
        return Mass(max(mass.mass, c.bound_mass), mass.center, tensor)

    # ------------------------------------------------------------------ geoms

    def _geom(self, node: Node, around: Pose) -> Mass | None:
        """Return the mass properties of a geom in the frame of its body."""
        kind = node.choice("type", (*_SOLIDS, "sdf"), "sphere")
        low, high = self.compiler.groups
        given = node.get("mass")
        if kind in _NOTHING or not low <= node.number("group") <= high:
            return None
        if given is not None and node.number("mass") == 0:
            return None
        if given is None and node.number("density", _WATER) == 0:
            return None
        if kind == "sdf" or node.flag("shellinertia"):
            what = "type sdf" if kind == "sdf" else "shellinertia"
            raise node.error(
                f"the inertia of a geom with {what} is not supported", "give an <inertial>"
            )
        if kind == "mesh":
            solid = self._mesh(node)
            if solid is None:
                return None
            shape, pose = solid, self.compiler.pose(node)
        else:
            if node.get("mesh") is not None:
                raise node.error(
                    f"a {kind} fitted to a mesh is not supported", "give an <inertial>"
                )
            shape, pose = self._primitive(node, kind)
        if given is not None:
            factor = node.number("mass") / shape.mass
        else:
            factor = node.number("density", _WATER)
        if factor < 0:
            raise node.error("mass and density of a geom must be ≥ 0", "correct the file")
        return shape.times(factor).seen_from(around @ pose)

    def _primitive(self, node: Node, kind: str) -> tuple[Mass, Pose]:
        """Return a solid of 1 kg/m³ in its own frame, and its pose."""
        size = node.some_numbers("size")
        pose = self.compiler.pose(node)
        if node.get("fromto") is not None and kind != "sphere":
            ends = np.array(node.numbers("fromto", 6, ())).reshape(2, 3)
            along = unit(ends[1] - ends[0])
            if along is None:
                raise node.error("the two points of fromto coincide", "correct the file")
            pose = Pose(ends.mean(axis=0), to_z(along))
            half = float(np.linalg.norm(ends[1] - ends[0])) / 2
            size = (*size[:1], half) if kind in ("capsule", "cylinder") else (*size[:1] * 2, half)
        count = {"sphere": 1, "capsule": 2, "cylinder": 2}.get(kind, 3)
        if len(size) < count or min(size[:count]) <= 0:
            raise node.error(f"a {kind} needs {count} positive sizes", "correct the file")
        if min(size[:count]) < _SMALLEST:
            raise node.error(f"sizes must be at least {_SMALLEST:g} m", "correct the file")
        match kind:
            case "sphere":
                volume, per_mass = masses.ellipsoid(*size[:1] * 3)
            case "capsule":
                volume, per_mass = masses.capsule(size[0], 2 * size[1])
            case "cylinder":
                volume, per_mass = masses.cylinder(size[0], 2 * size[1])
            case "ellipsoid":
                volume, per_mass = masses.ellipsoid(*size[:3])
            case _:
                volume, per_mass = masses.box(*(2 * x for x in size[:3]))
        return Mass(volume, np.zeros(3), volume * per_mass), pose

    def _mesh(self, node: Node) -> Mass | None:
        """Return a mesh of 1 kg/m³ in the frame of the geom."""
        name = node.needed("mesh")
        if name not in self.meshes:
            raise node.error(f"there is no mesh {name}", hint(name, self.meshes))
        asset = self.meshes[name]
        if self.options.ignore_meshes:
            return None
        if asset.get("inertia") == "shell":
            raise asset.error("shell inertia of a mesh is not supported", "give an <inertial>")
        # Points are seen from the reference pose first, then scaled.
        turn = Node("mesh", {"quat": asset.get("refquat") or "1 0 0 0"}, asset.place)
        scale = np.diag(asset.numbers("scale", 3, (1.0, 1.0, 1.0)))
        matrix = scale @ self.compiler.rotation(turn).T
        shift = np.array(asset.numbers("refpos", 3, (0.0, 0.0, 0.0)))
        if asset.get("file") is not None:
            file = asset.needed("file")
            file = Path(file).name if self.compiler.strip else file
            at = real_path(self.folder / self.compiler.mesh_folder / file)
            path = inside(self.limit, str(at), asset)
            if not is_file(path):
                raise missing(file, self.limit, asset)
            word = asset.choice("inertia", tuple(_VOLUMES), "legacy")
            return mesh_mass(path, matrix, shift, asset, _VOLUMES[word])
        points = np.array(asset.some_numbers("vertex"))
        if len(points) % 3 or not len(points):
            raise asset.error(f"the mesh {name} has no file", "give an <inertial>")
        return hull_mass(points.reshape(-1, 3), matrix, shift, asset)


def mesh_assets(nodes: list[Node]) -> dict[str, Node]:
    """Return the meshes of a file by name, which is that of the file if none is given."""
    found: dict[str, Node] = {}
    for node in nodes:
        if node.tag != "mesh":
            continue
        name = node.get("name") or Path(node.get("file") or "").stem
        if name in found:
            raise node.error(f"mesh {name} is defined twice", "rename one")
        found[name] = node
    return found
