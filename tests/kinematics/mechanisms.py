"""Small mechanisms built by hand, in ground coordinates of their reference pose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mechid.mechanism.records import (
    GROUND,
    IDENTITY,
    Body,
    Frame,
    IndependentCoordinate,
    Joint,
    JointCoordinate,
    JointType,
    Mechanism,
    Point,
)
from mechid.spatial.rotations import frame_from_axes, matrix_from_quaternion

Array = npt.NDArray[np.float64]
X, Y, Z = np.eye(3)


def frame(origin: npt.ArrayLike, rotation: npt.ArrayLike = IDENTITY.rotation) -> Frame:
    o = tuple(np.asarray(origin, float).tolist())
    return Frame(o, tuple(map(tuple, np.asarray(rotation, float).tolist())))


def random_rotation(rng: np.random.Generator) -> Array:
    return matrix_from_quaternion(rng.standard_normal(4))


def axes(z: npt.ArrayLike, x: npt.ArrayLike | None = None) -> Array:
    """Rotation with this z axis, and x towards `x` (default: any)."""
    z = np.asarray(z, float)
    helper = np.eye(3)[np.argmin(np.abs(z))] if x is None else np.asarray(x, float)
    return frame_from_axes(z, helper, (2, 0))


class Build:
    """Bodies with frames anywhere (random if a generator is given); joints in ground axes."""

    def __init__(self, name: str, rng: np.random.Generator | None = None) -> None:
        self.name = name
        self.rng = rng
        self.frames: dict[str, Frame] = {GROUND: IDENTITY}
        self.joints: list[Joint] = []
        self.coordinates: list[IndependentCoordinate] = []
        self.points: list[Point] = []

    def body(self, name: str, origin: npt.ArrayLike = (0, 0, 0)) -> str:
        if self.rng is None:
            self.frames[name] = frame(origin)
        else:
            place = np.asarray(origin, float) + 0.3 * self.rng.standard_normal(3)
            self.frames[name] = frame(place, random_rotation(self.rng))
        return name

    def local(self, body: str, point: npt.ArrayLike) -> Array:
        f = self.frames[body]
        return np.array(f.rotation).T @ (np.asarray(point, float) - np.array(f.origin))

    def joint(
        self,
        name: str,
        type: JointType,
        a: str,
        b: str,
        at: npt.ArrayLike = (0, 0, 0),
        z: npt.ArrayLike = (0, 0, 1),
        x: npt.ArrayLike | None = None,
        at_b: npt.ArrayLike | None = None,
        pitch: float = 0.0,
    ) -> Joint:
        """Joint at a place with axis z; for a universal joint, x is the axis fixed in b."""
        R = axes(z, x)
        places = (at, at if at_b is None else at_b)
        frames = [
            frame(self.local(body, place), np.array(self.frames[body].rotation).T @ R)
            for body, place in zip((a, b), places, strict=True)
        ]
        self.joints.append(Joint(name, type, a, b, frames[0], frames[1], pitch=pitch))
        return self.joints[-1]

    def point(self, name: str, body: str, place: npt.ArrayLike) -> Point:
        x, y, z = self.local(body, place).tolist()
        self.points.append(Point(name, body, (x, y, z)))
        return self.points[-1]

    def drive(self, joint: str, index: int = 0, name: str | None = None) -> None:
        self.coordinates.append(JointCoordinate(name or joint, joint, index, f"F_{joint}", ""))

    def mechanism(self) -> Mechanism:
        bodies = tuple(Body(n, f) for n, f in self.frames.items() if n != GROUND)
        return Mechanism(
            self.name,
            (0.0, 0.0, -9.81),
            bodies,
            tuple(self.joints),
            tuple(self.coordinates),
            points=tuple(self.points),
        )


def polygon(points: Sequence[npt.ArrayLike], normals: Sequence[npt.ArrayLike], name: str) -> Build:
    """Closed chain of revolute joints at the points; the last bar is the ground."""
    build = Build(name)
    n = len(points)
    bodies = [GROUND] + [build.body(f"bar_{k}", points[k - 1]) for k in range(1, n)]
    for k in range(n):
        label = "ABCDEFGH"[k]
        build.joint(label, "revolute", bodies[k], bodies[(k + 1) % n], points[k], normals[k])
    return build


def four_bar(
    crank: float = 0.3,
    coupler: float = 0.9,
    rocker: float = 0.7,
    base: float = 0.8,
    angle: float = 0.6,
    normal: npt.ArrayLike = (0, 0, 1),
) -> Mechanism:
    """Planar linkage A-B-C-D of revolute joints, open branch, coordinate: angle of the crank.

    The crank angle counts from its reference `angle`; A lies at the origin, D at (base, 0).
    """
    R = axes(normal)
    b = crank * np.array([np.cos(angle), np.sin(angle)])
    c = circles(b, coupler, np.array([base, 0.0]), rocker)
    places = [R @ [*p, 0.0] for p in ([0.0, 0.0], b, c, [base, 0.0])]
    build = polygon(places, [normal] * 4, "four_bar")
    build.drive("A")
    return build.mechanism()


def circles(a: Array, ra: float, b: Array, rb: float) -> Array:
    """Left intersection of two circles, seen along a → b."""
    d = np.linalg.norm(b - a)
    n = (b - a) / d
    along = (ra**2 - rb**2 + d**2) / (2 * d)
    across = np.sqrt(ra**2 - along**2)
    return np.asarray(a + along * n + across * np.array([-n[1], n[0]]))


def slider_crank(
    crank: float = 0.2, rod: float = 0.5, offset: float = 0.03, angle: float = 0.4
) -> Mechanism:
    """In-line motion along x at height `offset`; the slide coordinate is the slider's x."""
    pin = crank * np.array([np.cos(angle), np.sin(angle), 0])
    piston = np.array([pin[0] + np.sqrt(rod**2 - (offset - pin[1]) ** 2), offset, 0])
    build = Build("slider_crank")
    for name, place in (("crank", (0, 0, 0)), ("rod", pin), ("slider", piston)):
        build.body(name, place)
    build.joint("A", "revolute", GROUND, "crank", (0, 0, 0), Z, X)
    build.joint("B", "revolute", "crank", "rod", pin)
    build.joint("C", "revolute", "rod", "slider", piston)
    build.joint("D", "prismatic", GROUND, "slider", (0, offset, 0), X, Y, at_b=piston)
    build.drive("A")
    return build.mechanism()


def bricard_trihedral() -> Mechanism:
    """Bricard's trihedral 6R linkage, a cube's hexagon: sides 1, neighbouring axes normal.

    Joints stand on the corners of the closed path along the edges of a unit cube that leaves out
    two opposite corners; Denavit-Hartenberg: all a = 1, d = 0, twists +90° and -90° in turn, which
    fulfils Bricard's conditions (a1² + a3² + a5² = a2² + a4² + a6²).
    """
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]], float)
    normals = []
    for k in range(6):
        back = corners[k] - corners[k - 1]
        ahead = corners[(k + 1) % 6] - corners[k]
        normals.append(np.cross(back, ahead))
    build = polygon(list(corners), normals, "bricard")
    build.drive("A")
    return build.mechanism()


def stewart(
    leg_joint: JointType = "universal", rng: np.random.Generator | None = None
) -> Mechanism:
    """Platform on six telescopic legs: universal (or spherical) below, spherical above."""
    build = Build("stewart", rng)
    build.body("platform", (0, 0, 1))
    for k in range(6):
        low = np.deg2rad(60 * (k // 2 * 2) + (8 if k % 2 else -8))
        high = np.deg2rad(60 * (k // 2 * 2) + (52 if k % 2 else -52))
        foot = np.array([np.cos(low), np.sin(low), 0.0])
        head = np.array([0.6 * np.cos(high), 0.6 * np.sin(high), 1.0])
        along = head - foot
        lower, upper = build.body(f"lower_{k}", foot), build.body(f"upper_{k}", head)
        build.joint(f"U{k}", leg_joint, GROUND, lower, foot, Z, np.cross(Z, along))
        build.joint(f"P{k}", "prismatic", lower, upper, foot, along)
        build.joint(f"S{k}", "spherical", upper, "platform", head)
        build.drive(f"P{k}")
    return build.mechanism()


def spatial_crank(rng: np.random.Generator | None = None) -> Mechanism:
    """RSSR: two cranks on skew axes, joined by a rod with a ball at each end."""
    build = Build("rssr", rng)
    a, b = np.array([0.2, 0.0, 0.1]), np.array([1.0, 0.3, 0.5])
    build.body("crank"), build.body("rod", a), build.body("rocker", (1, 0.8, 0.4))
    build.joint("A", "revolute", GROUND, "crank", (0, 0, 0.1), (0, 0.1, 1))
    build.joint("B", "spherical", "crank", "rod", a)
    build.joint("C", "spherical", "rod", "rocker", b)
    build.joint("D", "revolute", GROUND, "rocker", (1, 0.8, 0.4), (1, 0.2, 0))
    build.drive("A")
    return build.mechanism()
