"""A mechanism as linear and quadratic equations, with the numbers of a pose at hand.

Unknowns are the twelve numbers of each body, the shift of each sliding joint and the lengths of
springs. With rotation matrices most of what a joint demands is linear: points and axes coincide,
with their sense. Quadratic are the rotation matrices themselves, sliding and universal joints, and
lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, pairwise
from typing import TypeAlias

import sympy as sp
from flint import arb, ctx

from mechid.exact.constraint_numbers import exact_length
from mechid.exact.geometry import Geometry, Vector
from mechid.exact.jets import PER_BODY
from mechid.exact.numbers import recognise
from mechid.exact.program import Number, Recorder
from mechid.exact.rows import rotation
from mechid.kinematics.passive import passive_parts
from mechid.kinematics.reference_point.constraints import body_numbers
from mechid.mechanism.records import GROUND, Joint, Mechanism, Point

Poly: TypeAlias = dict[tuple[int, ...], Number]  # unknowns of a monomial, in order → coefficient
Polys: TypeAlias = list[Poly]

SpringEnds: TypeAlias = tuple[Point, Point]


def add(a: Poly, b: Poly, factor: Number | None = None) -> Poly:
    """Return a + b, or a + factor b."""
    out = dict(a)
    for key, c in b.items():
        term = c if factor is None else c * factor
        if key in out:
            term = out[key] + term
        if term.zero:
            out.pop(key, None)
        else:
            out[key] = term
    return out


def times(a: Poly, b: Poly) -> Poly:
    """Return a b."""
    out: Poly = {}
    for i, x in a.items():
        for j, y in b.items():
            key = tuple(sorted(i + j))
            term = x * y
            out[key] = out[key] + term if key in out else term
    return {key: c for key, c in out.items() if not c.zero}


def inner(a: Polys, b: Polys) -> Poly:
    """Return the product of two vectors."""
    total: Poly = {}
    for x, y in zip(a, b, strict=True):
        total = add(total, times(x, y))
    return total


class Writer:
    """Writes the equations of a mechanism."""

    def __init__(
        self, geometry: Geometry, recorder: Recorder, springs: Sequence[SpringEnds]
    ) -> None:
        self.geometry = geometry
        self.mechanism: Mechanism = geometry.mechanism
        self.numbers = body_numbers(self.mechanism)
        self.n = PER_BODY * len(self.mechanism.bodies)
        self.slides = [j for j in self.mechanism.joints if j.kind.line is not None]
        self.springs = tuple(springs)
        self.count = self.n + len(self.slides) + len(self.springs)
        self._recorder = recorder
        self.one = self.number(sp.Integer(1))
        self.minus = self.number(sp.Integer(-1))

    def number(self, expr: sp.Expr) -> Number:
        """Return an exact number."""
        return self._recorder.constant(expr, self.geometry.balls(expr))

    def unknowns(self) -> Polys:
        """Return each unknown as a polynomial."""
        return [{(i,): self.one} for i in range(self.count)]

    def direction(self, x: Polys, body: str, local: Vector) -> Polys:
        """Return a direction fixed in a body."""
        numbers = [self.number(t) for t in local]
        first = PER_BODY * self.numbers[body]
        if first == self.n:
            return [{} if t.zero else {(): t} for t in numbers]
        out: Polys = []
        for k in range(3):
            total: Poly = {}
            for c in range(3):
                if not numbers[c].zero:
                    total = add(total, x[first + 3 + 3 * k + c], numbers[c])
            out.append(total)
        return out

    def point(self, x: Polys, body: str, local: Vector) -> Polys:
        """Return a point fixed in a body."""
        turned = self.direction(x, body, local)
        first = PER_BODY * self.numbers[body]
        if first == self.n:
            return turned
        return [add(x[first + k], turned[k]) for k in range(3)]

    def less(self, a: Polys, b: Polys) -> Polys:
        """Return a - b."""
        return [add(u, w, self.minus) for u, w in zip(a, b, strict=True)]

    def apart(self, x: Polys, joint: Joint) -> Polys:
        """Return the vector from frame a of a joint to frame b."""
        a, b = (self.geometry.frames[joint.name, side].origin for side in (0, 1))
        return self.less(self.point(x, joint.body_b, b), self.point(x, joint.body_a, a))

    def axis(self, x: Polys, joint: Joint, side: int, k: int) -> Polys:
        """Return an axis of a joint frame."""
        body = (joint.body_a, joint.body_b)[side]
        return self.direction(x, body, self.geometry.frames[joint.name, side].axes[k])

    def stretch(self, x: Polys, spring: SpringEnds) -> Polys:
        """Return the vector between the ends of a spring."""
        a, b = (self.point(x, p.body, exact_point(self.geometry, p)) for p in spring)
        return self.less(b, a)

    def linear(self) -> Polys:
        """Return what joints demand of points and axes."""
        x = self.unknowns()
        out: Polys = []
        for joint in self.mechanism.joints:
            if joint.kind.holds_point:
                out += self.apart(x, joint)
            for k in joint.kind.aligned:
                out += self.less(self.axis(x, joint, 0, k), self.axis(x, joint, 1, k))
        return out

    def quadratic(self, x: Polys) -> Polys:
        """Return the other equations, for unknowns that are polynomials already."""
        out: Polys = []
        for i in range(len(self.mechanism.bodies)):
            out += self._rotation(x[PER_BODY * i + 3 : PER_BODY * i + 12])
        for joint in self.mechanism.joints:
            kind = joint.kind
            if kind.crossed is not None:
                i, j = kind.crossed
                out.append(inner(self.axis(x, joint, 0, i), self.axis(x, joint, 1, j)))
            if kind.normal is not None:
                out.append(inner(self.axis(x, joint, 0, kind.normal), self.apart(x, joint)))
        for i, joint in enumerate(self.slides):
            out += self._slide(x, joint, x[self.n + i])
        for part in passive_parts(self.mechanism):
            ends = (
                (part.outside, part.direction_outside),
                (part.inside, part.direction_inside),
            )
            u, w = (self.direction(x, body, self.geometry.direction(body, d)) for body, d in ends)
            out.append(inner(u, w))
        for rod in self.mechanism.distances:
            d = self.stretch(x, (rod.point_a, rod.point_b))
            out.append(add(inner(d, d), {(): self.number(exact_length(rod) ** 2)}, self.minus))
        for i, spring in enumerate(self.springs):
            d, length = self.stretch(x, spring), x[self.n + len(self.slides) + i]
            out.append(add(inner(d, d), times(length, length), self.minus))
        return out

    def _rotation(self, R: Polys) -> Polys:
        """Return all quadratic equations of a rotation matrix: RᵀR = R Rᵀ = 1, R = cof R."""
        rows = [R[0:3], R[3:6], R[6:9]]
        columns = [R[k::3] for k in range(3)]
        out: Polys = []
        for lines in (rows, columns):
            for i, j in combinations_with_replacement(range(3), 2):
                product = inner(lines[i], lines[j])
                out.append(add(product, {(): self.minus}) if i == j else product)
        for i in range(3):
            a, b, c = columns[i], columns[(i + 1) % 3], columns[(i + 2) % 3]
            for k in range(3):
                m, n = (k + 1) % 3, (k + 2) % 3
                cross = add(times(a[m], b[n]), times(a[n], b[m]), self.minus)
                out.append(add(cross, c[k], self.minus))
        return out

    def _slide(self, x: Polys, joint: Joint, shift: Poly) -> Polys:
        """Return d = s z, and what follows: z · d = s, d · d = s²."""
        d, z = self._line(x, joint)
        out = [add(d[k], times(z[k], shift), self.minus) for k in range(3)]
        out.append(add(inner(z, d), shift, self.minus))
        out.append(add(inner(d, d), times(shift, shift), self.minus))
        return out

    def _line(self, x: Polys, joint: Joint) -> tuple[Polys, Polys]:
        """Return the vector between the frames of a sliding joint, and the axis it slides along."""
        assert joint.kind.line is not None
        return self.apart(x, joint), self.axis(x, joint, 0, joint.kind.line)

    def values(self, pose: Sequence[arb]) -> list[arb]:
        """Return the unknowns in a pose, given as position and Euler parameters of each body."""
        out: list[arb] = []
        for i in range(len(self.mechanism.bodies)):
            out += pose[7 * i : 7 * i + 3]
            out += [t for row in rotation(list(pose[7 * i + 3 : 7 * i + 7])) for t in row]
        x = self.unknowns()
        for joint in self.slides:
            out_d, out_z = ([value(t, out) for t in v] for v in self._line(x, joint))
            out.append(sum((a * b for a, b in zip(out_z, out_d, strict=True)), arb(0)))
        for spring in self.springs:
            ends = [value(t, out) for t in self.stretch(x, spring)]
            out.append(sum((t * t for t in ends), arb(0)).sqrt())
        return out

    def owners(self) -> list[str]:
        """Return the body that each unknown belongs to; "" for shifts and lengths."""
        bodies = [body.name for body in self.mechanism.bodies for _ in range(PER_BODY)]
        return bodies + [""] * (self.count - self.n)

    def wanted(self) -> list[int]:
        """Return the unknowns that are asked for: all but shifts."""
        return [*range(self.n), *range(self.n + len(self.slides), self.count)]

    def facts(self, one: Sequence[arb], other: Sequence[arb]) -> Polys:
        """Return what two poses of the branch have in common: constants, and equal unknowns.

        Loops may hold a body further than its joints do. On the branch this is true; in other
        assemblies of the same bodies it need not be.
        """

        def same(a: arb, b: arb) -> bool:
            return bool(abs(a - b).upper() < arb(2) ** (-ctx.prec // 2))

        out: Polys = []
        moving = []
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            if not same(a, b):
                moving.append(i)
                continue
            exact, known = recognise(float(a), 1e-14)
            if known and same(self.geometry.balls(exact), a):
                constant = self.number(exact) * self.minus
                out.append(add({(i,): self.one}, {(): constant}))
        moving.sort(key=lambda i: abs(float(one[i])))
        for i, j in pairwise(moving):
            for sign in (self.minus, self.one):
                if same(one[i], -sign.value * one[j]) and same(other[i], -sign.value * other[j]):
                    out.append({(i,): self.one, (j,): sign})
        return out


def exact_point(geometry: Geometry, point: Point) -> Vector:
    """Return a point in exact numbers, in the frame that the geometry uses for its body."""
    expr = None if point.body == GROUND else point.expr
    return geometry.point(point.body, point.local, expr)


def value(poly: Poly, x: Sequence[arb]) -> arb:
    """Return the value of a polynomial."""
    total = arb(0)
    for key, c in poly.items():
        term = c.value
        for i in key:
            term = term * x[i]
        total += term
    return total
