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
    """A copy of a subassembly, or the file itself."""

    path: Key = ()
    prefix: str = ""
    suffix: str = ""
    renames: Mapping[str, str] = field(default_factory=dict)
    reflection: Reflection | None = None
    own: dict[Kind, dict[str, str]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    file: Scope | None = None

    def final(self, name: str) -> str:
        """Return the name that an entry of this scope has in the mechanism."""
        return self.renames.get(name, f"{self.prefix}{name}{self.suffix}")

    def find(self, kind: Kind, name: str, path: Key) -> str:
        """Return the final name of what `name` means here; an unknown name is an error."""
        if kind == "bodies" and name == GROUND:
            return GROUND
        if name in self.own[kind]:
            return self.own[kind][name]
        outer = self.file.own[kind] if self.file is not None else {}
        if name in outer:
            return outer[name]
        known = [*dict.fromkeys([*self.own[kind], *outer]), *([GROUND] if kind == "bodies" else [])]
        if kind == "directions":
            known += ["x", "y", "z"]
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
