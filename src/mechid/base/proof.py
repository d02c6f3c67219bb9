"""Proof, by counting, that loops constrain the bodies as closed poses suggest.

Take the relations between vectors of the bodies for granted: those by the joints, and those that
closed poses suggest (`relations.py`). The f free vectors that they leave are 3 f unknowns. All that
joints demand besides, and that axes are orthonormal, are equations between scalar products of free
vectors: linear algebra over the products tells how many of them, e, follow from no others. Where
these are independent at a pose, the poses that satisfy all of them and the relations form a set of
dimension 3 f - e around it. The mechanism's own poses form a smooth set of dimension n_i there. If
3 f - e = n_i, the two are the same: the relations hold on the whole branch, and so do constraints
that are redundant.

Nothing depends on which body is the ground: a loop may be carried by a body that moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb

from mechid.base.constant import cross, zero_of
from mechid.base.loop_constraints import homogeneous
from mechid.base.relations import NEAR, Echelon, Entries, Relations
from mechid.base.spaces import left_null, size
from mechid.exact.geometry import Geometry
from mechid.exact.numbers import exactly
from mechid.exact.rows import closure_rows, exact_mechanism
from mechid.kinematics.motion import Motion
from mechid.kinematics.reference_point.constraints import Product, Row
from mechid.kinematics.tables import Floats

_UNITS = [[arb(int(i == k)) for i in range(3)] for k in range(3)]
_ZERO = 1e-9  # of singular values: a pose in general has them far above


@dataclass(frozen=True)
class Count:
    """Unknowns and equations of the constrained mechanism.

    Attributes
    ----------
    unknowns, equations : int
        Components of free vectors; equations between them that do not follow from others.
    freedom : int
        Degrees of freedom of the mechanism.
    regular : bool
        Whether the equations are independent at the pose, so that poses that satisfy them
        exactly lie there.
    gap : float
        How far relations or equations contradict each other, in parts of the mechanism's size; zero
        where all that was taken for zero is.
    """

    unknowns: int
    equations: int
    freedom: int
    regular: bool
    gap: float = 0.0

    @property
    def proves(self) -> bool:
        """Whether the count proves the relations."""
        fits = self.unknowns - self.equations == self.freedom
        return self.regular and fits and self.gap == 0.0

    @property
    def words(self) -> str:
        """The count as text."""
        if self.gap:
            return f"the geometry has them to within {self.gap:.0e} of its size only"
        count = (
            f"{self.unknowns} unknowns - {self.equations} equations = "
            f"{self.unknowns - self.equations}, for {self.freedom} degrees of freedom"
        )
        return count if self.regular else f"{count}, dependent in this pose"


@exactly
def count(geometry: Geometry, motion: Motion, found: Relations) -> Count:
    """Count unknowns and equations; the first state of a motion tells whether they are regular."""
    products, others = equations(geometry, found)
    gradient = _Gradient(found, homogeneous(geometry, motion)[0])
    rows = [gradient.of(row) for _, row in products.rows]
    rows += [gradient.outer(row) for row in others]
    unknowns = 3 * len(found.free)
    J = np.array(rows).reshape(len(rows), unknowns)
    return Count(
        unknowns,
        len(rows),
        len(geometry.mechanism.coordinates),
        _rank(J) == len(rows),
        max(found.gap, products.gap),
    )


@exactly
def equations(geometry: Geometry, found: Relations) -> tuple[Echelon, list[Row]]:
    """Return products of free vectors that are constant, and the rows that are no products."""
    constant = Echelon(zero_of(geometry))
    for i in range(found.n_bodies):
        for a in range(3):
            for b in range(a + 1):
                constant.add(found.product(found.images[4 * i + a], found.images[4 * i + b]))
    others: list[Row] = []
    lines: dict[str, list[Product]] = {}
    for row in closure_rows(geometry, exact_mechanism(geometry)):
        if row.kind in ("screw", "coupling"):
            others.append(row)
        elif row.kind == "distance":
            _, way = factors(found, row.products[0])
            constant.add(found.product(way, way))
        elif row.kind == "plane":
            lines.setdefault(row.joint, []).append(row.products[0])
        elif row.kind != "norm":
            constant.add(found.product(*factors(found, row.products[0])))
    for pair in lines.values():
        constant = min(
            (_with(constant, found, same) for same in (pair, *_elsewhere(found, pair))),
            key=lambda trial: (trial.gap, len(trial.rows)),
        )
    return constant, others


def _with(constant: Echelon, found: Relations, products: list[Product]) -> Echelon:
    trial = replace(constant, rows=list(constant.rows))
    for product in products:
        trial.add(found.product(*factors(found, product)))
    return trial


def _elsewhere(found: Relations, pair: list[Product]) -> Iterator[list[Product]]:
    """Yield what says the same of a point on a line, across the line in other bodies that share it.

    Where the line rests in the ground, the ground's directions may say what others say already,
    and those of a body that turns about it do not.
    """
    if len(pair) == 1:
        return
    line = cross(*([arb(x) for x in product.direction] for product in pair))
    wanted = found.vector(pair[0].of, (*line, arb(0)))
    for body in range(found.n_bodies, -1, -1):
        axes = [found.vector(body, (*unit, arb(0))) for unit in _UNITS]
        places = sorted({place for v in (wanted, *axes) for place in v})
        rows = [[v.get(place, arb(0)) for place in places] for v in (*axes, wanted)]
        for *rho, whole in left_null(rows, NEAR):
            if body != pair[0].of and size(whole) > NEAR:
                first = cross(rho, _UNITS[int(np.argmin([size(x) for x in rho]))])
                for_any: list[Any] = [tuple(first), tuple(cross(rho, first))]
                yield [replace(pair[0], of=body, direction=u) for u in for_any]


def factors(found: Relations, t: Product) -> tuple[Entries, Entries]:
    """Return u and w of a product as sums of free vectors."""
    u = found.vector(t.of, (*t.direction, 0))
    w = found.vector(t.b, (*t.local_b, int(t.points)))
    if t.points:
        for place, x in found.vector(t.a, (*t.local_a, 1)).items():
            w[place] = w.get(place, arb(0)) - x
    return u, w


@dataclass(frozen=True, eq=False)
class _Gradient:
    """Gradients over the components of the free vectors, at a pose [R | p] of all bodies."""

    found: Relations
    pose: Floats

    def at(self, place: int) -> Floats:
        """Return a vector at the pose."""
        body, k = divmod(place, 4)
        n = self.found.n_bodies
        if body > n:
            i, on_i, j, on_j = self.found.ways[place - 4 * n - 4]
            a, b = (np.array([float(x) for x in v]) for v in (on_i, on_j))
            return np.asarray(self.pose[i] @ a - self.pose[j] @ b)
        axes = np.eye(3, 4) if body == n else self.pose[body]
        return np.asarray(axes[:, k] * (self.found.size if k < 3 else 1.0))

    def of(self, row: Entries) -> Floats:
        """Return the gradient of a sum of products."""
        number = {place: k for k, place in enumerate(self.found.free)}
        out = np.zeros((len(number), 3))
        for (a, b), x in row.items():
            for this, other in ((a, b), (b, a)):
                if this in number:
                    out[number[this]] += float(x.mid()) * self.at(other)
        return out.ravel()

    def outer(self, row: Row) -> Floats:
        """Return the gradient of a screw, or of a sum of joint coordinates."""
        if row.kind == "screw":
            slide, sine, cosine = row.products
            return self._product(slide) - _float(row.coefficient) * self._turn(sine, cosine)
        parts = [
            _float(factor)
            * (
                self._turn(*term.products)
                if term.form == "angle"
                else self._product(term.products[0])
            )
            for term, factor in row.terms
        ]
        return np.asarray(sum(parts))

    def _product(self, t: Product) -> Floats:
        return self.of(self.found.product(*factors(self.found, t)))

    def _turn(self, sine: Product, cosine: Product) -> Floats:
        """Return the gradient of an angle."""
        s, c = (self._value(t) for t in (sine, cosine))
        return (c * self._product(sine) - s * self._product(cosine)) / (s * s + c * c)

    def _value(self, t: Product) -> float:
        u, w = (
            sum((float(x.mid()) * self.at(k) for k, x in part.items()), np.zeros(3))
            for part in factors(self.found, t)
        )
        return float(u @ w)


def _float(x: object) -> float:
    return float(x.mid()) if isinstance(x, arb) else float(x)  # type: ignore[arg-type]


def _rank(rows: Floats) -> int:
    if not rows.size:
        return 0
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled = rows / np.where(norms > 0, norms, 1.0)
    s = np.linalg.svd(scaled, compute_uv=False)
    return int(np.sum(s > _ZERO * s[0]))
