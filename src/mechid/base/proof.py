"""Proof, by counting, that the loops constrain the bodies as closed poses suggest.

Take the 12 numbers [R | p] of every body as unknowns, and add the conjectured constraint (A ρ = c,
A_i ρ_i - A_j ρ_j = const) to the equations of the joints. Given the constraint, most equations
become linear, and many follow from others, which linear algebra tells. If e equations
remain, the poses that satisfy all of them form a set of dimension at least 12 n_b - e through each
of its points. The mechanism's own poses form a smooth set of dimension n_i there. If
12 n_b - e = n_i, the two are the same: the constraint holds on the whole branch.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mechid.base.loop_constraints import homogeneous
from mechid.base.loop_transfers import LoopConstraints
from mechid.base.spaces import Row
from mechid.exact.geometry import Geometry
from mechid.kinematics.motion import Motion
from mechid.kinematics.passive import passive_parts
from mechid.kinematics.reference_point.constraints import Product, body_numbers, constraint_rows
from mechid.kinematics.reference_point.constraints import Row as JointRow
from mechid.kinematics.reference_point.couplings import coupling_rows
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Coupling, Frame, Joint, Mechanism, Point, Vec3
from mechid.mechanism.size import characteristic_size

_ZERO = 1e-9


@dataclass(frozen=True)
class Count:
    """Unknowns and equations of the constrained mechanism.

    Attributes
    ----------
    unknowns, linear, quadratic : int
        12 n_b; independent linear equations; the others (unit axes, products of directions).
    freedom : int
        Degrees of freedom of the mechanism.
    regular : bool
        Whether the equations that remain are independent at the pose, so that a pose that
        satisfies them exactly lies there.
    """

    unknowns: int
    linear: int
    quadratic: int
    freedom: int
    regular: bool

    @property
    def proves(self) -> bool:
        """Whether the count proves the constraint."""
        return self.regular and self.unknowns - self.linear - self.quadratic == self.freedom

    @property
    def words(self) -> str:
        """The count as text."""
        return (
            f"{self.unknowns} unknowns - {self.linear} linear - {self.quadratic} quadratic "
            f"equations = {self.unknowns - self.linear - self.quadratic}, for {self.freedom} "
            "degrees of freedom"
        )


@dataclass
class _Equations:
    """Collects equations over the 12 n_b numbers; lengths in units of L."""

    n: int
    size: float
    A: Floats
    turning: list[int]
    linear: list[Floats] = field(default_factory=list)
    quadratic: list[Floats] = field(default_factory=list)
    products: list[tuple[int, int, Floats]] = field(default_factory=list)
    span: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def close_span(self) -> None:
        """Keep an orthonormal basis of the linear equations so far."""
        rows = np.array(self.linear).reshape(len(self.linear), 12 * self.n)
        _, s, Vt = np.linalg.svd(rows, full_matrices=False)
        self.span = Vt[s > _ZERO * s[0]] if len(s) else Vt

    def follows(self, row: Floats) -> bool:
        """Return whether a linear form is constant by the equations of the span."""
        left = row - self.span.T @ (self.span @ row)
        return bool(np.linalg.norm(left) <= _ZERO * max(1.0, float(np.linalg.norm(row))))

    def column(self, body: int, rho: Floats, weight: Floats) -> Floats:
        """Return the row of weight · A_body ρ."""
        row = np.zeros((self.n, 4, 3))
        if body < self.n:
            scaled = rho / np.array([1, 1, 1, self.size])
            row[body] = np.outer(scaled, weight)
        return row.ravel()


def count(geometry: Geometry, motion: Motion, found: LoopConstraints, freedom: int) -> Count:
    """Count the equations of the constrained mechanism at the first state of a motion."""
    mechanism = _float_mechanism(geometry)
    names = [body.name for body in mechanism.bodies]
    size = characteristic_size(geometry.mechanism)
    poses = homogeneous(geometry, motion)
    A = np.concatenate([poses[0], np.eye(3, 4)[None]])
    turning = _classes(names, found)
    eq = _Equations(len(names), size, A, turning)
    rest = {i: _floats(found.rest[name].at_rest) for i, name in enumerate(names)}
    _constrained(eq, names, rest, found)
    _orthonormal(eq, rest)
    eq.close_span()
    _joints(eq, geometry, mechanism, rest)
    linear = np.array(eq.linear).reshape(len(eq.linear), 12 * eq.n)
    rank = _rank(linear)
    others = np.array(eq.quadratic).reshape(len(eq.quadratic), 12 * eq.n)
    together = _rank(np.vstack([linear, others]))
    return Count(12 * eq.n, rank, len(others), freedom, together == rank + len(others))


def _float_mechanism(geometry: Geometry) -> Mechanism:
    """Return the mechanism in the frames of the geometry, in floats."""

    def frame(joint: Joint, side: int) -> Frame:
        found = geometry.frames[joint.name, side]
        columns = [_vec(geometry, axis) for axis in found.axes]
        a, b, c = ((columns[0][i], columns[1][i], columns[2][i]) for i in range(3))
        return Frame(_vec(geometry, found.origin), (a, b, c))

    joints = tuple(
        replace(j, frame_a=frame(j, 0), frame_b=frame(j, 1)) for j in geometry.mechanism.joints
    )

    def point(p: Point) -> Point:
        return replace(p, local=_vec(geometry, geometry.point(p.body, p.local, p.expr)))

    constraints = tuple(
        replace(c, constant=0.0)  # gradients do not depend on it
        if isinstance(c, Coupling)
        else replace(c, point_a=point(c.point_a), point_b=point(c.point_b))
        for c in geometry.mechanism.constraints
    )
    return replace(geometry.mechanism, joints=joints, constraints=constraints)


def _vec(geometry: Geometry, v: tuple[object, ...]) -> Vec3:
    x, y, z = (float(geometry.balls(t).mid()) for t in v)
    return (x, y, z)


def _floats(rows: list[Row]) -> Floats:
    return np.array([[float(x.mid()) for x in row] for row in rows]).reshape(-1, 8)


def _classes(names: list[str], found: LoopConstraints) -> list[int]:
    """Number bodies that turn together by the first of them."""
    first = list(range(len(names)))
    place = {name: i for i, name in enumerate(names)}
    for pair in found.alike:
        directions = [a for a, _ in pair.pairs if a[3] == 0 and any(x != 0 for x in a[:3])]
        moved = [b for _, b in pair.pairs if b[3] == 0 and any(x != 0 for x in b[:3])]
        if len(directions) >= 3 and len(moved) >= 3:
            i, j = (place[name] for name in pair.bodies)
            low, high = sorted((first[i], first[j]))
            first = [low if x == high else x for x in first]
    return first


def _constrained(
    eq: _Equations, names: list[str], rest: dict[int, Floats], found: LoopConstraints
) -> None:
    axes = np.eye(3)
    for i, rows in rest.items():
        for row in rows:
            eq.linear += [eq.column(i, row[:4], axes[k]) for k in range(3)]
    place = {name: i for i, name in enumerate(names)}
    for pair in found.alike:
        i, j = (place[name] for name in pair.bodies)
        for a, b in pair.pairs:
            rho, sigma = (np.array([float(x) for x in v]) for v in (a, b))
            eq.linear += [
                eq.column(i, rho, axes[k]) - eq.column(j, sigma, axes[k]) for k in range(3)
            ]


def _still(rows: Floats) -> Floats:
    """Return the directions at rest among (ρ, c): (u, image) as rows of 6, orthonormal in u."""
    if not len(rows):
        return np.zeros((0, 6))
    points = np.abs(rows[:, 3]) > _ZERO
    base = rows[~points]
    if points.sum() > 1:
        first, *more = rows[points]
        extra = [r - r[3] / first[3] * first for r in more]
        base = np.vstack([base, extra])
    if not len(base):
        return np.zeros((0, 6))
    q, r = np.linalg.qr(base[:, :3].T)
    return np.hstack([q.T, np.linalg.solve(r.T, base[:, 4:7])])


def _orthonormal(eq: _Equations, rest: dict[int, Floats]) -> None:
    """Add that axes are orthonormal: linear where one is at rest, quadratic elsewhere."""
    for i in range(eq.n):
        still = _still(rest[i])
        if len(still) >= 2:
            continue
        R = eq.A[i][:, :3]
        basis = np.eye(3)
        if len(still) == 1:
            u, c = still[0, :3], still[0, 3:]
            basis = np.linalg.svd(u[None])[2][1:]
            eq.linear += [eq.column(i, np.append(v, 0.0), c) for v in basis]
        if eq.turning[i] != i:
            continue  # its axes are those of another body
        for a in range(len(basis)):
            for b in range(a, len(basis)):
                va, vb = np.append(basis[a], 0.0), np.append(basis[b], 0.0)
                row = eq.column(i, va, R @ basis[b]) + eq.column(i, vb, R @ basis[a])
                eq.quadratic.append(row)


def _joints(
    eq: _Equations, geometry: Geometry, mechanism: Mechanism, rest: dict[int, Floats]
) -> None:
    numbers = body_numbers(mechanism)
    still = {i: _still(rows) for i, rows in rest.items()}
    for row in constraint_rows(mechanism):
        if row.kind == "screw":
            eq.quadratic.append(_screw(eq, row))
        elif row.kind == "plane" and _axis_at_rest(eq, mechanism.joint(row.joint), numbers, still):
            # Two such rows say that the way between the bodies lies along the axis; as the axis is
            # at rest, so may be the two directions across it.
            t = row.products[0]
            u = eq.A[t.of] @ np.append(np.array(t.direction, dtype=float), 0.0)
            eq.linear.append(_separation(eq, t, u))
        else:
            _product(eq, row.products[0], still)
    for row in coupling_rows(mechanism):
        eq.quadratic.append(_distance(eq, row) if row.kind == "distance" else _coupling(eq, row))
    for part in passive_parts(geometry.mechanism):
        a, b = numbers[part.outside], numbers[part.inside]
        outer = _vec(geometry, geometry.direction(part.outside, part.direction_outside))
        inner = _vec(geometry, geometry.direction(part.inside, part.direction_inside))
        _product(eq, Product(a, outer, a, (0.0, 0.0, 0.0), b, inner, False), still)


def _axis_at_rest(
    eq: _Equations, joint: Joint, numbers: dict[str, int], still: dict[int, Floats]
) -> bool:
    axis = np.array(joint.frame_a.rotation)[:, 2]
    return _image(numbers[joint.body_a], axis, still, eq.n) is not None


def _separation(eq: _Equations, t: Product, weight: Floats) -> Floats:
    """Return the row of weight · w, with w the second factor of a product."""
    row = eq.column(t.b, np.append(np.array(t.local_b, dtype=float), float(t.points)), weight)
    if t.points:
        row = row - eq.column(t.a, np.append(np.array(t.local_a, dtype=float), 1.0), weight)
    return row


def _factors(eq: _Equations, t: Product) -> tuple[Floats, Floats]:
    """Return u and w of a product at the pose."""
    u = eq.A[t.of] @ np.append(np.array(t.direction, dtype=float), 0.0)
    w = eq.A[t.b] @ np.append(np.array(t.local_b, dtype=float), float(t.points))
    if t.points:
        w = w - eq.A[t.a] @ np.append(np.array(t.local_a, dtype=float), 1.0)
    return u, w


def _gradient(eq: _Equations, t: Product) -> Floats:
    """Return the gradient of u · w over the 12 n_b numbers."""
    u, w = _factors(eq, t)
    own = eq.column(t.of, np.append(np.array(t.direction, dtype=float), 0.0), w)
    return own + _separation(eq, t, u)


def _screw(eq: _Equations, row: JointRow) -> Floats:
    """Return the gradient of displacement - lead × angle, the angle from its sine and cosine."""
    slide, sine, cosine = row.products
    return np.asarray(_gradient(eq, slide) - row.coefficient * _turn(eq, sine, cosine))


def _turn(eq: _Equations, sine: Product, cosine: Product) -> Floats:
    """Return the gradient of an angle."""
    s, c = (float(np.dot(*_factors(eq, t))) for t in (sine, cosine))
    return np.asarray((c * _gradient(eq, sine) - s * _gradient(eq, cosine)) / (s * s + c * c))


def _coupling(eq: _Equations, row: JointRow) -> Floats:
    """Return the gradient of a sum of joint coordinates."""
    total = np.zeros(12 * eq.n)
    for term, factor in row.terms:
        angle = term.form == "angle"
        total += factor * (_turn(eq, *term.products) if angle else _gradient(eq, term.products[0]))
    return total


def _distance(eq: _Equations, row: JointRow) -> Floats:
    """Return the gradient of the distance of two points, in units of L."""
    w = np.array([float(np.dot(*_factors(eq, t))) for t in row.products])
    return np.asarray(_separation(eq, row.products[0], w / np.linalg.norm(w)) / eq.size)


def _product(eq: _Equations, t: Product, still: dict[int, Floats]) -> None:
    """Add u · w = 0: linear if one factor is at rest, quadratic otherwise."""
    n = eq.n
    u = np.append(np.array(t.direction, dtype=float), 0.0)
    fixed = _image(t.of, u[:3], still, n)
    ug, w = _factors(eq, t)
    if fixed is not None:
        eq.linear.append(_separation(eq, t, fixed))
        return
    if t.points and all(eq.follows(_separation(eq, t, e)) for e in np.eye(3)):
        eq.linear.append(eq.column(t.of, u, w))  # the distance is constant, mostly zero
        return
    if not t.points:
        other = _image(t.b, np.array(t.local_b, dtype=float), still, n)
        if other is not None:
            eq.linear.append(eq.column(t.of, u, other))
            return
        if eq.turning[t.of] == eq.turning[t.b] if max(t.of, t.b) < n else False:
            return  # two directions of bodies that turn together
        if _repeated(eq, t, ug, w):
            return
    eq.quadratic.append(_gradient(eq, t))


def _image(body: int, u: Floats, still: dict[int, Floats], n: int) -> Floats | None:
    """Return where a direction of a body points, if that is constant."""
    if body >= n:
        return u
    basis = still[body]
    if not len(basis):
        return None
    weights = basis[:, :3] @ u
    if np.linalg.norm(u - weights @ basis[:, :3]) > _ZERO:
        return None
    return np.asarray(weights @ basis[:, 3:])


def _repeated(eq: _Equations, t: Product, u: Floats, w: Floats) -> bool:
    """Return whether the same two directions, of the same two turning parts, were met before."""
    n = eq.n
    pair = tuple(eq.turning[k] if k < n else k for k in (t.of, t.b))
    key = np.concatenate([u, w])
    for a, b, other in eq.products:
        if (a, b) == pair and np.max(np.abs(other - key)) < _ZERO:
            return True
    eq.products.append((pair[0], pair[1], key))
    return False


def _rank(rows: Floats) -> int:
    if not len(rows):
        return 0
    s = np.linalg.svd(rows, compute_uv=False)
    return int(np.sum(s > _ZERO * s[0]))
