"""What the two bodies of a joint share: points and directions that both carry along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import sympy as sp

from mechid.exact.geometry import ExactFrame, Geometry, Vector
from mechid.mechanism.records import Joint

Rho: TypeAlias = tuple[Any, Any, Any, Any]

ONE, ZERO = sp.Integer(1), sp.Integer(0)


@dataclass(frozen=True)
class Shared:
    """A homogeneous vector fixed in both bodies, and what it is in words."""

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
