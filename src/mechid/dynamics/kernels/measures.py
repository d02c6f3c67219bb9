"""Measures of the force elements: value, rate, second derivative, partial rates."""

import numpy as np

from mechid.dynamics.tables import COORDINATE, DOT, LENGTH, PUSH, SPIN, SUM, TURN, TURNS
from mechid.kinematics.kernels.jit import kernel
from mechid.kinematics.kernels.rows import point_rates
from mechid.mechanism import element_laws

law_value, law_slope = kernel(element_laws.law_value), kernel(element_laws.law_slope)


@kernel
def read_measures(
    d, q, v, vd, R, rotation, vectors, partial_velocity, partial_omega, values, partial
):
    """Fill values (n_measures, 3): s, ṡ, s̈; and partial (n_measures, n_i): ∂s/∂y."""
    n_i = R.shape[0]
    for m in range(d.measures.size):
        measure = d.measures[m]
        kind = measure.kind
        if kind == COORDINATE:
            values[m, 0], values[m, 1] = q[measure.q], v[measure.v]
            values[m, 2] = vd[measure.v]
            for y in range(n_i):
                partial[m, y] = R[y, measure.v]
        elif kind == TURN:
            _read_turn(d, m, rotation, vectors, partial_omega, values, partial)
        elif kind == DOT:
            _read_dot(d, m, rotation, vectors, partial_omega, values, partial)
        elif kind == PUSH or kind == SPIN:  # noqa: SIM109
            _read_load(d, m, rotation, vectors, partial_velocity, partial_omega, values, partial)
        elif kind == SUM or kind == TURNS:  # noqa: SIM109 (tuples are slow in kernels)
            values[m, 0], values[m, 1], values[m, 2] = measure.constant, 0.0, 0.0
            for y in range(n_i):
                partial[m, y] = 0.0
            for n in range(measure.start, measure.end):  # its terms stand before it
                other, f = d.terms[n].measure, d.terms[n].factor
                for i in range(3):
                    values[m, i] += f * values[other, i]
                for y in range(n_i):
                    partial[m, y] += f * partial[other, y]
        else:
            _read_line(d, m, rotation, vectors, partial_velocity, partial_omega, values, partial)


@kernel
def placed_direction(d, i, rotation):
    """Return a direction in ground axes."""
    k = d.direction_link[i]
    x, y, z = d.direction_local[i, 0], d.direction_local[i, 1], d.direction_local[i, 2]
    return (
        rotation[k, 0, 0] * x + rotation[k, 0, 1] * y + rotation[k, 0, 2] * z,
        rotation[k, 1, 0] * x + rotation[k, 1, 1] * y + rotation[k, 1, 2] * z,
        rotation[k, 2, 0] * x + rotation[k, 2, 1] * y + rotation[k, 2, 2] * z,
    )


@kernel
def marker_offset(d, i, rotation):
    """Return a marker's position relative to the origin of its link, in ground axes."""
    k = d.marker_link[i]
    x, y, z = d.marker_local[i, 0], d.marker_local[i, 1], d.marker_local[i, 2]
    return (
        rotation[k, 0, 0] * x + rotation[k, 0, 1] * y + rotation[k, 0, 2] * z,
        rotation[k, 1, 0] * x + rotation[k, 1, 1] * y + rotation[k, 1, 2] * z,
        rotation[k, 2, 0] * x + rotation[k, 2, 1] * y + rotation[k, 2, 2] * z,
    )


@kernel
def _turn_partial(m, ka, kb, n0, n1, n2, partial_omega, partial):
    """Fill ∂s/∂y of a measure whose rate is (ω_b - ω_a) · n."""
    for y in range(partial.shape[1]):
        partial[m, y] = (
            (partial_omega[y, kb, 0] - partial_omega[y, ka, 0]) * n0
            + (partial_omega[y, kb, 1] - partial_omega[y, ka, 1]) * n1
            + (partial_omega[y, kb, 2] - partial_omega[y, ka, 2]) * n2
        )


@kernel
def _read_turn(d, m, rotation, vectors, partial_omega, values, partial):
    """Angle about an axis: rate (ω_b - ω_a) · axis, with the axis carried by one of the two.

    The angle lies within ±π: a cut joint does not count its turns. Where that would matter, for
    torsion springs, the tree keeps the joint if it can; planar loops sum up other angles, and a
    thread is read by its displacement.
    """
    measure = d.measures[m]
    n0, n1, n2 = placed_direction(d, measure.axis, rotation)
    x0, x1, x2 = placed_direction(d, measure.x_a, rotation)
    y0, y1, y2 = placed_direction(d, measure.y_a, rotation)
    b0, b1, b2 = placed_direction(d, measure.x_b, rotation)
    sine, cosine = y0 * b0 + y1 * b1 + y2 * b2, x0 * b0 + x1 * b1 + x2 * b2
    # The second part is zero but for complex steps, whose derivative it carries.
    values[m, 0] = np.arctan2(sine.real, cosine.real) + (cosine.real * sine - sine.real * cosine)
    ka, kb, kn = measure.link_a, measure.link_b, d.direction_link[measure.axis]
    w0 = vectors[2, kb, 0] - vectors[2, ka, 0]
    w1 = vectors[2, kb, 1] - vectors[2, ka, 1]
    w2 = vectors[2, kb, 2] - vectors[2, ka, 2]
    o0, o1, o2 = vectors[2, kn, 0], vectors[2, kn, 1], vectors[2, kn, 2]
    values[m, 1] = w0 * n0 + w1 * n1 + w2 * n2
    values[m, 2] = (
        (vectors[4, kb, 0] - vectors[4, ka, 0]) * n0
        + (vectors[4, kb, 1] - vectors[4, ka, 1]) * n1
        + (vectors[4, kb, 2] - vectors[4, ka, 2]) * n2
        + w0 * (o1 * n2 - o2 * n1)
        + w1 * (o2 * n0 - o0 * n2)
        + w2 * (o0 * n1 - o1 * n0)
    )
    _turn_partial(m, ka, kb, n0, n1, n2, partial_omega, partial)


@kernel
def _read_line(d, m, rotation, vectors, partial_velocity, partial_omega, values, partial):
    """Length of the vector between two markers (LENGTH), or its part along an axis (SLIDE)."""
    measure = d.measures[m]
    ka, kb = d.marker_link[measure.marker_a], d.marker_link[measure.marker_b]
    a0, a1, a2 = marker_offset(d, measure.marker_a, rotation)
    b0, b1, b2 = marker_offset(d, measure.marker_b, rotation)
    s0 = vectors[0, kb, 0] + b0 - vectors[0, ka, 0] - a0
    s1 = vectors[0, kb, 1] + b1 - vectors[0, ka, 1] - a1
    s2 = vectors[0, kb, 2] + b2 - vectors[0, ka, 2] - a2
    p0, p1, p2, q0, q1, q2 = point_rates(vectors, ka, a0, a1, a2)
    v0, v1, v2, w0, w1, w2 = point_rates(vectors, kb, b0, b1, b2)
    v0, v1, v2 = v0 - p0, v1 - p1, v2 - p2
    w0, w1, w2 = w0 - q0, w1 - q1, w2 - q2
    kn = 0
    if measure.kind == LENGTH:
        length = np.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
        n0, n1, n2 = s0 / length, s1 / length, s2 / length
        rate = n0 * v0 + n1 * v1 + n2 * v2
        values[m, 0], values[m, 1] = length, rate
        square = v0 * v0 + v1 * v1 + v2 * v2
        values[m, 2] = n0 * w0 + n1 * w1 + n2 * w2 + (square - rate * rate) / length
    else:
        kn = d.direction_link[measure.axis]
        n0, n1, n2 = placed_direction(d, measure.axis, rotation)
        # the axis as a point of its link, seen from the link's origin
        e0, e1, e2, f0, f1, f2 = point_rates(vectors, kn, n0, n1, n2)
        e0, e1, e2 = e0 - vectors[1, kn, 0], e1 - vectors[1, kn, 1], e2 - vectors[1, kn, 2]
        f0, f1, f2 = f0 - vectors[3, kn, 0], f1 - vectors[3, kn, 1], f2 - vectors[3, kn, 2]
        values[m, 0] = n0 * s0 + n1 * s1 + n2 * s2
        values[m, 1] = e0 * s0 + e1 * s1 + e2 * s2 + n0 * v0 + n1 * v1 + n2 * v2
        values[m, 2] = (
            f0 * s0 + f1 * s1 + f2 * s2
            + 2.0 * (e0 * v0 + e1 * v1 + e2 * v2)
            + n0 * w0 + n1 * w1 + n2 * w2
        )  # fmt: skip
    for y in range(partial.shape[1]):
        p0, p1, p2 = partial_omega[y, ka, 0], partial_omega[y, ka, 1], partial_omega[y, ka, 2]
        q0, q1, q2 = partial_omega[y, kb, 0], partial_omega[y, kb, 1], partial_omega[y, kb, 2]
        x0 = partial_velocity[y, kb, 0] + q1 * b2 - q2 * b1
        x1 = partial_velocity[y, kb, 1] + q2 * b0 - q0 * b2
        x2 = partial_velocity[y, kb, 2] + q0 * b1 - q1 * b0
        x0 -= partial_velocity[y, ka, 0] + p1 * a2 - p2 * a1
        x1 -= partial_velocity[y, ka, 1] + p2 * a0 - p0 * a2
        x2 -= partial_velocity[y, ka, 2] + p0 * a1 - p1 * a0
        rate = n0 * x0 + n1 * x1 + n2 * x2
        if kn > 0:  # a moving axis turns too
            h0, h1, h2 = partial_omega[y, kn, 0], partial_omega[y, kn, 1], partial_omega[y, kn, 2]
            rate += s0 * (h1 * n2 - h2 * n1) + s1 * (h2 * n0 - h0 * n2) + s2 * (h0 * n1 - h1 * n0)
        partial[m, y] = rate


@kernel
def _read_dot(d, m, rotation, vectors, partial_omega, values, partial):
    """Product of a direction x of link a and a direction z of link b."""
    measure = d.measures[m]
    ka, kb = measure.link_a, measure.link_b
    x0, x1, x2 = placed_direction(d, measure.x_a, rotation)
    z0, z1, z2 = placed_direction(d, measure.x_b, rotation)
    # directions as points of their links, seen from the origins of these
    a0, a1, a2, e0, e1, e2 = point_rates(vectors, ka, x0, x1, x2)
    b0, b1, b2, f0, f1, f2 = point_rates(vectors, kb, z0, z1, z2)
    a0, a1, a2 = a0 - vectors[1, ka, 0], a1 - vectors[1, ka, 1], a2 - vectors[1, ka, 2]
    b0, b1, b2 = b0 - vectors[1, kb, 0], b1 - vectors[1, kb, 1], b2 - vectors[1, kb, 2]
    e0, e1, e2 = e0 - vectors[3, ka, 0], e1 - vectors[3, ka, 1], e2 - vectors[3, ka, 2]
    f0, f1, f2 = f0 - vectors[3, kb, 0], f1 - vectors[3, kb, 1], f2 - vectors[3, kb, 2]
    values[m, 0] = x0 * z0 + x1 * z1 + x2 * z2
    values[m, 1] = a0 * z0 + a1 * z1 + a2 * z2 + x0 * b0 + x1 * b1 + x2 * b2
    values[m, 2] = (
        e0 * z0 + e1 * z1 + e2 * z2
        + 2.0 * (a0 * b0 + a1 * b1 + a2 * b2)
        + x0 * f0 + x1 * f1 + x2 * f2
    )  # fmt: skip
    n0, n1, n2 = z1 * x2 - z2 * x1, z2 * x0 - z0 * x2, z0 * x1 - z1 * x0
    _turn_partial(m, ka, kb, n0, n1, n2, partial_omega, partial)


@kernel
def _read_load(d, m, rotation, vectors, partial_velocity, partial_omega, values, partial):
    """Velocity of a marker along a vector (PUSH), or of its link about it (SPIN)."""
    measure = d.measures[m]
    k = measure.link_b
    f0, f1, f2 = placed_direction(d, measure.axis, rotation)
    b0, b1, b2 = marker_offset(d, measure.marker_b, rotation)
    push = measure.kind == PUSH
    g0, g1, g2 = f0, f1, f2  # the moment about the origin of the link
    if push:
        g0, g1, g2 = b1 * f2 - b2 * f1, b2 * f0 - b0 * f2, b0 * f1 - b1 * f0
    values[m, 0], values[m, 2] = 0.0, 0.0
    values[m, 1] = vectors[2, k, 0] * g0 + vectors[2, k, 1] * g1 + vectors[2, k, 2] * g2
    if push:
        values[m, 1] += vectors[1, k, 0] * f0 + vectors[1, k, 1] * f1 + vectors[1, k, 2] * f2
    for y in range(partial.shape[1]):
        rate = (
            partial_omega[y, k, 0] * g0 + partial_omega[y, k, 1] * g1 + partial_omega[y, k, 2] * g2
        )
        if push:
            rate += (
                partial_velocity[y, k, 0] * f0
                + partial_velocity[y, k, 1] * f1
                + partial_velocity[y, k, 2] * f2
            )
        partial[m, y] = rate


@kernel
def element_factor(element, values):
    """What a term takes of its measure; times ∂s/∂y it is a column of W."""
    e = element
    x = values[e.measure, e.order]
    # The second part is zero but for complex steps, whose derivative it carries.
    return law_value(e.law, x.real, e.a, e.b, e.c, e.d) + (x - x.real) * law_slope(
        e.law, x.real, e.a, e.b, e.c, e.d
    )


@kernel
def project_elements(d, first, values, partial, W):
    """Fill the element columns of W (n_i, p), from column `first` on."""
    for e in range(d.columns.size):
        element = d.columns[e]
        f = element_factor(element, values)
        for y in range(partial.shape[1]):
            W[y, first + e] = f * partial[element.measure, y]


@kernel
def project_known(d, values, partial, tau):
    """Add to tau (n,) what the known elements ask of the actuators."""
    for e in range(d.known.size):
        element = d.known[e]
        f = element.known * element_factor(element, values)
        for y in range(tau.size):
            tau[y] += f * partial[element.measure, y]
