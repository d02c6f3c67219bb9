"""The 6×10 Newton-Euler regressor of each body, projected on the independent coordinates."""

from mechid.kinematics.kernels.jit import kernel


@kernel
def project_bodies(d, rotation, vectors, partial_velocity, partial_omega, W):
    """Fill the inertial columns of W (n_i, p) for one sample; ten columns per body.

    Force and moment about the frame origin, in body axes, are linear in φ:
        f = m a + (α× + ω×ω×) m c          with a the acceleration of the origin less gravity
        n = m c × a + I α + ω × I ω
    and the generalised force is V_j · f + Ω_j · n with the partial velocities of the body.
    """
    g0, g1, g2 = d.gravity[0], d.gravity[1], d.gravity[2]
    for b in range(d.body_link.size):
        k = d.body_link[b]
        first, last = d.reach_start[k], d.reach_start[k + 1]
        if first == last:
            continue
        # body frame in the ground: axes r.., offset s of its origin from the link's
        F = d.body_rotation
        k0, k1, k2 = rotation[k, 0, 0], rotation[k, 0, 1], rotation[k, 0, 2]
        k3, k4, k5 = rotation[k, 1, 0], rotation[k, 1, 1], rotation[k, 1, 2]
        k6, k7, k8 = rotation[k, 2, 0], rotation[k, 2, 1], rotation[k, 2, 2]
        r00 = k0 * F[b, 0, 0] + k1 * F[b, 1, 0] + k2 * F[b, 2, 0]
        r01 = k0 * F[b, 0, 1] + k1 * F[b, 1, 1] + k2 * F[b, 2, 1]
        r02 = k0 * F[b, 0, 2] + k1 * F[b, 1, 2] + k2 * F[b, 2, 2]
        r10 = k3 * F[b, 0, 0] + k4 * F[b, 1, 0] + k5 * F[b, 2, 0]
        r11 = k3 * F[b, 0, 1] + k4 * F[b, 1, 1] + k5 * F[b, 2, 1]
        r12 = k3 * F[b, 0, 2] + k4 * F[b, 1, 2] + k5 * F[b, 2, 2]
        r20 = k6 * F[b, 0, 0] + k7 * F[b, 1, 0] + k8 * F[b, 2, 0]
        r21 = k6 * F[b, 0, 1] + k7 * F[b, 1, 1] + k8 * F[b, 2, 1]
        r22 = k6 * F[b, 0, 2] + k7 * F[b, 1, 2] + k8 * F[b, 2, 2]
        p0, p1, p2 = d.body_origin[b, 0], d.body_origin[b, 1], d.body_origin[b, 2]
        s0, s1, s2 = (
            k0 * p0 + k1 * p1 + k2 * p2,
            k3 * p0 + k4 * p1 + k5 * p2,
            k6 * p0 + k7 * p1 + k8 * p2,
        )
        o0, o1, o2 = vectors[2, k, 0], vectors[2, k, 1], vectors[2, k, 2]
        u0, u1, u2 = vectors[4, k, 0], vectors[4, k, 1], vectors[4, k, 2]
        c0, c1, c2 = o1 * s2 - o2 * s1, o2 * s0 - o0 * s2, o0 * s1 - o1 * s0
        x0 = vectors[3, k, 0] + u1 * s2 - u2 * s1 + o1 * c2 - o2 * c1 - g0
        x1 = vectors[3, k, 1] + u2 * s0 - u0 * s2 + o2 * c0 - o0 * c2 - g1
        x2 = vectors[3, k, 2] + u0 * s1 - u1 * s0 + o0 * c1 - o1 * c0 - g2
        # to body axes
        a0 = r00 * x0 + r10 * x1 + r20 * x2
        a1 = r01 * x0 + r11 * x1 + r21 * x2
        a2 = r02 * x0 + r12 * x1 + r22 * x2
        w0 = r00 * o0 + r10 * o1 + r20 * o2
        w1 = r01 * o0 + r11 * o1 + r21 * o2
        w2 = r02 * o0 + r12 * o1 + r22 * o2
        e0 = r00 * u0 + r10 * u1 + r20 * u2
        e1 = r01 * u0 + r11 * u1 + r21 * u2
        e2 = r02 * u0 + r12 * u1 + r22 * u2
        w00, w11, w22 = w0 * w0, w1 * w1, w2 * w2
        w01, w02, w12 = w0 * w1, w0 * w2, w1 * w2
        for i in range(first, last):
            y = d.reach[i]
            h0, h1, h2 = partial_omega[y, k, 0], partial_omega[y, k, 1], partial_omega[y, k, 2]
            x0 = partial_velocity[y, k, 0] + h1 * s2 - h2 * s1
            x1 = partial_velocity[y, k, 1] + h2 * s0 - h0 * s2
            x2 = partial_velocity[y, k, 2] + h0 * s1 - h1 * s0
            v0 = r00 * x0 + r10 * x1 + r20 * x2
            v1 = r01 * x0 + r11 * x1 + r21 * x2
            v2 = r02 * x0 + r12 * x1 + r22 * x2
            q0 = r00 * h0 + r10 * h1 + r20 * h2
            q1 = r01 * h0 + r11 * h1 + r21 * h2
            q2 = r02 * h0 + r12 * h1 + r22 * h2
            c = 10 * b
            W[y, c] = v0 * a0 + v1 * a1 + v2 * a2
            W[y, c + 1] = -v0 * (w11 + w22) + v1 * (e2 + w01) + v2 * (w02 - e1) - q1 * a2 + q2 * a1
            W[y, c + 2] = v0 * (w01 - e2) - v1 * (w00 + w22) + v2 * (e0 + w12) + q0 * a2 - q2 * a0
            W[y, c + 3] = v0 * (e1 + w02) + v1 * (w12 - e0) - v2 * (w00 + w11) - q0 * a1 + q1 * a0
            W[y, c + 4] = q0 * e0 + q1 * w02 - q2 * w01
            W[y, c + 5] = q0 * (e1 - w02) + q1 * (e0 + w12) + q2 * (w00 - w11)
            W[y, c + 6] = q0 * (e2 + w01) + q1 * (w22 - w00) + q2 * (e0 - w12)
            W[y, c + 7] = -q0 * w12 + q1 * e1 + q2 * w01
            W[y, c + 8] = q0 * (w11 - w22) + q1 * (e2 - w01) + q2 * (e1 + w02)
            W[y, c + 9] = q0 * w12 - q1 * w02 + q2 * e2
