"""Pose of a body in the ground, and the force and moment that its motion asks for."""

from mechid.kinematics.kernels.jit import kernel


@kernel
def body_pose(d, b, rotation):
    """Return the axes of body b (nine numbers, by rows) and its origin, seen from its link's."""
    k = d.body_link[b]
    F = d.body_rotation
    k0, k1, k2 = rotation[k, 0, 0], rotation[k, 0, 1], rotation[k, 0, 2]
    k3, k4, k5 = rotation[k, 1, 0], rotation[k, 1, 1], rotation[k, 1, 2]
    k6, k7, k8 = rotation[k, 2, 0], rotation[k, 2, 1], rotation[k, 2, 2]
    p0, p1, p2 = d.body_origin[b, 0], d.body_origin[b, 1], d.body_origin[b, 2]
    return (
        k0 * F[b, 0, 0] + k1 * F[b, 1, 0] + k2 * F[b, 2, 0],
        k0 * F[b, 0, 1] + k1 * F[b, 1, 1] + k2 * F[b, 2, 1],
        k0 * F[b, 0, 2] + k1 * F[b, 1, 2] + k2 * F[b, 2, 2],
        k3 * F[b, 0, 0] + k4 * F[b, 1, 0] + k5 * F[b, 2, 0],
        k3 * F[b, 0, 1] + k4 * F[b, 1, 1] + k5 * F[b, 2, 1],
        k3 * F[b, 0, 2] + k4 * F[b, 1, 2] + k5 * F[b, 2, 2],
        k6 * F[b, 0, 0] + k7 * F[b, 1, 0] + k8 * F[b, 2, 0],
        k6 * F[b, 0, 1] + k7 * F[b, 1, 1] + k8 * F[b, 2, 1],
        k6 * F[b, 0, 2] + k7 * F[b, 1, 2] + k8 * F[b, 2, 2],
        k0 * p0 + k1 * p1 + k2 * p2,
        k3 * p0 + k4 * p1 + k5 * p2,
        k6 * p0 + k7 * p1 + k8 * p2,
    )


@kernel
def newton_euler(d, b, phi, vectors, pose):
    """Return force and moment about the frame origin that motion and weight ask for, body axes.

    `pose` is that of `body_pose`, `vectors` the motion of the links, phi (p,) the parameters.
    """
    r00, r01, r02, r10, r11, r12, r20, r21, r22, s0, s1, s2 = pose
    k = d.body_link[b]
    m = phi[10 * b]
    m0, m1, m2 = phi[10 * b + 1], phi[10 * b + 2], phi[10 * b + 3]
    i0, i1, i2 = phi[10 * b + 4], phi[10 * b + 5], phi[10 * b + 6]
    i3, i4, i5 = phi[10 * b + 7], phi[10 * b + 8], phi[10 * b + 9]
    o0, o1, o2 = vectors[2, k, 0], vectors[2, k, 1], vectors[2, k, 2]
    u0, u1, u2 = vectors[4, k, 0], vectors[4, k, 1], vectors[4, k, 2]
    c0, c1, c2 = o1 * s2 - o2 * s1, o2 * s0 - o0 * s2, o0 * s1 - o1 * s0
    x0 = vectors[3, k, 0] + u1 * s2 - u2 * s1 + o1 * c2 - o2 * c1 - d.gravity[0]
    x1 = vectors[3, k, 1] + u2 * s0 - u0 * s2 + o2 * c0 - o0 * c2 - d.gravity[1]
    x2 = vectors[3, k, 2] + u0 * s1 - u1 * s0 + o0 * c1 - o1 * c0 - d.gravity[2]
    a0 = r00 * x0 + r10 * x1 + r20 * x2
    a1 = r01 * x0 + r11 * x1 + r21 * x2
    a2 = r02 * x0 + r12 * x1 + r22 * x2
    w0 = r00 * o0 + r10 * o1 + r20 * o2
    w1 = r01 * o0 + r11 * o1 + r21 * o2
    w2 = r02 * o0 + r12 * o1 + r22 * o2
    e0 = r00 * u0 + r10 * u1 + r20 * u2
    e1 = r01 * u0 + r11 * u1 + r21 * u2
    e2 = r02 * u0 + r12 * u1 + r22 * u2
    y0, y1, y2 = w1 * m2 - w2 * m1, w2 * m0 - w0 * m2, w0 * m1 - w1 * m0
    g0 = i0 * w0 + i1 * w1 + i2 * w2
    g1 = i1 * w0 + i3 * w1 + i4 * w2
    g2 = i2 * w0 + i4 * w1 + i5 * w2
    return (
        m * a0 + e1 * m2 - e2 * m1 + w1 * y2 - w2 * y1,
        m * a1 + e2 * m0 - e0 * m2 + w2 * y0 - w0 * y2,
        m * a2 + e0 * m1 - e1 * m0 + w0 * y1 - w1 * y0,
        m1 * a2 - m2 * a1 + i0 * e0 + i1 * e1 + i2 * e2 + w1 * g2 - w2 * g1,
        m2 * a0 - m0 * a2 + i1 * e0 + i3 * e1 + i4 * e2 + w2 * g0 - w0 * g2,
        m0 * a1 - m1 * a0 + i2 * e0 + i4 * e1 + i5 * e2 + w0 * g1 - w1 * g0,
    )
