"""Three numbers with their expressions, and unit vectors that stay what they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mechid.mechanism.records import Expr3, Mat3, Vec3
from mechid.spatial.rotations import snap

if TYPE_CHECKING:
    from mechid.modelfile.transforms import SymbolicTransform

Array = npt.NDArray[np.float64]
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Exact:
    """Three numbers and, where they are known exactly, their expressions."""

    value: Vec3
    expr: Expr3 | None = None

    @classmethod
    def of(cls, value: Iterable[float], expr: Expr3 | None = None) -> Exact:
        """Return the vector of an array."""
        return cls(vec3(value), expr)

    @property
    def array(self) -> Array:
        """The three values, shape (3,)."""
        return np.array(self.value)


EXACT_ZERO = Exact((0.0, 0.0, 0.0), ("0", "0", "0"))


@dataclass(frozen=True)
class Pose:
    """A body frame in the ground frame; `key` names the point that is its origin.

    `relative` is the body and the exact transform by which the frame was given, if it was.
    """

    origin: Exact
    R: Array
    key: str | None = None
    relative: tuple[str, SymbolicTransform] | None = None


GROUND_POSE = Pose(EXACT_ZERO, np.eye(3))


def vec3(value: Iterable[float]) -> Vec3:
    """Return three floats; a negative zero becomes zero."""
    x, y, z = (float(v) + 0.0 for v in value)
    return (x, y, z)


def mat3(value: Array) -> Mat3:
    """Return the rows of a matrix."""
    a, b, c = (vec3(row) for row in value)
    return (a, b, c)


def unit(v: Array) -> Array | None:
    """Return v / |v|, or None for zero; a vector that is a unit vector already is not touched."""
    v = np.asarray(v, dtype=float)
    largest = float(np.abs(v).max())
    if largest == 0:
        return None
    if largest <= 1 and abs(float(v @ v) - 1) <= 16 * EPS:
        return v + 0.0
    scaled = v / largest  # no overflow or underflow in the norm
    return np.asarray(snap(scaled / np.linalg.norm(scaled)), dtype=float)


def perpendicular(axis: Array) -> Array:
    """Return the coordinate axis least parallel to a direction; the first one of equals."""
    return np.asarray(np.eye(3)[int(np.argmin(np.abs(axis)))], dtype=float)


def cleaned(local: Array, *terms: Array) -> Array:
    """Return coordinates with zeros where only the rounding of the terms is left."""
    slack = 8 * EPS * max(float(np.abs(term).max()) for term in terms)
    return np.where(np.abs(local) <= slack, 0.0, local) + 0.0
