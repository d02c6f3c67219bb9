"""Scopes: what a name means inside one copy of a subassembly, and how the copy is reflected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from mechid.errors import ModelError
from mechid.mechanism.records import GROUND, Vec3
from mechid.modelfile.algebra import negate, subtract
from mechid.modelfile.vectors import Array, Exact
from mechid.textfile.words import hint
from mechid.textfile.yamlio import Key

Kind: TypeAlias = Literal[
    "parameters",
    "points",
    "directions",
    "bodies",
    "joints",
    "constraints",
    "elements",
    "coordinates",
]
KINDS: tuple[Kind, ...] = (
    "parameters",
    "points",
    "directions",
    "bodies",
    "joints",
    "constraints",
    "elements",
    "coordinates",
)
SINGULAR: Mapping[Kind, str] = {
    "parameters": "parameter",
    "points": "point",
    "directions": "direction",
    "bodies": "body",
    "joints": "joint",
    "constraints": "constraint",
    "elements": "element",
    "coordinates": "coordinate",
}


@dataclass(frozen=True)
class Reflection:
    """Reflection across a plane, S = 1 - 2 n nᵀ."""

    point: Exact
    normal: Vec3

    @property
    def matrix(self) -> Array:
        """The matrix S, shape (3, 3)."""
        n = np.array(self.normal)
        return np.asarray(np.eye(3) - 2 * np.outer(n, n), dtype=float)

    def of_point(self, p: Array) -> Array:
        """Return the mirror image of a point in ground coordinates."""
        n, c = np.array(self.normal), np.array(self.point.value)
        return np.asarray(p - 2 * n * (n @ (p - c)) + 0.0, dtype=float)

    def of_exact(self, p: Exact) -> Exact:
        """Return the mirror image of a point, its expression too where the plane allows it."""
        mirrored = self.of_point(np.array(p.value))
        axis = [i for i in range(3) if abs(self.normal[i]) == 1]
        if p.expr is None or self.point.expr is None or not axis:
            return Exact.of(mirrored)
        expr = list(p.expr)
        k = axis[0]
        c = self.point.expr[k]
        expr[k] = negate(expr[k]) if c == "0" else subtract(f"2*({c})", expr[k])
        if c != "0":
            mirrored[k] = 2 * self.point.value[k] - p.value[k]
        return Exact.of(mirrored, (expr[0], expr[1], expr[2]))


@dataclass
class Scope:
    """A copy of a subassembly, or the file itself.

    `path` leads to the subassembly, `use` to what made the copy; `plane` mirrors the copy as seen
    in `outer`, the scope that uses it.
    """

    path: Key = ()
    use: Key = ()
    prefix: str = ""
    suffix: str = ""
    renames: Mapping[str, str] = field(default_factory=dict)
    plane: Reflection | None = None
    own: dict[Kind, dict[str, str]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    outer: Scope | None = None

    @property
    def chain(self) -> tuple[Scope, ...]:
        """This scope, the one that uses it, and so on; the file comes last."""
        return (self, *(self.outer.chain if self.outer is not None else ()))

    @property
    def planes(self) -> tuple[Reflection, ...]:
        """The reflections that take what is written here to the mechanism, in this order."""
        return tuple(scope.plane for scope in self.chain if scope.plane is not None)

    @property
    def reflection(self) -> Reflection | None:
        """A plane if what is written here ends up as a mirror image; two reflections cancel."""
        return self.planes[0] if len(self.planes) % 2 else None

    def around(self, name: str) -> str:
        """Return the name that an entry of this scope has for the scope that uses it."""
        return self.renames.get(name, f"{self.prefix}{name}{self.suffix}")

    def final(self, name: str) -> str:
        """Return the name that an entry of this scope has in the mechanism."""
        return self.around(name) if self.outer is None else self.outer.final(self.around(name))

    def find(self, kind: Kind, name: str, path: Key) -> str:
        """Return the final name of what `name` means here; an unknown name is an error."""
        if kind == "bodies" and name == GROUND:
            return GROUND
        for scope in self.chain:
            if name in scope.own[kind]:
                return scope.own[kind][name]
        known = [*dict.fromkeys(own for scope in self.chain for own in scope.own[kind])]
        known += {"bodies": [GROUND], "directions": ["x", "y", "z"]}.get(kind, [])
        raise ModelError(
            f"there is no {SINGULAR[kind]} {name}",
            path=path,
            remedy=hint(name, known, f"define it under {kind}"),
        )


@dataclass(frozen=True)
class Entry:
    """A named entry of the expanded document."""

    name: str
    spec: Any
    scope: Scope
    path: Key
