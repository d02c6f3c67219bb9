"""Inertia of a rigid body: ten parameters, tensors, pseudo-inertia, physical consistency."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

NAMES = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
_UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def tensor(six: Array) -> Array:
    """Return the symmetric 3×3 tensor of (xx, xy, xz, yy, yz, zz)."""
    six = np.asarray(six, dtype=float)
    t = np.empty((3, 3))
    for value, (i, j) in zip(six, _UPPER, strict=True):
        t[i, j] = t[j, i] = value
    return t


def six(t: Array) -> Array:
    """Return (xx, xy, xz, yy, yz, zz) of a symmetric 3×3 tensor."""
    t = np.asarray(t, dtype=float)
    return np.array([t[i, j] for i, j in _UPPER])


def steiner(mass: float, center: Array) -> Array:
    """Return m (c·c 1 - c cᵀ): what moving the pole from the centre to the origin adds."""
    c = np.asarray(center, dtype=float)
    moved: Array = mass * ((c @ c) * np.eye(3) - np.outer(c, c))
    return moved


def parameters(mass: float, center: Array, inertia_center: Array) -> Array:
    """Return φ = (m, mx, my, mz, Ixx, …, Izz) about the frame origin, shape (10,)."""
    c = np.asarray(center, dtype=float)
    about_origin = tensor(inertia_center) + steiner(mass, c)
    return np.concatenate([[mass], mass * c, six(about_origin)])


def central(phi: Array) -> tuple[float, Array, Array]:
    """Return mass, centre of mass and the six components about it; inverse of `parameters`."""
    phi = np.asarray(phi, dtype=float)
    mass = float(phi[0])
    center = phi[1:4] / mass
    return mass, center, six(tensor(phi[4:]) - steiner(mass, center))


def pseudo_inertia(phi: Array) -> Array:
    """Return the 4×4 pseudo-inertia; it is positive definite exactly for physical bodies."""
    phi = np.asarray(phi, dtype=float)
    inertia = tensor(phi[4:])
    s = np.empty((4, 4))
    s[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    s[:3, 3] = s[3, :3] = phi[1:4]
    s[3, 3] = phi[0]
    return s


def from_pseudo_inertia(s: Array) -> Array:
    """Return φ of a pseudo-inertia; inverse of `pseudo_inertia`."""
    s = np.asarray(s, dtype=float)
    second = s[:3, :3]
    return np.concatenate([[s[3, 3]], s[:3, 3], six(np.trace(second) * np.eye(3) - second)])


def transform(phi: Array, rotation: Array, origin: Array) -> Array:
    """Return φ seen from another frame, in which the old frame has this rotation and origin."""
    T = np.eye(4)
    T[:3, :3] = rotation
    T[:3, 3] = origin
    return from_pseudo_inertia(T @ pseudo_inertia(phi) @ T.T)


def inconsistency(mass: float, inertia_center: Array) -> str | None:
    """Say what makes a mass and central inertia impossible, or None if a body can have them.

    Limits count as possible: a point mass, a rod without a moment about its axis, a flat plate. The
    tolerance for rounding is relative to the largest moment.
    """
    if not mass > 0:
        return f"mass must be > 0, got {mass:g} kg"
    moments = np.linalg.eigvalsh(tensor(inertia_center))
    slack = 1e-12 * float(np.abs(moments).max())
    if moments[0] < -slack:
        return (
            "inertia must be positive definite (or zero in the limit), smallest principal moment "
            f"is {moments[0]:g}"
        )
    if moments[0] + moments[1] < moments[2] - slack:
        return (
            "inertia breaks the triangle inequality, principal moments "
            f"{moments[0]:g} + {moments[1]:g} < {moments[2]:g}"
        )
    return None


def by_central(phi: Array) -> Array:
    """Return the derivatives of φ by mass, centre and the six components about it, (10, 10)."""
    mass, center, _ = central(phi)
    D = np.eye(10)
    D[1:4, 0], D[4:, 0] = center, six(steiner(1.0, center))
    D[1:4, 1:4] = mass * np.eye(3)
    for k, e in enumerate(np.eye(3)):
        along = np.outer(center, e)
        D[4:, 1 + k] = mass * six(2 * center[k] * np.eye(3) - along - along.T)
    return D
