"""Mass, centre and central inertia of links, added up and moved; solids of uniform density."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mechid.importing.poses import Pose
from mechid.spatial.inertia import steiner
from mechid.spatial.rotations import Array


@dataclass(frozen=True, eq=False)
class Mass:
    """Mass (kg), centre (m) and inertia tensor about it (kg m²), in one frame."""

    mass: float
    center: Array
    tensor: Array

    def times(self, factor: float) -> Mass:
        """Return a body of the same shape and `factor` times the density."""
        return Mass(factor * self.mass, self.center, factor * self.tensor)

    def seen_from(self, pose: Pose) -> Mass:
        """Return the same in the frame in which its own frame has this pose."""
        if np.array_equal(pose.R, np.eye(3)):
            return Mass(self.mass, pose.point(self.center), self.tensor)
        turned = pose.R @ self.tensor @ pose.R.T
        return Mass(self.mass, pose.point(self.center), (turned + turned.T) / 2)


def total(parts: Iterable[Mass]) -> Mass | None:
    """Return the sum of bodies in one frame; None if there are none."""
    known = list(parts)
    if len(known) < 2:
        return known[0] if known else None
    mass = math.fsum(part.mass for part in known)
    weights = [(part.mass / mass if mass else 1 / len(known)) for part in known]
    center = sum((w * p.center for w, p in zip(weights, known, strict=True)), np.zeros(3))
    tensor = sum((p.tensor + steiner(p.mass, p.center - center) for p in known), np.zeros((3, 3)))
    return Mass(mass, center, tensor)


def _diagonal(volume: float, xx: float, yy: float, zz: float) -> tuple[float, Array]:
    """Return volume and tensor per unit mass."""
    return volume, np.diag([xx, yy, zz])


def box(x: float, y: float, z: float) -> tuple[float, Array]:
    """Return volume and tensor per kg of a box with these edges."""
    return _diagonal(x * y * z, (y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12)


def ellipsoid(a: float, b: float, c: float) -> tuple[float, Array]:
    """Return volume and tensor per kg of an ellipsoid with these half axes."""
    volume = 4 / 3 * math.pi * a * b * c
    return _diagonal(volume, (b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5)


def cylinder(radius: float, length: float) -> tuple[float, Array]:
    """Return volume and tensor per kg of a cylinder along z."""
    across = (3 * radius**2 + length**2) / 12
    return _diagonal(math.pi * radius**2 * length, across, across, radius**2 / 2)


def capsule(radius: float, length: float) -> tuple[float, Array]:
    """Return volume and tensor per kg of a cylinder along z with half balls at its ends."""
    middle, ends = math.pi * radius**2 * length, 4 / 3 * math.pi * radius**3
    a, b = middle / (middle + ends), ends / (middle + ends)
    # The centre of a half ball is 3/8 of the radius beyond the end of the cylinder.
    across = a * (3 * radius**2 + length**2) / 12 + b * (
        2 / 5 * radius**2 + length**2 / 4 + 3 / 8 * length * radius
    )
    along = a * radius**2 / 2 + b * 2 / 5 * radius**2
    return _diagonal(middle + ends, across, across, along)
