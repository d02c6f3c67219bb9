"""How a robot file is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mechid.shown import changes_repr


@dataclass(frozen=True)
class ImportOptions:
    """What a user decides about an import.

    Attributes
    ----------
    base : "file", "fixed" or "free"
        Whether the robot stands on the ground or floats; "file": as the file says.
    keep_fixed : bool
        Keep links behind fixed joints as bodies of their own; default: they are merged.
    right_angles : bool
        Read angles within 0.001 rad of ±90°, 180°, 270° as such: 1.5708 is π/2.
    identify_elements : bool
        Mark friction, springs and rotor inertia as parameters to identify.
    keyframe : str, optional
        Keyframe of an MJCF file that is the reference pose of the model, from which its loops are
        assembled; default: where all joints are at their `ref`.
    loops : str, optional
        YAML file of loop joints.
    density : float, optional
        kg/m³, for links of a URDF with collision geometry and no <inertial>; default: massless.
    ignore_meshes : bool
        Give meshes no mass where a body has no <inertial>; default: their files are read.
    root : str, optional
        Folder under which included files and meshes must lie; default: that of the file.
    """

    base: Literal["file", "fixed", "free"] = "file"
    keep_fixed: bool = False
    right_angles: bool = False
    identify_elements: bool = False
    keyframe: str | None = None
    loops: str | None = None
    density: float | None = None
    ignore_meshes: bool = False
    root: str | None = None

    __repr__ = changes_repr
