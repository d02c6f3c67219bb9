"""Left-right symmetry as prior: a body has the inertia of its mirror image.

With the frames of two bodies in the reference pose and the reflection r → M r + d of space, local
coordinates map as s → R_lᵀ (M (p_r + R_r s) + d - p_l), an affine map T; the pseudo-inertia maps as
T Σ Tᵀ, which is linear in φ: φ_l = S φ_r.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mechid.errors import DataError
from mechid.estimation.measured_constraints import MeasuredConstraint
from mechid.estimation.perturb import body_root
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats
from mechid.mechanism.records import Body, Mechanism, Vec3
from mechid.mechanism.size import characteristic_size
from mechid.spatial.inertia import transform

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_APART = 1e-6  # of the size of the mechanism: joints closer than this are in the same place


@dataclass(frozen=True)
class Plane:
    """A mirror plane: its normal and a point of it, in ground coordinates of the reference pose."""

    normal: Vec3
    point: Vec3 = (0.0, 0.0, 0.0)

    @classmethod
    def across(cls, axis: str, at: float = 0.0) -> Plane:
        """Return the plane x = at, y = at or z = at, by the name of the axis."""
        if axis not in _AXES:
            raise DataError(f"the normal of the mirror plane must be x, y or z, got {axis}")
        x, y, z = _AXES[axis]
        return cls((x, y, z), (at * x, at * y, at * z))

    def reflection(self) -> tuple[Floats, Floats]:
        """Return M (3, 3) and d (3,): a point r maps to M r + d."""
        n = np.array(self.normal)
        length = np.linalg.norm(n)
        if not length > 0:
            raise DataError("the normal of the mirror plane must not be zero")
        n = n / length
        return np.eye(3) - 2 * np.outer(n, n), 2 * n * (n @ np.array(self.point))


def mirror_matrix(left: Body, right: Body, plane: Plane) -> Floats:
    """Return S (10, 10) with φ_left = S φ_right for bodies that mirror each other."""
    M, d = plane.reflection()
    R_l, R_r = np.array(left.frame.rotation), np.array(right.frame.rotation)
    p_l, p_r = np.array(left.frame.origin), np.array(right.frame.origin)
    turn = R_l.T @ M @ R_r
    shift = R_l.T @ (M @ p_r + d - p_l)
    return np.array([transform(unit, turn, shift) for unit in np.eye(10)]).T


def mirrored_pairs(mechanism: Mechanism, plane: Plane) -> tuple[tuple[str, str], ...]:
    """Return pairs of bodies whose joints mirror each other: kinds, places and axes.

    A body that is its own mirror image is not a pair. Raises DataError where several bodies could
    be the image of one: then name the pairs.
    """
    M, d = plane.reflection()
    near = _APART * characteristic_size(mechanism)
    seen = {body.name: _joints(mechanism, body) for body in mechanism.bodies}
    pairs: list[tuple[str, str]] = []
    for body in mechanism.bodies:
        image = [(kind, M @ at + d, M @ axis) for kind, at, axis in seen[body.name]]
        found = [other for other, joints in seen.items() if _same(image, joints, near)]
        if not image or body.name in found:
            continue
        if len(found) > 1:
            raise DataError(
                f"{body.name} could be the mirror image of {' or of '.join(found)}",
                where=mechanism.name,
                remedy="name the pairs",
            )
        if found and (found[0], body.name) not in pairs:
            pairs.append((body.name, found[0]))
    return tuple(pairs)


def symmetric(
    prior: Prior,
    mechanism: Mechanism,
    plane: Plane,
    deviation: float = 0.0,
    pairs: Iterable[tuple[str, str]] | None = None,
) -> tuple[MeasuredConstraint, ...]:
    """Return the constraints that pairs of bodies are mirror images of each other.

    Parameters
    ----------
    prior, mechanism
        Of the same model.
    plane : Plane
    deviation : float
        How much an image may differ, as a relative error of its inertia (`perturb`); 0: not at all.
    pairs : iterable of (str, str), optional
        By default those that `mirrored_pairs` finds.

    Raises
    ------
    DataError
        If there is no pair, or a body of one has no inertia.
    """
    listed = tuple(mirrored_pairs(mechanism, plane) if pairs is None else pairs)
    if not listed:
        raise DataError(
            "no two bodies mirror each other", where=mechanism.name, remedy="name the pairs"
        )
    columns = dict(prior.bodies)
    measured = []
    for left, right in listed:
        for name in (left, right):
            if name not in columns:
                raise DataError(f"there is no body {name} with an inertia")
        if left == right:
            raise DataError(f"a pair needs two different bodies, got {left} twice")
        l_, r_ = columns[left], columns[right]
        A = np.zeros((10, len(prior.parameters)))
        S = mirror_matrix(mechanism.body(left), mechanism.body(right), plane)
        A[:, l_ : l_ + 10] = np.eye(10)
        A[:, r_ : r_ + 10] = -S
        F = body_root(prior.values[l_ : l_ + 10], deviation)
        words = f"{left} mirrors {right}, standard deviation {100 * deviation:g} %"
        measured.append(MeasuredConstraint(A, np.zeros(10), F @ F.T, words))
    return tuple(measured)


_Place = tuple[str, Floats, Floats]


def _joints(mechanism: Mechanism, body: Body) -> list[_Place]:
    """Return kind, place and axis of the joints of a body, in ground coordinates."""
    R, p = np.array(body.frame.rotation), np.array(body.frame.origin)
    found: list[_Place] = []
    for joint in mechanism.joints:
        if joint.kind.holds_nothing:
            continue
        ends = ((joint.body_a, joint.frame_a), (joint.body_b, joint.frame_b))
        for (name, frame), meant in zip(ends, joint.kind.axes, strict=True):
            if name == body.name:
                axis = np.array(frame.rotation)[:, meant[0]] if meant else np.zeros(3)
                found.append((joint.type, p + R @ np.array(frame.origin), R @ axis))
    return found


def _same(image: list[_Place], joints: list[_Place], near: float) -> bool:
    """Whether two lists hold the same joints, in any order; axes may point either way."""
    left = list(joints)
    for kind, at, axis in image:
        for k, (other, there, along) in enumerate(left):
            aligned = np.linalg.norm(np.cross(axis, along)) <= _APART
            if kind == other and np.linalg.norm(at - there) <= near and aligned:
                del left[k]
                break
        else:
            return False
    return not left
