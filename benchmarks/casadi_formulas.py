"""Kinematics and regressor of a mechanism as formulas of CasADi, from the tables of a model.

Vectors are columns of three expressions in ground axes, tree speeds are lists of expressions. A
constant zero is known as such to CasADi, and whatever it multiplies disappears.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.tables import DynamicTables
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.tables import (
    BALL,
    DISTANCE,
    DOT,
    POINT,
    SCREW_ROW,
    Floats,
    Records,
    Tables,
)

NOTHING = 1e-15  # entries of constant frames below this are the rounding of a zero
THRESHOLD = 0.1  # a pivot may be this much smaller than the largest of its column
ZERO = ca.SX.zeros(3)

Speeds = list[ca.SX]  # one per column of the tree


@dataclass(frozen=True)
class Pose:
    """Rotations and origins of all links, axes of all columns."""

    rotation: list[ca.SX]
    origin: list[ca.SX]
    axes: list[ca.SX]


@dataclass(frozen=True)
class LinkMotion:
    """Velocities and accelerations of the origins of all links, and the angular ones."""

    velocity: list[ca.SX]
    omega: list[ca.SX]
    acceleration: list[ca.SX]
    alpha: list[ca.SX]


# ---------------------------------------------------------------------- tree


def constant(values: object) -> ca.SX:
    """Return numbers as an expression, with zeros where they are zero but for rounding."""
    array = np.array(values, dtype=float)
    array[np.abs(array) < NOTHING] = 0.0
    return ca.SX(ca.DM(array))


def place(t: Tables, q: ca.SX) -> Pose:
    """Return where everything is."""
    pose = Pose([ca.SX(ca.DM.eye(3))], [ZERO], [ZERO] * t.columns.size)
    for k in range(1, t.links.size):
        link = t.links[k]
        parent = pose.rotation[link.parent]
        base = parent @ constant(t.link_rotation[k])
        origin = pose.origin[link.parent] + parent @ constant(t.link_translation[k])
        if link.kind == BALL:
            pose.axes[link.v : link.v + 3] = ca.horzsplit(base)
            rotation = base @ ball_rotation(q[link.q : link.q + 4])
        else:
            pose.axes[link.v] = base[:, 2]
            origin = origin + base[:, 2] * (link.shift * q[link.q])
            rotation = turned_about_z(base, link.turn * q[link.q]) if link.turn else base
        pose.rotation.append(rotation)
        pose.origin.append(origin)
    return pose


def ball_rotation(e: ca.SX) -> ca.SX:
    """Return the rotation of a unit quaternion, scalar first."""
    w, x, y, z = ca.vertsplit(e)
    rows = (
        (2 * (w * w + x * x) - 1, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 2 * (w * w + y * y) - 1, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 2 * (w * w + z * z) - 1),
    )
    return ca.vertcat(*(ca.horzcat(*row) for row in rows))


def turned_about_z(base: ca.SX, angle: ca.SX) -> ca.SX:
    """Return a frame turned about its own z axis."""
    x, y, z = ca.horzsplit(base)
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.horzcat(x * c + y * s, y * c - x * s, z)


def columns_of(link: Records) -> range:
    """Return the columns of a link."""
    return range(link.v, link.v + (3 if link.kind == BALL else 1))


def advance(t: Tables, q: ca.SX, step: Speeds) -> ca.SX:
    """Return the coordinates after a step in speeds.

    A ball turns by 2 atan(|δ|/2) instead of |δ|, which needs no sine and is the same to third
    order: enough for Newton's method and for a prediction of second order.
    """
    out = ca.SX(q)
    for link in t.links[1:]:
        if link.kind == BALL:
            e = q[link.q : link.q + 4]
            d = 0.5 * ca.vertcat(*step[link.v : link.v + 3])
            v = e[1:]
            new = ca.vertcat(e[0] - ca.dot(d, v), v + d * e[0] + ca.cross(d, v))
            out[link.q : link.q + 4] = new / ca.sqrt(ca.dot(new, new))
        else:
            out[link.q] = q[link.q] + step[link.v]
    return out


def move(t: Tables, pose: Pose, v: Speeds, vd: Speeds | None = None) -> LinkMotion:
    """Return the motion of all links; without accelerations of the tree, the convective one."""
    m = LinkMotion([ZERO], [ZERO], [ZERO], [ZERO])
    for k in range(1, t.links.size):
        link = t.links[k]
        p = link.parent
        d = pose.origin[k] - pose.origin[p]
        o, u = m.omega[p], m.alpha[p]
        swing = ca.cross(o, d)
        velocity = m.velocity[p] + swing
        acceleration = m.acceleration[p] + ca.cross(u, d) + ca.cross(o, swing)
        omega, alpha = o, u
        for j in columns_of(link):
            axis, turn, shift = pose.axes[j], t.columns[j].turn, t.columns[j].shift
            rate = ca.cross(o, axis) * v[j]  # the axis rides on the parent
            more = rate + axis * vd[j] if vd else rate
            if turn:
                omega, alpha = omega + axis * (turn * v[j]), alpha + turn * more
            if shift:
                velocity = velocity + axis * (shift * v[j])
                acceleration = acceleration + shift * (more + rate)
        m.velocity.append(velocity)
        m.omega.append(omega)
        m.acceleration.append(acceleration)
        m.alpha.append(alpha)
    return m


def partial_velocities(t: Tables, pose: Pose, R: Speeds) -> tuple[list[ca.SX], list[ca.SX]]:
    """Return velocities and angular velocities of all links for some speeds of the tree."""
    m = move(t, pose, R)
    return m.velocity, m.omega


# ---------------------------------------------------------------------- rows


class Rows:
    """Closures and independent coordinates at a pose: products of a `left` and a `right` vector.

    left is fixed, a direction of side a, or (for a distance) right made a unit vector; right is
    the vector between two markers, or a direction of side b.
    """

    def __init__(self, model: KinematicModel, pose: Pose) -> None:
        self.t, self.pose = model.tables, pose
        self.numbers = kept_rows(model)
        if any(self.t.rows[r].kind == SCREW_ROW for r in self.numbers):
            raise NotImplementedError("cut helical joint")

    def values(self) -> list[ca.SX]:
        """Return what is held to zero or to an independent coordinate."""
        return [self._value(r) for r in self.numbers]

    def rates(self) -> list[dict[int, ca.SX]]:
        """Return for every row its rates by the columns that move it."""
        return [self._rates(r) for r in self.numbers]

    def accelerations(self, m: LinkMotion) -> list[ca.SX]:
        """Return the second derivatives for a motion."""
        return [self._acceleration(r, m) for r in self.numbers]

    def _value(self, r: int) -> ca.SX:
        left, right = self._vectors(r)
        return ca.dot(left, right)

    def _vectors(self, r: int) -> tuple[ca.SX, ca.SX]:
        row = self.t.rows[r]
        if row.kind == DOT:
            return self._direction(row.direction_a), self._direction(row.direction_b)
        right = self._marker(row.marker_b) - self._marker(row.marker_a)
        if row.kind == POINT:
            return constant(self.t.row_vector[r]), right
        if row.kind == DISTANCE:
            return right / ca.sqrt(ca.dot(right, right)), right
        return self._direction(row.direction_a), right

    def _rates(self, r: int) -> dict[int, ca.SX]:
        row = self.t.rows[r]
        left, right = self._vectors(r)
        found: dict[int, ca.SX] = {}
        for n in range(row.start, row.end):
            c, side = int(self.t.path[n].column), int(self.t.path[n].side)
            left_rate, right_rate = self._rates_by(row, c, side)
            rate = ca.dot(left_rate, right) + ca.dot(left, right_rate)
            found[c] = found.get(c, 0) + rate
        return {c: x for c, x in found.items() if not x.is_zero()}

    def _rates_by(self, row: Records, c: int, side: int) -> tuple[ca.SX, ca.SX]:
        """Return the rates of left and right by column c, which carries side a (0) or b (1)."""
        column, axis = self.t.columns[c], self.pose.axes[c]
        by_turn = lambda arm: column.turn * ca.cross(axis, arm)  # noqa: E731
        rides_along = row.kind not in (POINT, DISTANCE) and side == 0
        left = by_turn(self._direction(row.direction_a)) if rides_along else ZERO
        if row.kind == DOT:
            return left, by_turn(self._direction(row.direction_b)) if side else ZERO
        marker = self._marker(row.marker_b if side else row.marker_a)
        right = by_turn(marker - self.pose.origin[column.link]) + column.shift * axis
        return left, right if side else -right

    def _acceleration(self, r: int, m: LinkMotion) -> ca.SX:
        row = self.t.rows[r]
        left, right = self._vectors(r)
        if row.kind == DOT:
            right_rates = self._direction_rates(row.direction_b, m)
        else:
            a, b = self._marker_rates(row.marker_a, m), self._marker_rates(row.marker_b, m)
            right_rates = (b[0] - a[0], b[1] - a[1])
        along = ca.dot(left, right_rates[1])
        if row.kind == POINT:
            return along
        if row.kind == DISTANCE:
            across = right_rates[0] - left * ca.dot(left, right_rates[0])
            return along + ca.dot(across, across) / ca.sqrt(ca.dot(right, right))
        left_rates = self._direction_rates(row.direction_a, m)
        return along + 2 * ca.dot(left_rates[0], right_rates[0]) + ca.dot(left_rates[1], right)

    def _marker(self, m: int) -> ca.SX:
        k = self.t.marker_link[m]
        return self.pose.origin[k] + self.pose.rotation[k] @ constant(self.t.marker_local[m])

    def _direction(self, d: int) -> ca.SX:
        k = self.t.direction_link[d]
        return self.pose.rotation[k] @ constant(self.t.direction_local[d])

    def _marker_rates(self, marker: int, m: LinkMotion) -> tuple[ca.SX, ca.SX]:
        k = self.t.marker_link[marker]
        first, second = rigid_rates(m, k, self._marker(marker) - self.pose.origin[k])
        return m.velocity[k] + first, m.acceleration[k] + second

    def _direction_rates(self, d: int, m: LinkMotion) -> tuple[ca.SX, ca.SX]:
        return rigid_rates(m, self.t.direction_link[d], self._direction(d))


def rigid_rates(m: LinkMotion, k: int, arm: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the first and second derivative of a vector that is fixed to link k."""
    rate = ca.cross(m.omega[k], arm)
    return rate, ca.cross(m.alpha[k], arm) + ca.cross(m.omega[k], rate)


def kept_rows(model: KinematicModel) -> list[int]:
    """Return the rows that take part: all but those that vanish identically."""
    return [int(r) for p in model.order.pieces for r in model.order.items[p.row_start : p.row_end]]


# ---------------------------------------------------------------------- linear equations


class Elimination:
    """A sparse system, eliminated symbolically in an order that suits its values at one pose.

    Of the pivots that are large enough there, the one with the fewest neighbours comes first
    (Markowitz), so that zeros stay zeros. Rows that are left over at the end are redundant.
    """

    def __init__(self, rows: list[dict[int, ca.SX]], values: list[dict[int, float]]) -> None:
        rows, values = [dict(row) for row in rows], [dict(row) for row in values]
        self.steps: list[tuple[int, int, ca.SX, dict[int, ca.SX], dict[int, ca.SX]]] = []
        left = set(range(len(rows)))
        for _ in {c for row in rows for c in row}:
            r, c = best_pivot(values, left)
            left.remove(r)
            top, top_values = rows[r], values[r]
            inverse = 1 / top.pop(c)
            pivot = top_values.pop(c)
            lower = {}
            for i in [i for i in left if c in rows[i]]:
                lower[i] = rows[i].pop(c) * inverse
                subtract(rows[i], top, lower[i])
                subtract(values[i], top_values, values[i].pop(c) / pivot)
            self.steps.append((r, c, inverse, top, lower))

    def solve(self, right: list[ca.SX]) -> dict[int, ca.SX]:
        """Return the solution, by column."""
        b = list(right)
        for r, _, _, _, lower in self.steps:
            for i, factor in lower.items():
                b[i] = b[i] - factor * b[r]
        x: dict[int, ca.SX] = {}
        for r, c, inverse, upper, _ in reversed(self.steps):
            known = sum((u * x[j] for j, u in upper.items()), start=ca.SX(0))
            x[c] = (b[r] - known) * inverse
        return x


def subtract(row: dict, other: dict, factor: object) -> None:
    """Subtract a multiple of another row from a row, in place."""
    for c, x in other.items():
        row[c] = row.get(c, 0) - factor * x


def best_pivot(values: list[dict[int, float]], left: Iterable[int]) -> tuple[int, int]:
    """Return row and column of the next pivot."""
    rows = {r: values[r] for r in left}
    columns: dict[int, list[int]] = {}
    for r, row in rows.items():
        for c in row:
            columns.setdefault(c, []).append(r)
    largest = {c: max(abs(rows[r][c]) for r in where) for c, where in columns.items()}

    def price(rc: tuple[int, int]) -> tuple[int, float]:
        r, c = rc
        return (len(rows[r]) - 1) * (len(columns[c]) - 1), -abs(rows[r][c])

    good = [
        (r, c)
        for r, row in rows.items()
        for c, x in row.items()
        if abs(x) >= THRESHOLD * largest[c] and x
    ]
    return min(good, key=price)


# ---------------------------------------------------------------------- one sample


class Sample:
    """Closure, speeds and accelerations at the coordinates q."""

    def __init__(self, model: KinematicModel, q: ca.SX) -> None:
        self.q = q
        self.model, self.t = model, model.tables
        self.pose = place(self.t, q)
        self.rows = Rows(model, self.pose)
        self.drivers = [int(self.t.rows[r].driver) for r in self.rows.numbers]
        self.rates = self.rows.rates()
        taken = set(self.t.direct.column)
        unknown = [{c: x for c, x in row.items() if c not in taken} for row in self.rates]
        self.system = Elimination(unknown, values_at(unknown, q, model.home_q))

    def errors(self, y: ca.SX) -> list[ca.SX]:
        """Return how far the rows are from their targets."""
        pairs = zip(self.rows.values(), self.drivers, strict=True)
        return [value - y[d] if d >= 0 else value for value, d in pairs]

    def newton_step(self, y: ca.SX) -> Speeds:
        """Return the step in speeds; coordinates that are set directly go where they belong."""
        given = {int(d.column): y[int(d.driver)] - self.q[int(d.q)] for d in self.t.direct}
        return self._speeds(given, [-e for e in self.errors(y)])

    def admissible(self) -> list[Speeds]:
        """Return the speeds of the tree per unit speed of each independent coordinate."""
        return [self._admissible(i) for i in range(self.model.n_independent)]

    def _admissible(self, i: int) -> Speeds:
        given = {int(d.column): ca.SX(float(d.driver == i)) for d in self.t.direct}
        return self._speeds(given, [ca.SX(float(driver == i)) for driver in self.drivers])

    def bias(self, v: Speeds) -> Speeds:
        """Return the accelerations of the tree where the independent ones are zero."""
        convective = self.rows.accelerations(move(self.t, self.pose, v))
        return self._speeds({}, [-x for x in convective])

    def _speeds(self, given: dict[int, ca.SX], right: list[ca.SX]) -> Speeds:
        """Solve for the speeds that are not given."""
        rest = [
            x - sum((row[c] * given[c] for c in row if c in given), start=ca.SX(0))
            for x, row in zip(right, self.rates, strict=True)
        ]
        found = self.system.solve(rest) | given
        return [found.get(c, ca.SX(0)) for c in range(self.t.columns.size)]


def values_at(rows: list[dict[int, ca.SX]], symbol: ca.SX, value: Floats) -> list[dict[int, float]]:
    """Return the entries of a sparse matrix at one value of a symbol."""
    flat = ca.vertcat(*(x for row in rows for x in row.values()))
    numbers = iter(np.array(ca.Function("values", [symbol], [flat])(value)).ravel())
    return [{c: float(next(numbers)) for c in row} for row in rows]


def combine(R: list[Speeds], factors: ca.SX) -> Speeds:
    """Return the speeds of the tree for some independent speeds."""
    return [ca.dot(ca.vertcat(*column), factors) for column in zip(*R, strict=True)]


def add(a: Speeds, b: Speeds) -> Speeds:
    """Return the sums."""
    return [x + y for x, y in zip(a, b, strict=True)]


# ---------------------------------------------------------------------- regressor


def observation(model: DynamicModel, pose: Pose, R: list[Speeds], v: Speeds, vd: Speeds) -> ca.SX:
    """Return the inertial columns of W, (n_i, 10 n_b)."""
    t, d = model.kinematics.tables, model.tables
    motion = move(t, pose, v, vd)
    partials = [partial_velocities(t, pose, column) for column in R]
    blocks = [body_block(d, b, pose, motion, partials) for b in range(d.body_link.size)]
    return ca.horzcat(*blocks)


def body_block(
    d: DynamicTables,
    b: int,
    pose: Pose,
    motion: LinkMotion,
    partials: list[tuple[list[ca.SX], list[ca.SX]]],
) -> ca.SX:
    """Return the ten columns of one body, computed in its axes."""
    k = int(d.body_link[b])
    to_body = (pose.rotation[k] @ constant(d.body_rotation[b])).T
    arm = pose.rotation[k] @ constant(d.body_origin[b])
    _, swing = rigid_rates(motion, k, arm)
    a = to_body @ (motion.acceleration[k] + swing - constant(d.gravity))
    force, moment = newton_euler(a, to_body @ motion.omega[k], to_body @ motion.alpha[k])
    rows = []
    for velocity, omega in partials:
        along = to_body @ (velocity[k] + ca.cross(omega[k], arm))
        rows.append(along.T @ force + (to_body @ omega[k]).T @ moment)
    return ca.vertcat(*rows)


def newton_euler(a: ca.SX, w: ca.SX, u: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return force and moment about the origin of a body, each 3×10, in its axes.

    a is the acceleration of the origin less gravity, w and u are the angular ones.
    """
    force = ca.horzcat(a, ca.skew(u) + ca.skew(w) @ ca.skew(w), ca.SX.zeros(3, 6))
    moment = ca.horzcat(ZERO, -ca.skew(a), six(u) + ca.skew(w) @ six(w))
    return force, moment


def six(w: ca.SX) -> ca.SX:
    """Return the matrix that makes I w of the six moments xx, xy, xz, yy, yz, zz."""
    x, y, z = ca.vertsplit(w)
    rows = ((x, y, z, 0, 0, 0), (0, x, 0, y, z, 0), (0, 0, x, 0, y, z))
    return ca.vertcat(*(ca.horzcat(*row) for row in rows))


# ---------------------------------------------------------------------- functions


def functions(model: DynamicModel) -> tuple[ca.Function, ca.Function, ca.Function]:
    """Return what a sample needs, each without loops and branches.

    newton(q, y) → q; gap(q, y) → largest error of a row; finish(q, ẏ, ÿ, δy, dt²/2) → Wᵀ and a
    prediction of the next q.
    """
    kinematics, t, n_i = model.kinematics, model.kinematics.tables, model.kinematics.n_independent
    q = ca.SX.sym("q", kinematics.home_q.size)
    y, yd, ydd, dy = (ca.SX.sym(name, n_i) for name in ("y", "yd", "ydd", "dy"))
    half = ca.SX.sym("half")
    here = Sample(kinematics, q)
    gap = ca.SX(0)
    for error in here.errors(y):
        gap = ca.fmax(gap, ca.fabs(error))
    R = here.admissible()
    v = combine(R, yd)
    bias = here.bias(v)
    W = observation(model, here.pose, R, v, add(combine(R, ydd), bias))
    predicted = advance(t, q, add(combine(R, dy), [half * x for x in bias]))
    return (
        shared("newton", [q, y], [advance(t, q, here.newton_step(y))]),
        shared("gap", [q, y], [gap]),
        shared("finish", [q, yd, ydd, dy, half], [ca.densify(W.T), predicted]),
    )


def shared(name: str, inputs: list[ca.SX], outputs: list[ca.SX]) -> ca.Function:
    """Return a function that computes common terms once."""
    return ca.Function(name, inputs, ca.cse(outputs))
