"""Values, Jacobian and convective terms of rows, all rows of a table at once.

The rotation matrix is written as a form that is quadratic and homogeneous in e,

    R(e) s = (e0² - u·u) s + 2 u (u·s) + 2 e0 u × s,    e = (e0, u),

which equals the usual one where eᵀe = 1. Its derivative is linear in e, and the second derivative
along ė is just 2 R(ė) s: the convective terms need no further formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from mechid.kinematics.reference_point.constraints import Row
from mechid.spatial.rotations import Array, skew

# An angle without direction or a distance of zero: the slope becomes huge, not undefined.
TINY = float(np.sqrt(np.finfo(float).tiny))


@dataclass(frozen=True, eq=False)
class Equations:
    """Rows compiled into arrays over their products; `first[i]` starts the products of row i."""

    rows: tuple[Row, ...]
    n_bodies: int
    of: np.ndarray
    a: np.ndarray
    b: np.ndarray
    direction: Array
    local_a: Array
    local_b: Array
    points: Array
    first: np.ndarray
    simple: np.ndarray
    composite: tuple[int, ...]
    norms: np.ndarray
    norm_bodies: np.ndarray

    def scale(self, size: float) -> Array:
        """Return what makes each row dimensionless: 1/L for lengths, 1 for the rest."""
        return np.where(self._lengths, 1 / size, 1.0)

    @cached_property
    def _lengths(self) -> np.ndarray:
        return np.array([row.unit == "m" for row in self.rows], dtype=bool)

    @cached_property
    def bodies(self) -> np.ndarray:
        """Bodies that turn the vectors of the products: direction, local_b, local_a; (3, n)."""
        return np.stack([self.of, self.b, self.a])

    @cached_property
    def slopes(self) -> Array:
        """Derivatives of R(e) s of these vectors by e, as factors of e; (3, n, 12, 4)."""
        s = np.stack([self.direction, self.local_b, self.local_a])
        e = [np.broadcast_to(x, (*s.shape[:-1], 4)) for x in np.eye(4)]
        return np.stack([rotate_jacobian(x, s) for x in e], axis=-1).reshape(3, len(self.of), 12, 4)


def compile_rows(rows: tuple[Row, ...], n_bodies: int) -> Equations:
    """Lay rows out as a table of products."""
    products = [p for row in rows for p in row.products]
    counts = [len(row.products) for row in rows]
    form = np.array([row.form for row in rows], dtype="U8")
    return Equations(
        rows=rows,
        n_bodies=n_bodies,
        of=np.array([p.of for p in products], dtype=int),
        a=np.array([p.a for p in products], dtype=int),
        b=np.array([p.b for p in products], dtype=int),
        direction=np.array([p.direction for p in products]).reshape(-1, 3),
        local_a=np.array([p.local_a for p in products]).reshape(-1, 3),
        local_b=np.array([p.local_b for p in products]).reshape(-1, 3),
        points=np.array([float(p.points) for p in products])[:, None],
        first=np.cumsum([0, *counts])[:-1],
        simple=np.flatnonzero(form == "value"),
        composite=tuple(np.flatnonzero((form != "value") & (form != "norm")).tolist()),
        norms=np.flatnonzero(form == "norm"),
        norm_bodies=np.array([row.body for row in rows if row.form == "norm"], dtype=int),
    )


def cross(a: Array, b: Array) -> Array:
    """Return a × b; NumPy's own spends far longer on its arguments than on the product."""
    i, j = [1, 2, 0], [2, 0, 1]
    product: Array = a[..., i] * b[..., j] - a[..., j] * b[..., i]
    return product


def rotate_jacobian(e: Array, s: Array) -> Array:
    """Return the derivative of R(e) s with respect to e, shape (..., 3, 4)."""
    w, u = e[..., :1], e[..., 1:]
    us = np.sum(u * s, axis=-1)[..., None, None]
    su = s[..., :, None] * u[..., None, :]
    d = np.empty((*s.shape[:-1], 3, 4))
    d[..., 0] = 2 * (w * s + cross(u, s))
    d[..., 1:] = 2 * (us * np.eye(3) - su + np.swapaxes(su, -1, -2) - w[..., None] * skew(s))
    return d


def values(
    equations: Equations, q: Array, near: Sequence[Array | float] | Array | None = None
) -> Array:
    """Return the values of all rows, shape (m,), in m or rad or without unit.

    `near` (m entries) picks the turn of rows with an angle: the value lies within π of it. For a
    screw this is its angle, for a coupling there is one number for each of its angles. Without it
    angles lie in (-π, π].
    """
    p, e = _bodies(equations, q)
    c = _products(equations, p, e)
    out = np.empty(len(equations.rows))
    out[equations.simple] = c[equations.first[equations.simple]]
    eb = e[equations.norm_bodies]
    out[equations.norms] = np.sum(eb * eb, axis=-1) - 1.0
    for i in equations.composite:
        row = equations.rows[i]
        target = None if near is None else near[i]
        out[i] = _outer(row, c[_span(equations, i)], target)[0]
    return out


def turn_angles(equations: Equations, q: Array, i: int, near: Array | None) -> Array:
    """Return the angles of a screw or coupling row i, each within π of `near`.

    Without it, a screw has the turn of its displacement; other angles lie in (-π, π].
    """
    row = equations.rows[i]
    if row.form == "screw":
        return np.array([screw_angle(equations, q, i, None if near is None else float(near[0]))])
    c = _products(equations, *_bodies(equations, q))[_span(equations, i)]
    parts = [
        part for part, (term, _) in zip(_parts(row), row.terms, strict=True) if term.form == "angle"
    ]
    angles = np.array([np.arctan2(*c[part]) for part in parts])
    if near is None:
        return angles
    return np.array([_unwrap(float(a), float(n)) for a, n in zip(angles, near, strict=True)])


def screw_angle(equations: Equations, q: Array, i: int, near: float | None) -> float:
    """Return the angle of screw row i, within π of `near`.

    Without `near`, the turn is the one whose advance is nearest to the displacement there is.
    """
    p, e = _bodies(equations, q)
    slide, s, c = _products(equations, p, e)[_span(equations, i)]
    lead = equations.rows[i].coefficient
    if near is None:
        near = float(slide / lead) if lead else 0.0
    return _unwrap(float(np.arctan2(s, c)), near)


def jacobian(equations: Equations, q: Array) -> Array:
    """Return the derivative of all rows with respect to the 7 n_b numbers, shape (m, 7 n_b)."""
    p, e = _bodies(equations, q)
    c_q = _products_jacobian(equations, p, e)
    c = _products(equations, p, e) if equations.composite else np.zeros(0)
    out = np.zeros((len(equations.rows), 7 * equations.n_bodies))
    out[equations.simple] = c_q[equations.first[equations.simple]]
    for i, k in zip(equations.norms, equations.norm_bodies, strict=True):
        out[i, 7 * k + 3 : 7 * k + 7] = 2 * e[k]
    for i in equations.composite:
        span = _span(equations, i)
        out[i] = _outer(equations.rows[i], c[span], None)[1] @ c_q[span]
    return out


def gamma(equations: Equations, q: Array, qd: Array) -> Array:
    """Return γ = -(Φ_q q̇)_q q̇, so that Φ_q q̈ = γ + (rates prescribed), shape (m,)."""
    p, e = _bodies(equations, q)
    pd, ed = _bodies(equations, qd)
    pd[-1], ed[-1] = 0.0, 0.0
    c = _products(equations, p, e)
    convective = _products_convective(equations, p, e, pd, ed)
    out = np.empty(len(equations.rows))
    out[equations.simple] = -convective[equations.first[equations.simple]]
    eb = ed[equations.norm_bodies]
    out[equations.norms] = -2 * np.sum(eb * eb, axis=-1)
    if equations.composite:
        cd = _products_jacobian(equations, p, e) @ qd
        for i in equations.composite:
            span = _span(equations, i)
            _, slope, curvature = _outer(equations.rows[i], c[span], None)
            out[i] = -(slope @ convective[span] + cd[span] @ curvature @ cd[span])
    return out


def _bodies(equations: Equations, q: Array) -> tuple[Array, Array]:
    """Split q into positions and quaternions, the ground appended."""
    table = np.empty((equations.n_bodies + 1, 7))
    table[:-1] = q.reshape(-1, 7)
    table[-1] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    return table[:, :3], table[:, 3:]


def _span(equations: Equations, i: int) -> slice:
    start = int(equations.first[i])
    return slice(start, start + len(equations.rows[i].products))


def _products(t: Equations, p: Array, e: Array) -> Array:
    u, w, _ = _factors(t, p, e)
    return np.asarray(np.sum(u * w, axis=-1))


def _turned(t: Equations, e: Array) -> tuple[Array, Array]:
    """Return R(e) s of direction, local_b, local_a, (3, n, 3), and the derivatives by e."""
    of = e[t.bodies]
    # sums of so few terms by `matmul` take twice as long
    slopes = np.einsum("knij,knj->kni", t.slopes, of).reshape(3, len(t.of), 3, 4)
    turned: Array = 0.5 * np.einsum("knij,knj->kni", slopes, of)  # R(e) s is quadratic in e
    return turned, slopes


def _factors(t: Equations, p: Array, e: Array) -> tuple[Array, Array, Array]:
    (u, on_b, on_a), slopes = _turned(t, e)
    return u, t.points * (p[t.b] - p[t.a]) + on_b - on_a, slopes


def _products_jacobian(t: Equations, p: Array, e: Array) -> Array:
    u, w, slopes = _factors(t, p, e)
    n = len(t.of)
    out = np.zeros((n, t.n_bodies + 1, 7))
    rows = np.arange(n)
    by_of, by_b, by_a = np.einsum("kni,knij->knj", np.stack([w, u, u]), slopes)
    # Two of the three bodies may be the same, hence sums; each statement meets a cell once.
    out[rows, t.b, :3] += t.points * u
    out[rows, t.a, :3] -= t.points * u
    out[rows, t.b, 3:] += by_b
    out[rows, t.a, 3:] -= by_a
    out[rows, t.of, 3:] += by_of
    return out[:, :-1].reshape(n, 7 * t.n_bodies)


def _products_convective(t: Equations, p: Array, e: Array, pd: Array, ed: Array) -> Array:
    """Return the second time derivative of the products for q̈ = 0."""
    u, w, slopes = _factors(t, p, e)
    ud, on_b, on_a = (slopes @ ed[t.bodies][..., None])[..., 0]
    wd = t.points * (pd[t.b] - pd[t.a]) + on_b - on_a
    udd, on_b, on_a = 2 * _turned(t, ed)[0]
    return np.asarray(np.sum(udd * w + 2 * ud * wd + u * (on_b - on_a), axis=-1))


def _parts(row: Row) -> list[slice]:
    """Return where the products of each term of a coupling stand among those of the row."""
    ends = np.cumsum([0, *(len(term.products) for term, _ in row.terms)])
    return [slice(a, b) for a, b in pairwise(ends.tolist())]


def _outer(row: Row, c: Array, near: Array | float | None) -> tuple[float, Array, Array]:
    """Return value, gradient and Hessian of the function that makes a row of its products."""
    if row.form == "coupling":
        return _coupling(row, c, None if near is None else np.atleast_1d(near))
    near = None if near is None else float(np.ravel(near)[0])
    if row.form == "angle":
        return _angle(c, near)
    if row.form == "pitch":
        return _pitch(c)
    if row.form == "distance":
        r = max(float(np.linalg.norm(c)), TINY)
        n = c / r
        return r - row.coefficient, n, (np.eye(3) - np.outer(n, n)) / r
    angle, slope, curvature = _angle(c[1:], near)  # a screw: displacement - lead × angle
    lead = row.coefficient
    hessian = np.zeros((3, 3))
    hessian[1:, 1:] = -lead * curvature
    return float(c[0]) - lead * angle, np.concatenate([[1.0], -lead * slope]), hessian


def _coupling(row: Row, c: Array, near: Array | None) -> tuple[float, Array, Array]:
    total, slope, curvature = -row.coefficient, np.zeros(len(c)), np.zeros((len(c), len(c)))
    turns = iter(() if near is None else near)
    for (term, factor), part in zip(row.terms, _parts(row), strict=True):
        if term.form == "value":
            total += factor * float(c[part][0])
            slope[part] = factor
            continue
        angle, d, dd = _angle(c[part], next(turns, None))
        total += factor * angle
        slope[part], curvature[part, part] = factor * d, factor * dd
    return total, slope, curvature


def _angle(c: Array, near: float | None) -> tuple[float, Array, Array]:
    s, k = float(c[0]), float(c[1])
    r2 = max(s * s + k * k, TINY)
    angle = float(np.arctan2(s, k))
    if near is not None:
        angle = _unwrap(angle, near)
    mixed = (s * s - k * k) / r2**2
    bend = 2 * s * k / r2**2
    return angle, np.array([k, -s]) / r2, np.array([[-bend, mixed], [mixed, bend]])


def _pitch(c: Array) -> tuple[float, Array, Array]:
    """Pitch of x_b = (c[1], c[2], c[0]) in frame a: atan2(-c[0], hypot(c[1], c[2]))."""
    level = c[1:]
    h = max(float(np.hypot(*level)), TINY)
    angle, slope, curvature = _angle(np.array([-c[0], h]), None)
    n = level / h
    to_pair = np.zeros((2, 3))  # derivative of (-c[0], h)
    to_pair[0, 0] = -1.0
    to_pair[1, 1:] = n
    hessian = to_pair.T @ curvature @ to_pair
    hessian[1:, 1:] += slope[1] * (np.eye(2) - np.outer(n, n)) / h
    return angle, slope @ to_pair, hessian


def _unwrap(angle: float, near: float) -> float:
    return angle + 2 * np.pi * float(np.round((near - angle) / (2 * np.pi)))
