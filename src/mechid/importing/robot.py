"""What URDF, MJCF and files of loop joints have in common: links, joints, loops, couplings.

A link hangs on its parent by a chain of joints; without one it is fixed. Where no joint displaces
anything the link has `pose` in its parent; each joint moves it about a place and an axis that are
given in the frame of the link: parent · pose · joint 1 · joint 2 · …
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from mechid.importing.masses import Mass
from mechid.importing.poses import ZERO, Pose, Vec
from mechid.spatial.rotations import Array

TreeKind: TypeAlias = Literal["revolute", "prismatic", "planar", "spherical", "free"]


@dataclass(frozen=True, eq=False)
class LinkJoint:
    """One joint between a link and its parent.

    Attributes
    ----------
    name : str
    kind : str
        Of the model format.
    axis : array (3,)
        Unit, in the frame of the link.
    position : (x, y, z)
        A point of the axis, in the frame of the link, m.
    reference : float
        Coordinate where the joint displaces nothing, m or rad.
    at : tuple of float, optional
        Coordinates in the reference pose of the model; default: where nothing is displaced.
    limits : (float or None, float or None), optional
    stiffness, rest : float
        Of a spring on the coordinate, and where it is at rest.
    viscous, coulomb : float
        Friction.
    rotor, ratio : float
        Inertia of the rotor (kg m²) and motor speed over joint speed.
    actuated : bool
    from_parent : bool
        Of a free joint: coordinates are the pose in the parent, not the displacement.
    place : str
        Where it stands in its file.
    """

    name: str
    kind: TreeKind
    axis: Array
    position: Vec = ZERO
    reference: float = 0.0
    at: tuple[float, ...] | None = None
    limits: tuple[float | None, float | None] | None = None
    stiffness: float = 0.0
    rest: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    rotor: float = 0.0
    ratio: float = 1.0
    actuated: bool = False
    from_parent: bool = False
    place: str = ""


@dataclass(frozen=True, eq=False)
class Link:
    """A body; `parent` is None for the ground, `mass` None if nothing is known of it.

    `weld` is the name of the fixed joint of a link without others, if it has one.
    """

    name: str
    parent: str | None
    pose: Pose
    joints: tuple[LinkJoint, ...] = ()
    mass: Mass | None = None
    place: str = ""
    weld: str = ""


@dataclass(frozen=True, eq=False)
class LoopJoint:
    """A joint between two links of the tree; poses and axes in the frames of the links.

    A link of None is the ground.
    """

    name: str
    kind: str
    links: tuple[str | None, str | None]
    poses: tuple[Pose, Pose]
    axes: tuple[Array, Array] | None = None
    place: str = ""


@dataclass(frozen=True, eq=False)
class JointCoupling:
    """joint = ratio × leader + constant; without a leader the joint is locked."""

    name: str
    joint: str
    leader: str | None
    ratio: float
    constant: float
    place: str = ""


@dataclass(frozen=True, eq=False)
class PointPair:
    """Points of two links (the origins of the poses), with a spring and damper between them.

    With a `length` (m) their distance is constant.
    """

    name: str
    links: tuple[str | None, str | None]
    poses: tuple[Pose, Pose]
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    length: float | None = None
    place: str = ""


@dataclass(frozen=True, eq=False)
class JointSum:
    """A sum of joint coordinates: the angle of a motor with rotor and friction.

    With a `constant` (m or rad) it is constant.
    """

    name: str
    terms: tuple[tuple[str, float], ...]
    rotor: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    constant: float | None = None
    place: str = ""


@dataclass(frozen=True, eq=False)
class Robot:
    """A file, read. `links` stand after their parents.

    Attributes
    ----------
    name : str
    links : tuple of Link
    loops : tuple of LoopJoint
    couplings : tuple of JointCoupling
    lines : tuple of PointPair
    sums : tuple of JointSum
    gravity : (x, y, z)
        m/s².
    left_out : tuple of str
        What has an effect on the motion and is not in the model.
    notes : tuple of str
        What else a user should know.
    """

    name: str
    links: tuple[Link, ...]
    loops: tuple[LoopJoint, ...] = ()
    couplings: tuple[JointCoupling, ...] = ()
    gravity: Vec = (0.0, 0.0, -9.81)
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    lines: tuple[PointPair, ...] = ()
    sums: tuple[JointSum, ...] = ()


@dataclass
class Remarks:
    """What a reader leaves out and what it finds worth saying, gathered while it reads."""

    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def listed(names: list[str], most: int = 6) -> str:
    """Return names in a row, the first of them if there are many."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)})"
