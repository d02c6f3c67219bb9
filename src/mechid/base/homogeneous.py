"""Homogeneous vectors: what the bodies of a joint share, and inertia as their products.

A point s of a body is ρ = (s, 1), a direction u is ρ = (u, 0), and a body moves them as A ρ. The
inertia of a body is the symmetric 4×4 matrix Σ = ∫ ρ ρᵀ dm, and with it

    kinetic energy    T = ½ tr(Ȧ Σ Ȧᵀ),        weight    V = -g · A Σ (0, 0, 0, 1)ᵀ.

A mass at a point (monopole) is ρ ρᵀ, a first moment along u at P (dipole) is P uᵀ + u Pᵀ, the
inertia of a line along u (quadrupole) is u uᵀ. Two bodies that share ρ and σ, A_i ρ_i = A_j ρ_j,
do not tell in which of them the product ρ σᵀ + σ ρᵀ is: that is all there is to a transfer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import sympy as sp

from mechid.exact.geometry import ExactFrame, Geometry, Vector
from mechid.mechanism.records import Joint

# Three components and 1 (a point) or 0 (a direction); SymPy expressions, balls or floats.
Homogeneous: TypeAlias = Sequence[Any]
Rho: TypeAlias = tuple[Any, Any, Any, Any]
Ten: TypeAlias = tuple[Any, ...]

ONE, ZERO = sp.Integer(1), sp.Integer(0)
UPPER = (
    (0, 0),
    (0, 1),
    (0, 2),
    (1, 1),
    (1, 2),
    (2, 2),
)  # of a tensor, as in φ


def symmetric_product(rho: Homogeneous, sigma: Homogeneous) -> Ten:
    """Return (m, mx, …, Izz) of ½ (ρ σᵀ + σ ρᵀ), doubled unless ρ is σ."""
    same = all(a is b or a == b for a, b in zip(rho, sigma, strict=True))

    def second(i: int, j: int) -> Any:
        if same:
            return rho[i] * rho[j]
        return rho[i] * sigma[j] + sigma[i] * rho[j]

    x, y, z = second(0, 0), second(1, 1), second(2, 2)
    return (
        second(3, 3),
        second(0, 3),
        second(1, 3),
        second(2, 3),
        y + z,
        -second(0, 1),
        -second(0, 2),
        x + z,
        -second(1, 2),
        x + y,
    )


def tensor_unit(number: int, rotation: Sequence[Sequence[Any]]) -> Ten:
    """Return ten parameters with component `number` of the inertia tensor equal to one.

    `rotation` turns the components into those of another frame: I' = Q I Qᵀ.
    """
    i, j = UPPER[number]
    q = rotation
    components = []
    for a, b in UPPER:
        entry = q[a][i] * q[b][j]
        components.append(entry if i == j else entry + q[a][j] * q[b][i])
    return (0, 0, 0, 0, *components)


@dataclass(frozen=True)
class Shared:
    """A homogeneous vector fixed in both bodies, and its name."""

    words: str
    on_a: Rho
    on_b: Rho

    @property
    def is_point(self) -> bool:
        """Whether it is a point and not a direction."""
        return bool(self.on_a[3] == 1)

    def on(self, side: int) -> Rho:
        """Return it in body a (0) or b (1)."""
        return (self.on_a, self.on_b)[side]


def point(v: Vector) -> Rho:
    """Return the homogeneous vector of a point."""
    return (*v, ONE)


def direction(v: Vector) -> Rho:
    """Return the homogeneous vector of a direction."""
    return (*v, ZERO)


def shared_vectors(joint: Joint, geometry: Geometry) -> tuple[Shared, ...]:
    """Return the points and directions that the bodies of a joint share, in every pose."""
    a, b = geometry.frames[joint.name, 0], geometry.frames[joint.name, 1]
    found = []
    if joint.kind.holds_point:
        found.append(Shared(joint.name, point(a.origin), point(b.origin)))
    if len(joint.kind.aligned) == 1:
        (k,) = joint.kind.aligned
        found.append(Shared(f"axis of {joint.name}", direction(a.axes[k]), direction(b.axes[k])))
    elif joint.kind.aligned:
        turn = relative_rotation(a, b)
        for k, name in enumerate("xyz"):
            unit: Vector = (sp.Integer(k == 0), sp.Integer(k == 1), sp.Integer(k == 2))
            image: Vector = (turn[0][k], turn[1][k], turn[2][k])
            words = f"{name} of {joint.body_a}"
            found.append(Shared(words, direction(unit), direction(image)))
    return tuple(found)


def relative_rotation(a: ExactFrame, b: ExactFrame) -> list[list[sp.Expr]]:
    """Return Q = B Aᵀ, which turns components in body a into components in body b."""
    return [
        [sum((b.axes[k][i] * a.axes[k][j] for k in range(3)), ZERO) for j in range(3)]
        for i in range(3)
    ]
