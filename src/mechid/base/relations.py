"""Linear relations between vectors of the bodies, and what they leave free.

A homogeneous vector ρ of a body (a point or a direction) moves as A ρ. Relations say that sums of
such vectors vanish in all poses: bodies share the point of a joint, an axis rests in the ground,
two rods turn together. With V all vectors of all bodies and of the ground, and Λ the relations, the
motion is a matter of V/Λ alone: of a few *free* vectors, by which all others are expressed. Joints
are products of vectors, so that over V/Λ they are equations between products of free vectors.

Numbers are balls. What they leave is called zero below `NEAR`; the largest of what was taken for
zero, though exact numbers say that it is not, is kept as the gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from flint import arb

from mechid.base.constant import zero_of
from mechid.base.homogeneous import Homogeneous, shared_vectors
from mechid.base.loop_constraints import Alike
from mechid.base.spaces import Row, size
from mechid.exact.geometry import Geometry
from mechid.exact.numbers import exactly
from mechid.mechanism.records import GROUND
from mechid.mechanism.size import characteristic_size

NEAR = 1e-9  # of vectors of about unit length
# Vectors and products of vectors, sparse: place → number.
Entries: TypeAlias = dict[Any, arb]


def _any(_: Any) -> bool:
    return True


@dataclass
class Echelon:
    """Independent rows; each has a one where all rows after it have nothing.

    Attributes
    ----------
    zero : float
        What counts as nothing where numbers are exact.
    rows : list of (place of the one, row)
    gap : float
        Largest entry that was neglected though it is not zero.
    """

    zero: float
    rows: list[tuple[Any, Entries]] = field(default_factory=list)
    gap: float = 0.0

    def left_of(self, row: Mapping[Any, arb]) -> Entries:
        """Return what the rows leave of another one."""
        left = dict(row)
        for place, reducer in self.rows:
            factor = left.pop(place, None)
            if factor is None or size(factor) <= self.zero:
                continue
            for key, x in reducer.items():
                if key != place:
                    left[key] = left.get(key, arb(0)) - factor * x
        return {key: x for key, x in left.items() if size(x) > self.zero}

    def add(
        self, row: Mapping[Any, arb], eligible: Sequence[Callable[[Any], bool]] = (_any,)
    ) -> bool:
        """Add a row unless it follows from the others.

        Its one comes to the first of the kinds of place in `eligible` that it has.
        """
        largest = max(map(size, row.values()), default=0.0)
        if largest <= self.zero:
            return False
        left = self.left_of({key: x / largest for key, x in row.items()})
        for kind in eligible:
            sizes = {key: size(x) for key, x in left.items() if kind(key)}
            # Of equal entries the first one, in the order in which the row gives them.
            place = max(sizes, key=lambda key: sizes[key], default=None)
            if place is not None and sizes[place] > NEAR:
                self.rows.append((place, {key: x / left[place] for key, x in left.items()}))
                return True
        self.gap = max([self.gap, *map(size, left.values())])
        return False


@dataclass(frozen=True, eq=False)
class Relations:
    """Vectors of all bodies in terms of free ones.

    Places are numbered 4 i + k: axis k of body i, as long as the mechanism is large (`size`), or
    its origin (k = 3); then the ground, then constant ways between vectors that move alike.

    Attributes
    ----------
    n_bodies : int
    images : list of mappings
        Each place as a sum of free ones, the origin of the ground left out (it is no way).
    free : tuple of int
        Free places of moving bodies.
    size : float
        A power of two near the characteristic length.
    gap : float
        How far the relations contradict each other, in parts of the size: they hold to within that.
    ways : tuple of (int, vector, int, vector)
        The constant ways: from a vector of the second body to one of the first.
    """

    n_bodies: int
    images: list[Entries]
    free: tuple[int, ...]
    size: float
    gap: float
    ways: tuple[tuple[int, Homogeneous, int, Homogeneous], ...]

    def fixed(self, place: int) -> bool:
        """Return whether a vector never changes."""
        return place >= 4 * self.n_bodies

    def vector(self, body: int, rho: Homogeneous) -> Entries:
        """Return A ρ as a sum of free vectors."""
        total: Entries = {}
        for place, x in _placed(body, rho, self.size).items():
            for key, y in self.images[place].items():
                total[key] = total.get(key, arb(0)) + x * y
        return total

    def product(self, a: Entries, b: Entries) -> Entries:
        """Return the scalar product of two sums, without its constant part."""
        total: Entries = {}
        for i, x in a.items():
            for j, y in b.items():
                if self.fixed(i) and self.fixed(j):
                    continue
                key = (min(i, j), max(i, j))
                total[key] = total.get(key, arb(0)) + x * y
        return total


@exactly
def relations(
    geometry: Geometry, at_rest: Mapping[str, list[Row]], alike: Iterable[Alike] = ()
) -> Relations:
    """Return what the joints say, and what is known besides.

    Parameters
    ----------
    geometry : Geometry
    at_rest : mapping
        Body → rows (ρ, c): ρ of the body stays at c in the ground.
    alike : iterable of Alike
        Vectors of two bodies that move alike.
    """
    mechanism, balls = geometry.mechanism, geometry.balls
    numbers = {body.name: i for i, body in enumerate(mechanism.bodies)}
    n = numbers[GROUND] = len(numbers)
    scale = 2.0 ** round(math.log2(characteristic_size(mechanism)))
    found = Echelon(zero_of(geometry))

    def add(*sides: tuple[int, Homogeneous, int], between: int | None = None) -> None:
        row: Entries = {} if between is None else {between: arb(-1)}
        for body, rho, sign in sides:
            for place, x in _placed(
                body, [t if isinstance(t, arb) else balls(t) for t in rho], scale
            ).items():
                row[place] = row.get(place, arb(0)) + sign * x
        # Vectors of bodies are expressed by others, then constant ways; those of the ground never.
        found.add(row, (lambda k: k < 4 * n, lambda k: k >= 4 * n + 4))

    for joint in mechanism.joints:
        a, b = numbers[joint.body_a], numbers[joint.body_b]
        for shared in shared_vectors(joint, geometry):
            add((a, shared.on_a, 1), (b, shared.on_b, -1))
    for name, rows in at_rest.items():
        if name in numbers and name != GROUND:
            for row in rows:
                add((numbers[name], row[:4], 1), (n, row[4:], -1))
    ways: list[tuple[int, Homogeneous, int, Homogeneous]] = []
    for pair in alike:
        i, j = (numbers[name] for name in pair.bodies)
        for (on_i, on_j), apart in zip(pair.pairs, pair.apart, strict=True):
            add((i, on_i, 1), (j, on_j, -1), between=4 * n + 4 + len(ways) if apart else None)
            if apart:
                ways.append((i, on_i, j, on_j))
    images = _images(found, 4 * n + 4 + len(ways), 4 * n + 3)
    pivots = {place for place, _ in found.rows}
    free = tuple(k for k in range(4 * n) if k not in pivots)
    return Relations(n, images, free, scale, found.gap, tuple(ways))


def _placed(body: int, rho: Homogeneous, scale: float) -> Entries:
    """Return a vector of a body by places."""
    parts = {4 * body + k: arb(rho[k]) / scale for k in range(3)}
    parts[4 * body + 3] = arb(rho[3])
    return {place: x for place, x in parts.items() if x != 0}


def _images(found: Echelon, width: int, origin: int) -> list[Entries]:
    """Return every place as a sum of free ones: from the last row to the first."""
    images: list[Entries] = [{k: arb(1)} if k != origin else {} for k in range(width)]
    for place, row in reversed(found.rows):
        total: Entries = {}
        for key, x in row.items():
            if key != place:
                for k, y in images[key].items():
                    total[k] = total.get(k, arb(0)) - x * y
        images[place] = {k: x for k, x in total.items() if size(x) > found.zero}
    return images
