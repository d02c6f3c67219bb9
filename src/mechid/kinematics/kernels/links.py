"""Poses, velocities and accelerations of links, markers and directions, all in ground axes.

Vectors are read into scalars at the top of each function; see `Tables` for the reason.
"""

import numpy as np

from mechid.kinematics.kernels.jit import inlined_kernel, kernel
from mechid.kinematics.tables import BALL


@inlined_kernel
def place_links(t, items, first, last, q, rotation, origin, axes):
    """Put links where their parents and coordinates say; also the axes of their columns.

    items[first:last] are the links, parents first.
    """
    A = t.link_rotation
    for n in range(first, last):
        k = items[n]
        link = t.links[k]
        p, c, j = link.parent, link.v, link.q
        ball = link.kind == BALL
        dx, dy, dz = t.link_translation[k, 0], t.link_translation[k, 1], t.link_translation[k, 2]
        x = q[j]
        shift = 0.0 * x if ball else link.shift * x
        # Rotation of the link in its joint frame: m for a ball, (cs, sn) about z for a screw.
        m00 = m11 = m22 = cs = 1.0 + 0.0 * x
        m01 = m02 = m10 = m12 = m20 = m21 = sn = 0.0 * x
        if ball:
            e0, e1, e2, e3 = q[j], q[j + 1], q[j + 2], q[j + 3]
            m00 = 2 * (e0 * e0 + e1 * e1) - 1
            m11 = 2 * (e0 * e0 + e2 * e2) - 1
            m22 = 2 * (e0 * e0 + e3 * e3) - 1
            m01, m10 = 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e2 + e0 * e3)
            m02, m20 = 2 * (e1 * e3 + e0 * e2), 2 * (e1 * e3 - e0 * e2)
            m12, m21 = 2 * (e2 * e3 - e0 * e1), 2 * (e2 * e3 + e0 * e1)
        elif link.turn != 0.0:
            cs, sn = np.cos(link.turn * x), np.sin(link.turn * x)
        for i in range(3):
            r0, r1, r2 = rotation[p, i, 0], rotation[p, i, 1], rotation[p, i, 2]
            b0 = r0 * A[k, 0, 0] + r1 * A[k, 1, 0] + r2 * A[k, 2, 0]
            b1 = r0 * A[k, 0, 1] + r1 * A[k, 1, 1] + r2 * A[k, 2, 1]
            b2 = r0 * A[k, 0, 2] + r1 * A[k, 1, 2] + r2 * A[k, 2, 2]
            origin[k, i] = origin[p, i] + r0 * dx + r1 * dy + r2 * dz + b2 * shift
            if ball:
                axes[c, i], axes[c + 1, i], axes[c + 2, i] = b0, b1, b2
                rotation[k, i, 0] = b0 * m00 + b1 * m10 + b2 * m20
                rotation[k, i, 1] = b0 * m01 + b1 * m11 + b2 * m21
                rotation[k, i, 2] = b0 * m02 + b1 * m12 + b2 * m22
            else:
                axes[c, i] = b2
                rotation[k, i, 0] = b0 * cs + b1 * sn
                rotation[k, i, 1] = b1 * cs - b0 * sn
                rotation[k, i, 2] = b2


@inlined_kernel
def place_markers(t, items, first, last, rotation, origin, markers):
    """Put the markers items[first:last]: fixed points of their links, in ground coordinates."""
    for n in range(first, last):
        m = items[n]
        k = t.marker_link[m]
        x, y, z = t.marker_local[m, 0], t.marker_local[m, 1], t.marker_local[m, 2]
        for i in range(3):
            r0, r1, r2 = rotation[k, i, 0], rotation[k, i, 1], rotation[k, i, 2]
            markers[m, i] = origin[k, i] + r0 * x + r1 * y + r2 * z


@inlined_kernel
def place_directions(t, items, first, last, rotation, directions):
    """Put the directions items[first:last]: fixed vectors of their links, in ground axes."""
    for n in range(first, last):
        m = items[n]
        k = t.direction_link[m]
        x, y, z = t.direction_local[m, 0], t.direction_local[m, 1], t.direction_local[m, 2]
        for i in range(3):
            r0, r1, r2 = rotation[k, i, 0], rotation[k, i, 1], rotation[k, i, 2]
            directions[m, i] = r0 * x + r1 * y + r2 * z


@kernel
def move_links(t, v, vd, vectors, axes):
    """Velocities and accelerations of all links (of their origins).

    `vectors` (5, n_links, 3) holds origins, and takes velocities, angular velocities,
    accelerations and angular accelerations, all in ground axes.
    """
    for i in range(3):
        vectors[1, 0, i] = vectors[2, 0, i] = vectors[3, 0, i] = vectors[4, 0, i] = 0.0
    for k in range(1, t.links.size):
        link = t.links[k]
        p, c = link.parent, link.v
        o0, o1, o2 = vectors[2, p, 0], vectors[2, p, 1], vectors[2, p, 2]
        u0, u1, u2 = vectors[4, p, 0], vectors[4, p, 1], vectors[4, p, 2]
        d0 = vectors[0, k, 0] - vectors[0, p, 0]
        d1 = vectors[0, k, 1] - vectors[0, p, 1]
        d2 = vectors[0, k, 2] - vectors[0, p, 2]
        # o × d, then u × d + o × (o × d)
        w0, w1, w2 = o1 * d2 - o2 * d1, o2 * d0 - o0 * d2, o0 * d1 - o1 * d0
        v0, v1, v2 = vectors[1, p, 0] + w0, vectors[1, p, 1] + w1, vectors[1, p, 2] + w2
        a0 = vectors[3, p, 0] + u1 * d2 - u2 * d1 + o1 * w2 - o2 * w1
        a1 = vectors[3, p, 1] + u2 * d0 - u0 * d2 + o2 * w0 - o0 * w2
        a2 = vectors[3, p, 2] + u0 * d1 - u1 * d0 + o0 * w1 - o1 * w0
        s0, s1, s2 = o0, o1, o2
        for j in range(c, c + (3 if link.kind == BALL else 1)):
            x0, x1, x2 = axes[j, 0], axes[j, 1], axes[j, 2]
            # rate of the axis, which rides on the parent: o × axis
            r0, r1, r2 = o1 * x2 - o2 * x1, o2 * x0 - o0 * x2, o0 * x1 - o1 * x0
            turn, shift = t.columns[j].turn, t.columns[j].shift
            if turn != 0.0:
                w, wd = turn * v[j], turn * vd[j]
                s0, s1, s2 = s0 + x0 * w, s1 + x1 * w, s2 + x2 * w
                u0, u1, u2 = u0 + x0 * wd + r0 * w, u1 + x1 * wd + r1 * w, u2 + x2 * wd + r2 * w
            if shift != 0.0:
                w, wd = shift * v[j], shift * vd[j]
                v0, v1, v2 = v0 + x0 * w, v1 + x1 * w, v2 + x2 * w
                a0 += x0 * wd + 2.0 * r0 * w
                a1 += x1 * wd + 2.0 * r1 * w
                a2 += x2 * wd + 2.0 * r2 * w
        vectors[1, k, 0], vectors[1, k, 1], vectors[1, k, 2] = v0, v1, v2
        vectors[2, k, 0], vectors[2, k, 1], vectors[2, k, 2] = s0, s1, s2
        vectors[3, k, 0], vectors[3, k, 1], vectors[3, k, 2] = a0, a1, a2
        vectors[4, k, 0], vectors[4, k, 1], vectors[4, k, 2] = u0, u1, u2


@kernel
def advance(t, q, step, factor):
    """Add factor · step (in speeds) to the coordinates; balls turn by the exponential map."""
    for k in range(1, t.links.size):
        j, c = t.links[k].q, t.links[k].v
        if t.links[k].kind == BALL:
            turn_ball(q, j, factor * step[c], factor * step[c + 1], factor * step[c + 2])
        else:
            q[j] += factor * step[c]


@inlined_kernel
def cosine_and_sinc(square):
    """Cosine of an angle, and its sine over it, from its square."""
    if abs(square) < 1e-8:  # series: the next term is below rounding
        c = 1.0 - square / 2.0 * (1.0 - square / 12.0)
        s = 1.0 - square / 6.0 * (1.0 - square / 20.0)
    else:
        angle = np.sqrt(square)
        c = np.cos(angle)
        s = np.sin(angle) / angle
    return c, s


@inlined_kernel
def turn_ball(q, j, x, y, z):
    """Turn the quaternion at q[j:j+4] by the rotation vector (x, y, z) in the outer axes."""
    x, y, z = 0.5 * x, 0.5 * y, 0.5 * z
    c, s = cosine_and_sinc(x * x + y * y + z * z)
    x, y, z = s * x, s * y, s * z
    e0, e1, e2, e3 = q[j], q[j + 1], q[j + 2], q[j + 3]
    n0 = c * e0 - x * e1 - y * e2 - z * e3
    n1 = c * e1 + x * e0 + y * e3 - z * e2
    n2 = c * e2 + y * e0 + z * e1 - x * e3
    n3 = c * e3 + z * e0 + x * e2 - y * e1
    # Not the absolute value: complex steps need the analytic norm.
    norm = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3)
    q[j], q[j + 1], q[j + 2], q[j + 3] = n0 / norm, n1 / norm, n2 / norm, n3 / norm
