"""Mass matrix and bias by partial accelerations, in any set of speeds.

The Gibbs function of a body is quadratic in the accelerations; its derivatives by the accelerations
need only the partial velocities of the body, which are recursive along the tree. With the speeds of
the tree this is the recursive Gibbs-Appell algorithm; with the independent speeds it gives the
reduced equations at once.
"""

from mechid.dynamics.kernels.bodies import body_pose, newton_euler
from mechid.dynamics.kernels.measures import element_factor
from mechid.kinematics.kernels.jit import kernel


@kernel
def body_equations(
    d, reach_start, reach, phi, rotation, vectors, partial_velocity, partial_omega, scratch, M, h
):
    """Add the bodies to the mass matrix M (n, n) and the bias h (n,).

    `reach` lists the speeds that move each link; phi (p,) are the parameters, ten per body first.
    `scratch` (n, 12) takes, for each speed, partial velocities in body axes and the momentum
    that a unit of it gives the body.
    """
    for b in range(d.body_link.size):
        k = d.body_link[b]
        first, last = reach_start[k], reach_start[k + 1]
        m = phi[10 * b]
        m0, m1, m2 = phi[10 * b + 1], phi[10 * b + 2], phi[10 * b + 3]
        i0, i1, i2 = phi[10 * b + 4], phi[10 * b + 5], phi[10 * b + 6]
        i3, i4, i5 = phi[10 * b + 7], phi[10 * b + 8], phi[10 * b + 9]
        pose = body_pose(d, b, rotation)
        r00, r01, r02, r10, r11, r12, r20, r21, r22, s0, s1, s2 = pose
        f0, f1, f2, n0, n1, n2 = newton_euler(d, b, phi, vectors, pose)
        for n in range(first, last):
            y = reach[n]
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
            h[y] += v0 * f0 + v1 * f1 + v2 * f2 + q0 * n0 + q1 * n1 + q2 * n2
            scratch[y, 0], scratch[y, 1], scratch[y, 2] = v0, v1, v2
            scratch[y, 3], scratch[y, 4], scratch[y, 5] = q0, q1, q2
            scratch[y, 6] = m * v0 + q1 * m2 - q2 * m1
            scratch[y, 7] = m * v1 + q2 * m0 - q0 * m2
            scratch[y, 8] = m * v2 + q0 * m1 - q1 * m0
            scratch[y, 9] = m1 * v2 - m2 * v1 + i0 * q0 + i1 * q1 + i2 * q2
            scratch[y, 10] = m2 * v0 - m0 * v2 + i1 * q0 + i3 * q1 + i4 * q2
            scratch[y, 11] = m0 * v1 - m1 * v0 + i2 * q0 + i4 * q1 + i5 * q2
        for n in range(first, last):
            y = reach[n]
            for j in range(first, n + 1):
                z = reach[j]
                x = (
                    scratch[y, 0] * scratch[z, 6]
                    + scratch[y, 1] * scratch[z, 7]
                    + scratch[y, 2] * scratch[z, 8]
                    + scratch[y, 3] * scratch[z, 9]
                    + scratch[y, 4] * scratch[z, 10]
                    + scratch[y, 5] * scratch[z, 11]
                )
                M[y, z] += x
                if y != z:
                    M[z, y] += x


@kernel
def element_equations(d, phi, values, partial, M, h):
    """Add the force elements: their forces to h, inertias to M too.

    The coefficients of element columns stand in phi after the ten of each body.
    """
    first = 10 * d.body_link.size
    for e in range(d.columns.size):
        _add_element(d.columns[e], phi[first + e], values, partial, M, h)
    for e in range(d.known.size):
        _add_element(d.known[e], d.known[e].known, values, partial, M, h)


@kernel
def _add_element(element, coefficient, values, partial, M, h):
    f, m = coefficient * element_factor(element, values), element.measure
    for y in range(h.size):
        h[y] += f * partial[m, y]
        if element.order == 2:
            for z in range(h.size):
                M[y, z] += coefficient * partial[m, y] * partial[m, z]


@kernel
def zero_equations(M, h):
    """Empty the mass matrix and the bias."""
    for i in range(h.size):
        h[i] = 0.0
        for j in range(h.size):
            M[i, j] = 0.0
