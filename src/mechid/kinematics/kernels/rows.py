"""Residual, Jacobian and convective acceleration of the rows.

Every row but DOT and COUPLING is the component along some direction d of the vector from a marker
on side a to a marker on side b; DOT is the product of a direction of each side. At a closed pose
the rate of a row by a column with axis x through o is then, up to the sign of the side,

    turn x · ((m_b - o) × d) + shift x · d        (DOT: turn x · (d_b × d_a)).

A COUPLING is a sum of tree coordinates with constant factors, which are its rates.

Newton's method gets along with these rates on its way to a closed pose. Dynamics with loops that
may be open takes `open_row`, which is exact at any pose and costs more: columns that carry both
sides of a POINT row move it too while its ends are apart.
"""

import numpy as np

from mechid.kinematics.kernels.jit import inlined_kernel, kernel
from mechid.kinematics.tables import BALL, COUPLING, DISTANCE, DOT, PLANE, POINT, SCREW_ROW


@inlined_kernel
def _inner(a, i, b, j):
    return a[i, 0] * b[j, 0] + a[i, 1] * b[j, 1] + a[i, 2] * b[j, 2]


@inlined_kernel
def _vector(a, i):
    return a[i, 0], a[i, 1], a[i, 2]


@inlined_kernel
def row_value(t, r, q, markers, directions):
    """Value of a row: what is held to its target (zero, or an independent coordinate)."""
    row = t.rows[r]
    kind, da = row.kind, row.direction_a
    if kind == COUPLING:
        total = 0.0 * q[0] - row.constant
        for n in range(row.start, row.end):
            total += t.path[n].factor * q[t.links[t.columns[t.path[n].column].link].q]
        return total
    if kind == DOT:
        return _inner(directions, da, directions, row.direction_b)
    a, b = row.marker_a, row.marker_b
    x = markers[b, 0] - markers[a, 0]
    y = markers[b, 1] - markers[a, 1]
    z = markers[b, 2] - markers[a, 2]
    if kind == POINT:
        return t.row_vector[r, 0] * x + t.row_vector[r, 1] * y + t.row_vector[r, 2] * z
    if kind == DISTANCE:
        return np.sqrt(x * x + y * y + z * z) - row.constant
    along = directions[da, 0] * x + directions[da, 1] * y + directions[da, 2] * z
    if kind == PLANE:
        return along
    # Screw: sine of (angle - displacement / pitch), times the pitch; zero on the thread. Beyond a
    # quarter of a turn it goes on growing, so that half a turn off is not zero again.
    sine = _inner(directions, row.y_a, directions, row.x_b)
    cosine = _inner(directions, row.x_a, directions, row.x_b)
    advance = along / row.pitch
    off = sine * np.cos(advance) - cosine * np.sin(advance)
    if (cosine * np.cos(advance) + sine * np.sin(advance)).real < 0.0:
        off = (2.0 if off.real >= 0.0 else -2.0) - off
    return row.pitch * off


@kernel
def _entries(t, r, origin, axes, markers, directions, entries):
    row = t.rows[r]
    kind, da = row.kind, row.direction_a
    if kind == COUPLING:
        for n in range(row.start, row.end):
            entries[n] = t.path[n].factor
        return
    if kind == DOT:
        db = row.direction_b
        a0, a1, a2 = directions[da, 0], directions[da, 1], directions[da, 2]
        b0, b1, b2 = directions[db, 0], directions[db, 1], directions[db, 2]
        w0, w1, w2 = b1 * a2 - b2 * a1, b2 * a0 - b0 * a2, b0 * a1 - b1 * a0
        for n in range(row.start, row.end):
            c = t.path[n].column
            rate = t.columns[c].turn * (axes[c, 0] * w0 + axes[c, 1] * w1 + axes[c, 2] * w2)
            entries[n] = rate if t.path[n].side == 1 else -rate
        return
    a, b = row.marker_a, row.marker_b
    m0, m1, m2 = markers[b, 0], markers[b, 1], markers[b, 2]
    if kind == DISTANCE:
        d0, d1, d2 = m0 - markers[a, 0], m1 - markers[a, 1], m2 - markers[a, 2]
        length = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        d0, d1, d2 = d0 / length, d1 / length, d2 / length
    else:
        d0, d1, d2 = directions[da, 0], directions[da, 1], directions[da, 2]
    # A screw row is (pitch · angle - displacement), the others just the displacement.
    pitch, sense = (0.0, 1.0) if kind <= DISTANCE else (row.pitch, -1.0)
    for n in range(row.start, row.end):
        c = t.path[n].column
        k, turn, shift = t.columns[c].link, t.columns[c].turn, t.columns[c].shift
        x0, x1, x2 = axes[c, 0], axes[c, 1], axes[c, 2]
        along = x0 * d0 + x1 * d1 + x2 * d2
        rate = (pitch * turn + sense * shift) * along
        if turn != 0.0:
            s0, s1, s2 = m0 - origin[k, 0], m1 - origin[k, 1], m2 - origin[k, 2]
            rate += (sense * turn) * (
                x0 * (s1 * d2 - s2 * d1) + x1 * (s2 * d0 - s0 * d2) + x2 * (s0 * d1 - s1 * d0)
            )
        entries[n] = rate if t.path[n].side == 1 else -rate


@inlined_kernel
def _same_markers(t, items, n, last):
    """Return how many POINT rows from items[n] on lie between the same markers, at most three."""
    first = t.rows[items[n]]
    count = 1
    while count < 3 and n + count < last:
        row = t.rows[items[n + count]]
        if row.kind != POINT or row.marker_a != first.marker_a or row.marker_b != first.marker_b:
            break
        count += 1
    return count


@inlined_kernel
def _point_entries(t, items, n, count, origin, axes, markers, entries):
    """Entries of POINT rows between the same markers: components of one vector per column.

    The path depends on the markers only, so these rows share it.
    """
    first = t.rows[items[n]]
    m = first.marker_b
    m0, m1, m2 = markers[m, 0], markers[m, 1], markers[m, 2]
    for s in range(first.end - first.start):
        step = t.path[first.start + s]
        c = step.column
        k, turn, shift = t.columns[c].link, t.columns[c].turn, t.columns[c].shift
        if step.side == 0:
            turn, shift = -turn, -shift
        x0, x1, x2 = axes[c, 0], axes[c, 1], axes[c, 2]
        s0, s1, s2 = m0 - origin[k, 0], m1 - origin[k, 1], m2 - origin[k, 2]
        w0 = turn * (x1 * s2 - x2 * s1) + shift * x0
        w1 = turn * (x2 * s0 - x0 * s2) + shift * x1
        w2 = turn * (x0 * s1 - x1 * s0) + shift * x2
        for i in range(n, n + count):
            r = items[i]
            d0, d1, d2 = t.row_vector[r, 0], t.row_vector[r, 1], t.row_vector[r, 2]
            entries[t.rows[r].start + s] = d0 * w0 + d1 * w1 + d2 * w2


@kernel
def open_row(t, r, origin, axes, markers, directions, entries, out):
    """Fill out (n_v,) with the rates of row r by all columns, exact whether closed or open.

    `entries` are those of `row_entries`.
    """
    row = t.rows[r]
    for c in range(out.size):
        out[c] = 0.0
    if row.kind == POINT:
        _carry(t, r, row.marker_b, 1.0, origin, axes, markers, out)
        _carry(t, r, row.marker_a, -1.0, origin, axes, markers, out)
    elif row.kind == SCREW_ROW:
        _open_thread(t, r, origin, axes, markers, directions, out)
    else:
        for n in range(row.start, row.end):
            out[t.path[n].column] += entries[n]


@kernel
def _carry(t, r, m, sign, origin, axes, markers, out):
    """Add the rates of a marker along the fixed direction of a row by all columns that carry it."""
    d0, d1, d2 = t.row_vector[r, 0], t.row_vector[r, 1], t.row_vector[r, 2]
    k = t.marker_link[m]
    while k > 0:
        s0, s1, s2 = (
            markers[m, 0] - origin[k, 0],
            markers[m, 1] - origin[k, 1],
            markers[m, 2] - origin[k, 2],
        )
        # what a turn about an axis x contributes is x · (s × d)
        w0, w1, w2 = s1 * d2 - s2 * d1, s2 * d0 - s0 * d2, s0 * d1 - s1 * d0
        first = t.links[k].v
        for c in range(first, first + (3 if t.links[k].kind == BALL else 1)):
            turn, shift = t.columns[c].turn, t.columns[c].shift
            out[c] += sign * (
                axes[c, 0] * (turn * w0 + shift * d0)
                + axes[c, 1] * (turn * w1 + shift * d1)
                + axes[c, 2] * (turn * w2 + shift * d2)
            )
        k = t.links[k].parent


@kernel
def _thread(t, r, markers, directions):
    """Displacement of a screw row in radians, its sine and cosine products, and its sense.

    The value of the row is pitch · (sine cos φ - cosine sin φ), reversed beyond a quarter turn.
    """
    row = t.rows[r]
    a, b, d = row.marker_a, row.marker_b, row.direction_a
    along = (
        directions[d, 0] * (markers[b, 0] - markers[a, 0])
        + directions[d, 1] * (markers[b, 1] - markers[a, 1])
        + directions[d, 2] * (markers[b, 2] - markers[a, 2])
    )
    sine = _inner(directions, row.y_a, directions, row.x_b)
    cosine = _inner(directions, row.x_a, directions, row.x_b)
    phi = along / row.pitch
    sense = -1.0 if (cosine * np.cos(phi) + sine * np.sin(phi)).real < 0.0 else 1.0
    return phi, sine, cosine, sense


@kernel
def _open_thread(t, r, origin, axes, markers, directions, out):
    row = t.rows[r]
    phi, sine, cosine, sense = _thread(t, r, markers, directions)
    c, s = np.cos(phi), np.sin(phi)
    slope = -sense * (sine * s + cosine * c)  # by the displacement
    d0, d1, d2 = _vector(directions, row.direction_a)
    x0, x1, x2 = _vector(directions, row.x_a)
    y0, y1, y2 = _vector(directions, row.y_a)
    e0, e1, e2 = c * y0 - s * x0, c * y1 - s * x1, c * y2 - s * x2
    b0, b1, b2 = _vector(directions, row.x_b)
    f = sense * row.pitch
    w0, w1, w2 = f * (b1 * e2 - b2 * e1), f * (b2 * e0 - b0 * e2), f * (b0 * e1 - b1 * e0)
    m0, m1, m2 = _vector(markers, row.marker_b)
    for n in range(row.start, row.end):
        j = t.path[n].column
        k, turn, shift = t.columns[j].link, t.columns[j].turn, t.columns[j].shift
        s0, s1, s2 = m0 - origin[k, 0], m1 - origin[k, 1], m2 - origin[k, 2]
        g0 = turn * (w0 + slope * (s1 * d2 - s2 * d1)) + slope * shift * d0
        g1 = turn * (w1 + slope * (s2 * d0 - s0 * d2)) + slope * shift * d1
        g2 = turn * (w2 + slope * (s0 * d1 - s1 * d0)) + slope * shift * d2
        rate = axes[j, 0] * g0 + axes[j, 1] * g1 + axes[j, 2] * g2
        out[j] += rate if t.path[n].side == 1 else -rate


@inlined_kernel
def point_rates(vectors, k, x, y, z):
    """Velocity and acceleration of the point of link k at (x, y, z) from its origin."""
    o0, o1, o2 = vectors[2, k, 0], vectors[2, k, 1], vectors[2, k, 2]
    u0, u1, u2 = vectors[4, k, 0], vectors[4, k, 1], vectors[4, k, 2]
    w0, w1, w2 = o1 * z - o2 * y, o2 * x - o0 * z, o0 * y - o1 * x
    return (
        vectors[1, k, 0] + w0,
        vectors[1, k, 1] + w1,
        vectors[1, k, 2] + w2,
        vectors[3, k, 0] + u1 * z - u2 * y + o1 * w2 - o2 * w1,
        vectors[3, k, 1] + u2 * x - u0 * z + o2 * w0 - o0 * w2,
        vectors[3, k, 2] + u0 * y - u1 * x + o0 * w1 - o1 * w0,
    )


@inlined_kernel
def _direction_rates(t, d, directions, vectors):
    """First and second derivative of a direction: a point on a link whose origin stands still."""
    k = t.direction_link[d]
    x, y, z = directions[d, 0], directions[d, 1], directions[d, 2]
    o0, o1, o2 = vectors[2, k, 0], vectors[2, k, 1], vectors[2, k, 2]
    u0, u1, u2 = vectors[4, k, 0], vectors[4, k, 1], vectors[4, k, 2]
    w0, w1, w2 = o1 * z - o2 * y, o2 * x - o0 * z, o0 * y - o1 * x
    return (
        w0,
        w1,
        w2,
        u1 * z - u2 * y + o1 * w2 - o2 * w1,
        u2 * x - u0 * z + o2 * w0 - o0 * w2,
        u0 * y - u1 * x + o0 * w1 - o1 * w0,
    )


@inlined_kernel
def _marker_rates(t, m, markers, vectors):
    k = t.marker_link[m]
    return point_rates(
        vectors,
        k,
        markers[m, 0] - vectors[0, k, 0],
        markers[m, 1] - vectors[0, k, 1],
        markers[m, 2] - vectors[0, k, 2],
    )


@kernel
def _acceleration(t, r, vectors, markers, directions):
    row = t.rows[r]
    kind, da = row.kind, row.direction_a
    if kind == COUPLING:
        return 0.0 * vectors[0, 0, 0]
    if kind == DOT:
        db = row.direction_b
        p0, p1, p2, q0, q1, q2 = _direction_rates(t, da, directions, vectors)
        r0, r1, r2, s0, s1, s2 = _direction_rates(t, db, directions, vectors)
        return (
            q0 * directions[db, 0] + q1 * directions[db, 1] + q2 * directions[db, 2]
            + 2.0 * (p0 * r0 + p1 * r1 + p2 * r2)
            + s0 * directions[da, 0] + s1 * directions[da, 1] + s2 * directions[da, 2]
        )  # fmt: skip
    a, b = row.marker_a, row.marker_b
    p0, p1, p2, q0, q1, q2 = _marker_rates(t, a, markers, vectors)
    v0, v1, v2, w0, w1, w2 = _marker_rates(t, b, markers, vectors)
    v0, v1, v2 = v0 - p0, v1 - p1, v2 - p2
    w0, w1, w2 = w0 - q0, w1 - q1, w2 - q2
    x = markers[b, 0] - markers[a, 0]
    y = markers[b, 1] - markers[a, 1]
    z = markers[b, 2] - markers[a, 2]
    if kind == DISTANCE:
        length = np.sqrt(x * x + y * y + z * z)
        rate = (x * v0 + y * v1 + z * v2) / length
        square = v0 * v0 + v1 * v1 + v2 * v2
        return (square + x * w0 + y * w1 + z * w2 - rate * rate) / length
    d0, d1, d2 = directions[da, 0], directions[da, 1], directions[da, 2]
    p0, p1, p2, q0, q1, q2 = _direction_rates(t, da, directions, vectors)
    along = (
        q0 * x + q1 * y + q2 * z
        + 2.0 * (p0 * v0 + p1 * v1 + p2 * v2)
        + d0 * w0 + d1 * w1 + d2 * w2
    )  # fmt: skip
    if kind == PLANE:
        return along
    x0, x1, x2 = _vector(directions, row.x_b)
    e0, e1, e2, f0, f1, f2 = _direction_rates(t, row.x_b, directions, vectors)
    sine1, sine2 = _product_rates(
        t, row.y_a, x0, x1, x2, e0, e1, e2, f0, f1, f2, directions, vectors
    )
    cosine1, cosine2 = _product_rates(
        t, row.x_a, x0, x1, x2, e0, e1, e2, f0, f1, f2, directions, vectors
    )
    phi, sine, cosine, sense = _thread(t, r, markers, directions)
    phi1 = (p0 * x + p1 * y + p2 * z + d0 * v0 + d1 * v1 + d2 * v2) / row.pitch
    c, s = np.cos(phi), np.sin(phi)
    return sense * (
        row.pitch * (sine2 * c - cosine2 * s)
        - 2.0 * row.pitch * phi1 * (sine1 * s + cosine1 * c)
        - row.pitch * phi1 * phi1 * (sine * c - cosine * s)
        - along * (sine * s + cosine * c)
    )


@kernel
def _product_rates(t, d, x0, x1, x2, e0, e1, e2, f0, f1, f2, directions, vectors):
    """Derivatives of the product of direction d with a vector x whose own are e and f."""
    p0, p1, p2, q0, q1, q2 = _direction_rates(t, d, directions, vectors)
    d0, d1, d2 = _vector(directions, d)
    return (
        p0 * x0 + p1 * x1 + p2 * x2 + d0 * e0 + d1 * e1 + d2 * e2,
        q0 * x0 + q1 * x1 + q2 * x2
        + 2.0 * (p0 * e0 + p1 * e1 + p2 * e2)
        + d0 * f0 + d1 * f1 + d2 * f2,
    )  # fmt: skip


@inlined_kernel
def row_errors(t, items, first, last, y, q, markers, directions, out):
    """Fill out[:last - first] with the dimensionless distances of rows from their targets."""
    for n in range(first, last):
        r = items[n]
        value = row_value(t, r, q, markers, directions)
        driver = t.rows[r].driver
        if driver >= 0:
            value -= y[driver]
        out[n - first] = value * t.rows[r].scale


@inlined_kernel
def row_entries(t, items, first, last, origin, axes, markers, directions, entries):
    """Fill the parts of `entries` (one per step of the path) that belong to items[first:last]."""
    n = first
    while n < last:
        if t.rows[items[n]].kind == POINT:
            count = _same_markers(t, items, n, last)
            _point_entries(t, items, n, count, origin, axes, markers, entries)
            n += count
        else:
            _entries(t, items[n], origin, axes, markers, directions, entries)
            n += 1


@kernel
def row_accelerations(t, vectors, markers, directions, out):
    """Fill out (n_rows,): second derivatives for the motion in `vectors` (see `move_links`).

    That motion must have v̇ = 0: a coupling, which is linear in the coordinates, then has none.
    """
    a, b = -1, -1
    w0 = w1 = w2 = 0.0 * vectors[0, 0, 0]
    for r in range(t.rows.size):
        row = t.rows[r]
        if row.kind != POINT:
            out[r] = _acceleration(t, r, vectors, markers, directions)
            continue
        if row.marker_a != a or row.marker_b != b:  # not those of the row before
            a, b = row.marker_a, row.marker_b
            _, _, _, q0, q1, q2 = _marker_rates(t, a, markers, vectors)
            _, _, _, w0, w1, w2 = _marker_rates(t, b, markers, vectors)
            w0, w1, w2 = w0 - q0, w1 - q1, w2 - q2
        out[r] = t.row_vector[r, 0] * w0 + t.row_vector[r, 1] * w1 + t.row_vector[r, 2] * w2
