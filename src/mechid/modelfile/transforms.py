"""Rotations and displacements whose entries are expressions in normal form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mechid.errors import ModelError
from mechid.mechanism.records import Expr3, Frame
from mechid.modelfile import algebra
from mechid.modelfile.algebra import ONE, ZERO
from mechid.modelfile.numbers import Numbers
from mechid.modelfile.scope import Scope
from mechid.modelfile.vectors import mat3, vec3
from mechid.textfile.expressions import LARGEST_ANGLE, Number
from mechid.textfile.yamlio import Key

Rows = list[list[str]]


@dataclass(frozen=True)
class SymbolicTransform:
    """A rotation and an origin whose entries are expressions in normal form."""

    rotation: Rows
    origin: list[str]

    def __matmul__(self, other: SymbolicTransform) -> SymbolicTransform:
        """Return this transform followed by another one."""
        columns = [list(column) for column in zip(*other.rotation, strict=True)]
        rotation = [[_dot(row, column) for column in columns] for row in self.rotation]
        origin = [
            algebra.add(p, _dot(row, other.origin))
            for p, row in zip(self.origin, self.rotation, strict=True)
        ]
        return SymbolicTransform(rotation, origin)

    def inverse(self) -> SymbolicTransform:
        """Return the transform back."""
        rotation = [list(column) for column in zip(*self.rotation, strict=True)]
        return SymbolicTransform(
            rotation, [algebra.negate(_dot(row, self.origin)) for row in rotation]
        )

    def of_point(self, local: Expr3) -> list[str]:
        """Return where a point of the second frame is in the first."""
        return [
            algebra.add(p, _dot(row, list(local)))
            for p, row in zip(self.origin, self.rotation, strict=True)
        ]

    def frame(self, numbers: Numbers) -> Frame:
        """Return the frame with values; expressions of the rotation only if it is not plain."""
        R = [[numbers.of_text(text) for text in row] for row in self.rotation]
        x, y, z = self.origin
        a, b, c = ((row[0], row[1], row[2]) for row in self.rotation)
        plain = all(text in ("0", "1", "-1") for row in self.rotation for text in row)
        return Frame(
            vec3([numbers.of_text(text) for text in self.origin]),
            mat3(np.array(R)),
            (x, y, z),
            None if plain else (a, b, c),
        )


def _dot(a: list[str], b: list[str]) -> str:
    total = ZERO
    for x, y in zip(a, b, strict=True):
        total = algebra.add(total, algebra.multiply(x, y))
    return total


def turn(axis: int, angle: Number, path: Key) -> SymbolicTransform:
    """Return the rotation about a coordinate axis; `path` is where the angle stands."""
    if abs(angle.value) > LARGEST_ANGLE:
        raise ModelError(
            f"an angle must be less than {LARGEST_ANGLE:.2g} rad, got {angle.value:.3g} rad",
            path=path,
            remedy="check the number and its unit",
        )
    c, s = algebra.cosine(angle.text), algebra.sine(angle.text)
    rotation = [[ONE if i == j else ZERO for j in range(3)] for i in range(3)]
    i, j = (axis + 1) % 3, (axis + 2) % 3
    rotation[i][i] = rotation[j][j] = c
    rotation[i][j], rotation[j][i] = algebra.negate(s), s
    return SymbolicTransform(rotation, [ZERO] * 3)


def shift(axis: int, length: Number) -> SymbolicTransform:
    """Return the translation along a coordinate axis."""
    rotation = [[ONE if i == j else ZERO for j in range(3)] for i in range(3)]
    text = ZERO if length.text in ("0.0", "-0") else length.text
    return SymbolicTransform(rotation, [text if i == axis else ZERO for i in range(3)])


def roll_pitch_yaw(numbers: Numbers, rpy: Any, scope: Scope, path: Key) -> SymbolicTransform:
    """Return the rotation of roll, pitch and yaw about fixed axes, Rz(ψ) Ry(θ) Rx(φ)."""
    x, y, z = (
        turn(i, numbers.number(angle, scope, (*path, i)), (*path, i)) for i, angle in enumerate(rpy)
    )
    return z @ y @ x
