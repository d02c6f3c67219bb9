"""Settings of the compiler of MJCF files, and orientations as they say how to read them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechid.importing.angles import Angles, value
from mechid.importing.poses import Pose, about, euler, unit
from mechid.importing.xml import Node
from mechid.spatial.rotations import Array, frame_from_axes, matrix_from_quaternion, snap

_SHORTEST = 1e-15  # as in MuJoCo: a direction of this length is none
_WAYS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")


@dataclass(frozen=True)
class Compiler:
    """What `<compiler>` sets, of what matters here."""

    degrees: bool
    sequence: str
    autolimits: bool
    from_geom: str
    groups: tuple[float, ...]
    bound_mass: float
    bound_inertia: float
    balance: bool
    total_mass: float
    mesh_folder: str
    strip: bool
    angles: Angles

    def angle(self, x: float) -> float:
        """Return an angle of the file in rad."""
        return math.radians(x) if self.degrees else x

    def _turn(self, x: float) -> float:
        """Return an angle of an orientation, which may be a right one written with few digits."""
        return math.radians(x) if self.degrees else value(self.angles.read(x))

    def pose(self, node: Node) -> Pose:
        """Return position and orientation of an element."""
        return Pose(np.array(node.numbers("pos", 3, (0.0, 0.0, 0.0))), self.rotation(node))

    def rotation(self, node: Node) -> Array:
        """Return the orientation of an element, which may be written in five ways."""
        ways = [way for way in _WAYS if node.get(way) is not None]
        if len(ways) > 1:
            raise node.error(f"<{node.tag}> has {' and '.join(ways)}", "give one orientation")
        match ways:
            case ["quat"]:
                e = np.array(node.numbers("quat", 4, ()))
                if not np.linalg.norm(e) > _SHORTEST:
                    raise node.error("the quaternion is zero", "give four numbers")
                R = matrix_from_quaternion(e)
            case ["axisangle"]:
                *axis, angle = node.numbers("axisangle", 4, ())
                R = about(_direction(node, tuple(axis)), self._turn(angle))
            case ["xyaxes"]:
                six = node.numbers("xyaxes", 6, ())
                x, y = _direction(node, six[:3]), _direction(node, six[3:])
                if float(np.linalg.norm(np.cross(x, y))) < 1e-9:
                    raise node.error("the two axes of xyaxes are parallel", "correct the file")
                R = frame_from_axes(x, y, (0, 1))
            case ["zaxis"]:
                R = to_z(_direction(node, node.numbers("zaxis", 3, ())))
            case ["euler"]:
                three = tuple(self._turn(x) for x in node.numbers("euler", 3, ()))
                R = euler(three, self.sequence)
            case _:
                R = np.eye(3)
        return np.asarray(snap(R))


def to_z(z: Array) -> Array:
    """Return the smallest rotation that turns the z axis into a direction."""
    across = np.cross([0.0, 0.0, 1.0], z)
    size = float(np.linalg.norm(across))
    if size < 1e-12:
        return np.eye(3) if z[2] > 0 else np.diag([1.0, -1.0, -1.0])
    return about(across / size, math.atan2(size, float(z[2])))


def _direction(node: Node, vector: tuple[float, ...]) -> Array:
    found = unit(vector)
    if found is None:
        raise node.error("a direction is zero", "correct the file")
    return found


def compiler(node: Node, angles: Angles) -> Compiler:
    """Return the settings of a file."""
    sequence = node.get("eulerseq") or "xyz"
    if len(sequence) != 3 or any(letter not in "xyzXYZ" for letter in sequence):
        raise node.error(f'unknown eulerseq "{sequence}"', "write three of x, y, z, X, Y, Z")
    if node.choice("coordinate", ("local", "global"), "local") == "global":
        raise node.error(
            "global coordinates are not supported",
            "load and save the file with MuJoCo 2.3.3 or older, which writes local ones",
        )
    return Compiler(
        degrees=node.choice("angle", ("degree", "radian"), "degree") == "degree",
        sequence=sequence,
        autolimits=node.flag("autolimits", True),
        from_geom=node.choice("inertiafromgeom", ("true", "false", "auto"), "auto"),
        groups=node.numbers("inertiagrouprange", 2, (0.0, 5.0)),
        bound_mass=node.number("boundmass"),
        bound_inertia=node.number("boundinertia"),
        balance=node.flag("balanceinertia"),
        total_mass=node.number("settotalmass", -1.0),
        mesh_folder=node.get("meshdir") or node.get("assetdir") or "",
        strip=node.flag("strippath"),
        angles=angles,
    )
