"""The equations of the reference-point formulation with balls for numbers.

The rows are those of `kinematics.reference_point` (all but screws and angles are polynomials in
positions and Euler parameters); only their evaluation is written again, for `arb` instead of
arrays of floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from flint import arb, arb_mat

from mechid.errors import KinematicsError
from mechid.exact.constraint_numbers import exact_constant, exact_factors, exact_length
from mechid.exact.geometry import Geometry
from mechid.exact.numbers import recognise
from mechid.kinematics.passive import passive_parts
from mechid.kinematics.reference_point.constraints import (
    ORIGIN,
    Product,
    Row,
    axis,
    body_numbers,
    constraint_rows,
    norm_rows,
    separation,
)
from mechid.kinematics.reference_point.drivers import apart, joint_coordinate_row
from mechid.mechanism.element_laws import Measure
from mechid.mechanism.records import (
    Coupling,
    DistanceConstraint,
    DistanceCoordinate,
    ForceElement,
    Frame,
    Joint,
    Mechanism,
    Point,
    PointCoordinate,
)


def ball_rows(geometry: Geometry, exact: Mechanism, numbers: dict[str, int]) -> tuple[Row, ...]:
    """Return the rows of the constraints of a mechanism with balls, not scaled."""
    rows = []
    for c in exact.constraints:
        if isinstance(c, Coupling):
            rows.append(_coupling_row(geometry, exact, c, numbers))
            continue
        length: Any = geometry.balls(exact_length(c))
        name = f"distance {c.name}"
        products = apart(c, numbers)
        rows.append(Row(name, "", "distance", "distance", "m", products, coefficient=length))
    return tuple(rows)


def _coupling_row(
    geometry: Geometry, exact: Mechanism, coupling: Coupling, numbers: dict[str, int]
) -> Row:
    terms: list[tuple[Row, Any]] = []
    for (name, index, _), factor in zip(coupling.terms, exact_factors(coupling), strict=True):
        joint = exact.joint(name)
        row = joint_coordinate_row(name, joint, index, numbers)
        ball = geometry.balls(factor)
        if joint.kind.thread:  # its displacement counts the turns
            slide = separation(joint, numbers, axis(joint.frame_a, 2), numbers[joint.body_a])
            row = Row(name, name, "driver", "value", "m", (slide,), index=index)
            ball = ball * 2 * arb.pi() / geometry.balls(recognise(joint.pitch)[0])
        terms.append((row, ball))
    constant: Any = geometry.balls(exact_constant(geometry.mechanism, coupling)[0])
    return Row(
        f"coupling {coupling.name}",
        "",
        "coupling",
        "coupling",
        "-",
        tuple(p for row, _ in terms for p in row.products),
        coefficient=constant,
        terms=tuple(terms),
    )


Balls3: TypeAlias = list[arb]
Near: TypeAlias = float | Sequence[float]  # of an angle, or of all angles of a coupling
ZERO, ONE = arb(0), arb(1)


def exact_mechanism(geometry: Geometry) -> Mechanism:
    """Return the mechanism with balls in the place of its floats, at the current precision.

    Rows are built from the numbers of the records without computing on them, so that records with
    balls give rows with balls.
    """
    m = geometry.mechanism
    joints = tuple(
        replace(
            joint,
            frame_a=_frame(geometry, joint, 0),
            frame_b=_frame(geometry, joint, 1),
        )
        for joint in m.joints
    )
    coordinates = tuple(_coordinate(geometry, c) for c in m.coordinates)
    elements = tuple(_element(geometry, e) for e in m.elements)
    constraints = tuple(
        replace(c, point_a=_point(geometry, c.point_a), point_b=_point(geometry, c.point_b))
        if isinstance(c, DistanceConstraint)
        else c
        for c in m.constraints
    )
    return replace(
        m, joints=joints, coordinates=coordinates, elements=elements, constraints=constraints
    )


def closure_rows(geometry: Geometry, exact: Mechanism) -> tuple[Row, ...]:
    """Return the rows of all joints, of other constraints, held spins and unit quaternions."""
    numbers = body_numbers(exact)
    gauges = []
    for part in passive_parts(geometry.mechanism):
        a, b = numbers[part.outside], numbers[part.inside]
        outer = _vector(geometry, geometry.direction(part.outside, part.direction_outside))
        inner = _vector(geometry, geometry.direction(part.inside, part.direction_inside))
        held = Product(a, outer, a, ORIGIN, b, inner, False)
        gauges.append(Row(f"spin of {part.bodies}", "", "dot", "value", "-", (held,)))
    joints = tuple(_with_lead(geometry, row) for row in constraint_rows(exact))
    return (*joints, *ball_rows(geometry, exact, numbers), *gauges, *norm_rows(exact))


def _with_lead(geometry: Geometry, row: Row) -> Row:
    """Return a screw with its lead as a ball: the rows only know π to double precision."""
    if row.kind != "screw":
        return row
    pitch = geometry.balls(recognise(geometry.mechanism.joint(row.joint).pitch)[0])
    lead: Any = pitch / (2 * arb.pi())
    return replace(row, coefficient=lead)


def _frame(geometry: Geometry, joint: Joint, side: int) -> Frame:
    frame = geometry.frames[joint.name, side]
    columns = [_vector(geometry, axis) for axis in frame.axes]
    rows: Any = tuple(tuple(columns[k][i] for k in range(3)) for i in range(3))
    return Frame(_vector(geometry, frame.origin), rows)


def _vector(geometry: Geometry, v: Sequence[Any]) -> Any:
    return tuple(geometry.balls(x) for x in v)


def _point(geometry: Geometry, p: Point) -> Point:
    return replace(p, local=_vector(geometry, geometry.point(p.body, p.local, p.expr)))


def _element(geometry: Geometry, e: ForceElement) -> ForceElement:
    points = tuple(_point(geometry, p) for p in e.points)
    if e.direction is None:
        return replace(e, points=points)
    along = _vector(geometry, geometry.vector(e.axes_of, e.direction))
    return replace(e, points=points, direction=along)


def _coordinate(geometry: Geometry, c: Any) -> Any:
    if isinstance(c, PointCoordinate):
        ground = geometry.direction("ground", c.direction)
        return replace(c, point=_point(geometry, c.point), direction=_vector(geometry, ground))
    if isinstance(c, DistanceCoordinate):
        return replace(c, point_a=_point(geometry, c.point_a), point_b=_point(geometry, c.point_b))
    return c


@dataclass(frozen=True, eq=False)
class Turn:
    """Rotation of a body: R(e), quadratic in e, and its derivatives by the four parameters."""

    R: list[Balls3]
    by: list[list[Balls3]]


def turn(e: Sequence[arb]) -> Turn:
    """Return R(e) s = (e0² - u·u) s + 2 u (u·s) + 2 e0 u × s and ∂R/∂e."""
    return Turn(rotation(e), [_polar(e, k) for k in range(4)])


def rotation(e: Sequence[arb]) -> list[Balls3]:
    """Return the homogeneous quadratic form of the rotation matrix."""
    w, x, y, z = e
    ww, xx, yy, zz = w * w, x * x, y * y, z * z
    xy, xz, yz, wx, wy, wz = x * y, x * z, y * z, w * x, w * y, w * z
    return [
        [ww + xx - yy - zz, 2 * (xy - wz), 2 * (xz + wy)],
        [2 * (xy + wz), ww - xx + yy - zz, 2 * (yz - wx)],
        [2 * (xz - wy), 2 * (yz + wx), ww - xx - yy + zz],
    ]


def _polar(e: Sequence[arb], k: int) -> list[Balls3]:
    """Return ∂R/∂e_k, linear in e."""
    w, x, y, z = (2 * t for t in e)
    return [
        [[w, -z, y], [z, w, -x], [-y, x, w]],
        [[x, y, z], [y, -x, -w], [z, w, -x]],
        [[-y, x, w], [x, y, z], [-w, z, -y]],
        [[-z, -w, x], [w, -z, y], [x, y, z]],
    ][k]


def apply(R: list[Balls3], s: Sequence[Any]) -> Balls3:
    """Return R s."""
    out = []
    for row in R:
        total = ZERO
        for a, b in zip(row, s, strict=True):
            if not _is_zero(b):
                total = total + a * b
        out.append(total)
    return out


def _is_zero(x: Any) -> bool:
    """Return whether a number is zero; a ball that only holds zero is not (nor is it `!= 0`)."""
    return bool(x == 0)


def dot(a: Sequence[arb], b: Sequence[arb]) -> arb:
    """Return a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@dataclass(frozen=True, eq=False)
class Configuration:
    """Positions and rotations of all bodies, the ground last."""

    p: list[Balls3]
    e: list[Balls3]
    turns: list[Turn]

    @classmethod
    def of(cls, x: Sequence[arb]) -> Configuration:
        """Split the 7 n_b numbers."""
        n = len(x) // 7
        p = [list(x[7 * i : 7 * i + 3]) for i in range(n)] + [[ZERO] * 3]
        e = [list(x[7 * i + 3 : 7 * i + 7]) for i in range(n)] + [[ONE, ZERO, ZERO, ZERO]]
        return cls(p, e, [turn(q) for q in e])


def _factors(c: Configuration, t: Product) -> tuple[Balls3, Balls3]:
    u = apply(c.turns[t.of].R, t.direction)
    w = apply(c.turns[t.b].R, t.local_b)
    if t.points:
        far = apply(c.turns[t.a].R, t.local_a)
        w = [w[k] - far[k] + c.p[t.b][k] - c.p[t.a][k] for k in range(3)]
    return u, w


def _product_gradient(c: Configuration, t: Product, out: dict[int, arb]) -> None:
    """Add the gradient of one product to a sparse row."""
    n = len(c.p) - 1
    u, w = _factors(c, t)

    def add(column: int, value: arb) -> None:
        out[column] = out[column] + value if column in out else value

    if t.points:
        for k in range(3):
            if t.b < n:
                add(7 * t.b + k, u[k])
            if t.a < n:
                add(7 * t.a + k, -u[k])
    for k in range(4):
        if t.b < n:
            add(7 * t.b + 3 + k, dot(u, apply(c.turns[t.b].by[k], t.local_b)))
        if t.points and t.a < n:
            add(7 * t.a + 3 + k, -dot(u, apply(c.turns[t.a].by[k], t.local_a)))
        if t.of < n:
            add(7 * t.of + 3 + k, dot(w, apply(c.turns[t.of].by[k], t.direction)))


def _products(c: Configuration, row: Row) -> list[arb]:
    return [dot(*_factors(c, t)) for t in row.products]


def products_of(c: Configuration, row: Row) -> list[list[arb]]:
    """Return the products of each term of a coupling."""
    return _parts(row, _products(c, row))


def _parts(row: Row, values: list[arb]) -> list[list[arb]]:
    out, first = [], 0
    for term, _ in row.terms:
        out.append(values[first : first + len(term.products)])
        first += len(term.products)
    return out


def value(c: Configuration, row: Row, near: Near = 0.0) -> arb:
    """Return the value of a row; an angle lies within π of `near`."""
    if row.form == "norm":
        e = c.e[row.body]
        return e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3] - 1
    return _outer(row, _products(c, row), near)[0]


def screw_turn(c: Configuration, row: Row) -> float:
    """Return the angle that the displacement on a thread stands for, to pick its turn."""
    slide = dot(*_factors(c, row.products[0]))
    lead = float(arb(row.coefficient).mid())
    return float(slide.mid()) / lead if lead else 0.0


def gradient(c: Configuration, row: Row) -> dict[int, arb]:
    """Return the gradient of a row by the 7 n_b numbers, sparse."""
    if row.form == "norm":
        return {7 * row.body + 3 + k: 2 * c.e[row.body][k] for k in range(4)}
    parts: list[dict[int, arb]] = []
    for t in row.products:
        parts.append({})
        _product_gradient(c, t, parts[-1])
    if row.form == "value":
        return parts[0]
    slope = _outer(row, _products(c, row), 0.0)[1]
    out: dict[int, arb] = {}
    for s, part in zip(slope, parts, strict=True):
        for column, x in part.items():
            out[column] = out.get(column, ZERO) + s * x
    return out


def load_gradient(c: Configuration, load: Measure, numbers: Mapping[str, int]) -> dict[int, arb]:
    """Return the power of a force or moment per unit of the rates of the 7 n_b numbers, sparse."""
    kind, at, vector, axes_of = load
    k = numbers[at.body if kind == "force" else at]
    if k == len(c.p) - 1:
        return {}
    f = apply(c.turns[numbers[axes_of]].R, vector)
    if kind == "force":
        arms = [dot(f, apply(c.turns[k].by[i], at.local)) for i in range(4)]
        return {7 * k + i: x for i, x in enumerate([*f, *arms])}
    w, x, y, z = c.e[k]  # ω = 2 E ė
    E = [[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]]
    return {7 * k + 3 + i: 2 * dot(f, E[i]) for i in range(4)}


def gamma(c: Configuration, d: Configuration, row: Row) -> arb:
    """Return γ = -(Φ_q q̇)_q q̇; `d` holds the rates in the places of positions and parameters."""
    if row.form == "norm":
        e = d.e[row.body]
        return -2 * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
    bent = [_convective(c, d, t) for t in row.products]
    if row.form == "value":
        return -bent[0]
    _, slope, curvature = _outer(row, _products(c, row), 0.0)
    speeds = [_speed(c, d, t) for t in row.products]
    total = ZERO
    for i, s in enumerate(slope):
        total = total + s * bent[i]
        for j in range(len(slope)):
            total = total + speeds[i] * curvature[i][j] * speeds[j]
    return -total


def _rate(c: Configuration, d: Configuration, body: int, s: Sequence[Any]) -> Balls3:
    """Return d/dt of R s."""
    out = [ZERO] * 3
    for k in range(4):
        moved = apply(c.turns[body].by[k], s)
        out = [out[i] + d.e[body][k] * moved[i] for i in range(3)]
    return out


def _rates(c: Configuration, d: Configuration, t: Product) -> tuple[Balls3, Balls3]:
    n = len(c.p) - 1
    ud = _rate(c, d, t.of, t.direction) if t.of < n else [ZERO] * 3
    wd = _rate(c, d, t.b, t.local_b) if t.b < n else [ZERO] * 3
    if t.points:
        far = _rate(c, d, t.a, t.local_a) if t.a < n else [ZERO] * 3
        pb = d.p[t.b] if t.b < n else [ZERO] * 3
        pa = d.p[t.a] if t.a < n else [ZERO] * 3
        wd = [wd[k] - far[k] + pb[k] - pa[k] for k in range(3)]
    return ud, wd


def _speed(c: Configuration, d: Configuration, t: Product) -> arb:
    u, w = _factors(c, t)
    ud, wd = _rates(c, d, t)
    return dot(ud, w) + dot(u, wd)


def _convective(c: Configuration, d: Configuration, t: Product) -> arb:
    """Return the second derivative of a product for q̈ = 0; that of R(e) s is 2 R(ė) s."""
    n = len(c.p) - 1
    u, w = _factors(c, t)
    ud, wd = _rates(c, d, t)

    def bent(body: int, s: Sequence[Any]) -> Balls3:
        return [2 * x for x in apply(d.turns[body].R, s)] if body < n else [ZERO] * 3

    udd, wdd = bent(t.of, t.direction), bent(t.b, t.local_b)
    if t.points:
        far = bent(t.a, t.local_a)
        wdd = [wdd[k] - far[k] for k in range(3)]
    return dot(udd, w) + 2 * dot(ud, wd) + dot(u, wdd)


def jacobian(c: Configuration, rows: Sequence[Row]) -> arb_mat:
    """Return the Jacobian of rows, (m, 7 n_b)."""
    width = 7 * (len(c.p) - 1)
    out = arb_mat(len(rows), width)
    for i, row in enumerate(rows):
        for j, x in gradient(c, row).items():
            out[i, j] = x
    return out


def _outer(row: Row, c: list[arb], near: Near) -> tuple[arb, list[arb], list[list[arb]]]:
    """Return value, gradient and Hessian of the function that makes a row of its products."""
    if row.form == "value":
        return c[0], [ONE], [[ZERO]]
    if row.form == "coupling":
        return _coupling(row, c, near)
    assert isinstance(near, float | int)
    if row.form == "angle":
        return _angle(c[0], c[1], near)
    if row.form == "pitch":
        return _pitch(c)
    if row.form == "distance":
        r = dot(c, c).sqrt()
        n = [x / r for x in c]
        bend = [[(ONE * int(i == j) - n[i] * n[j]) / r for j in range(3)] for i in range(3)]
        return r - row.coefficient, n, bend
    angle, slope, curvature = _angle(c[1], c[2], near)
    lead = arb(row.coefficient)
    hessian = [[ZERO] * 3 for _ in range(3)]
    for i in range(2):
        for j in range(2):
            hessian[i + 1][j + 1] = -lead * curvature[i][j]
    return c[0] - lead * angle, [ONE, -lead * slope[0], -lead * slope[1]], hessian


def _coupling(row: Row, c: list[arb], near: Near) -> tuple[arb, list[arb], list[list[arb]]]:
    turns = iter(() if isinstance(near, float | int) else near)
    total: arb = ZERO - row.coefficient
    slope: list[arb] = []
    hessian = [[ZERO] * len(c) for _ in c]
    for (term, factor), values in zip(row.terms, _parts(row, c), strict=True):
        first = len(slope)
        part, by, bend = _outer(term, values, next(turns, 0.0) if term.form == "angle" else 0.0)
        total = total + factor * part
        slope += [factor * x for x in by]
        for i in range(len(by)):
            for j in range(len(by)):
                hessian[first + i][first + j] = factor * bend[i][j]
    return total, slope, hessian


def _angle(s: arb, k: arb, near: float) -> tuple[arb, list[arb], list[list[arb]]]:
    r2 = s * s + k * k
    angle = arb.atan2(s, k)
    if not angle.is_finite():
        raise KinematicsError("a joint angle is not defined")
    turns = round((near - float(angle.mid())) / 6.283185307179586)
    if turns:
        angle = angle + 2 * turns * arb.pi()
    mixed, bend = (s * s - k * k) / (r2 * r2), 2 * s * k / (r2 * r2)
    return angle, [k / r2, -s / r2], [[-bend, mixed], [mixed, bend]]


def _pitch(c: list[arb]) -> tuple[arb, list[arb], list[list[arb]]]:
    """Pitch of x_b = (c[1], c[2], c[0]) in frame a: atan2(-c[0], hypot(c[1], c[2]))."""
    h = (c[1] * c[1] + c[2] * c[2]).sqrt()
    angle, slope, curvature = _angle(-c[0], h, 0.0)
    n = [c[1] / h, c[2] / h]
    to_pair = [[-ONE, ZERO, ZERO], [ZERO, n[0], n[1]]]
    grad = [sum((slope[a] * to_pair[a][i] for a in range(2)), ZERO) for i in range(3)]
    hessian = [
        [
            sum(
                (
                    to_pair[a][i] * curvature[a][b] * to_pair[b][j]
                    for a in range(2)
                    for b in range(2)
                ),
                ZERO,
            )
            for j in range(3)
        ]
        for i in range(3)
    ]
    for i in range(2):
        for j in range(2):
            hessian[i + 1][j + 1] = (
                hessian[i + 1][j + 1] + slope[1] * (ONE * int(i == j) - n[i] * n[j]) / h
            )
    return angle, grad, hessian
