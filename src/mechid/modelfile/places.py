"""Points and directions as one scope sees them, and small algebra on exact points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mechid.modelfile import algebra
from mechid.modelfile.vectors import Array, Exact, Pose, cleaned


@dataclass(frozen=True)
class Place:
    """A point: designed ground coordinates, and coordinates in the bodies where it is given."""

    position: Array
    given: Mapping[str, Exact]
    name: str | None = None
    source: str = ""


@dataclass(frozen=True)
class Heading:
    """A direction: designed unit vector, and components in the bodies where it is given."""

    vector: Array
    given: Mapping[str, Array]


def blend(a: Exact, b: Exact, fraction: str) -> list[str] | None:
    """Return the expressions of a + f (b - a), if both points have any."""
    if a.expr is None or b.expr is None:
        return None
    return [
        algebra.add(p, algebra.multiply(fraction, algebra.subtract(q, p)))
        for p, q in zip(a.expr, b.expr, strict=True)
    ]


def shifted(hard: Exact, pose: Pose) -> list[str] | None:
    """Return the expressions of a ground point in a frame whose axes lie along the ground's."""
    o = pose.origin
    if hard.expr is None or o.expr is None:
        return None
    if hard.expr == o.expr:
        return ["0", "0", "0"]
    if not np.array_equal(np.abs(pose.R).sum(axis=0), np.ones(3)):
        return None
    shift = [algebra.subtract(p, q) for p, q in zip(hard.expr, o.expr, strict=True)]
    return [_component(pose.R[:, i], shift) for i in range(3)]


def _component(column: Array, shift: list[str]) -> str:
    k = int(np.argmax(np.abs(column)))
    return shift[k] if column[k] > 0 else algebra.negate(shift[k])


def rounded_local(position: Array, pose: Pose) -> Exact:
    """Return coordinates of a ground point in a frame, without expressions."""
    o = pose.origin.array
    return Exact.of(cleaned(pose.R.T @ (position - o), position, o))
