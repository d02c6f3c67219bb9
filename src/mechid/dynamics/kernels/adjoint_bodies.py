"""Wrenches of the inertial columns: Σ_j V_j · f_j + Ω_j · n_j, with G_j in place of φ."""

from mechid.dynamics.kernels.bodies import body_pose
from mechid.dynamics.kernels.screws import (
    add,
    at_point,
    couple,
    cross,
    force_at,
    inner,
    minus,
    plus,
    screw,
    sum_of,
    times,
    vector,
)
from mechid.kinematics.kernels.jit import inlined_kernel, kernel


@inlined_kernel
def _to_body(C, x):
    return (
        C[0] * x[0] + C[3] * x[1] + C[6] * x[2],
        C[1] * x[0] + C[4] * x[1] + C[7] * x[2],
        C[2] * x[0] + C[5] * x[1] + C[8] * x[2],
    )


@inlined_kernel
def _to_ground(C, x):
    return (
        C[0] * x[0] + C[1] * x[1] + C[2] * x[2],
        C[3] * x[0] + C[4] * x[1] + C[5] * x[2],
        C[6] * x[0] + C[7] * x[1] + C[8] * x[2],
    )


@inlined_kernel
def _inertia(G, y, c, x):
    """Product of the tensor at G[y, c] with x."""
    return (
        G[y, c] * x[0] + G[y, c + 1] * x[1] + G[y, c + 2] * x[2],
        G[y, c + 1] * x[0] + G[y, c + 3] * x[1] + G[y, c + 4] * x[2],
        G[y, c + 2] * x[0] + G[y, c + 4] * x[1] + G[y, c + 5] * x[2],
    )


@kernel
def adjoint_bodies(d, n, rotation, vectors, G, pull):
    """Enter the derivatives of Σ G W over the columns of all bodies.

    All in body axes: force f = m a + E c with E = [α] + [ω]², moment n = c × a + I α + ω × I ω. The
    derivatives by a, α and ω are sums over j; those by V_j and Ω_j are f and n themselves. The body
    rides on its link, so nothing else depends on the pose.
    """
    pole = vector(pull.pole, 0)
    for b in range(d.body_link.size):
        k = d.body_link[b]
        first, last = d.reach_start[k], d.reach_start[k + 1]
        if first == last:
            continue
        r00, r01, r02, r10, r11, r12, r20, r21, r22, s0, s1, s2 = body_pose(d, b, rotation)
        C = (r00, r01, r02, r10, r11, r12, r20, r21, r22)
        arm = plus(minus(vector(vectors[0], k), pole), (s0, s1, s2))
        T = screw(pull.twists, k, n)
        rate = at_point(screw(pull.twists, k, n + 1), arm)
        velocity = at_point(T, arm)
        a = _to_body(C, plus(rate, cross(T[0], velocity)))
        w = _to_body(C, T[0])
        u = _to_body(C, screw(pull.twists, k, n + 1)[0])
        ww = inner(w, w)
        E0 = (w[0] * w[0] - ww, w[0] * w[1] - u[2], w[0] * w[2] + u[1])
        E1 = (w[1] * w[0] + u[2], w[1] * w[1] - ww, w[1] * w[2] - u[0])
        E2 = (w[2] * w[0] - u[1], w[2] * w[1] + u[0], w[2] * w[2] - ww)
        by_a = by_u = by_w = (0.0, 0.0, 0.0)
        Q0 = Q1 = Q2 = (0.0, 0.0, 0.0)  # derivatives by E
        for i in range(first, last):
            y = d.reach[i]
            P = screw(pull.twists, k, y)
            v, q = _to_body(C, at_point(P, arm)), _to_body(C, P[0])
            c = 10 * b
            m, mc = G[y, c], (G[y, c + 1], G[y, c + 2], G[y, c + 3])
            Iw, Iu = _inertia(G, y, c + 4, w), _inertia(G, y, c + 4, u)
            force = plus(times(m, a), (inner(E0, mc), inner(E1, mc), inner(E2, mc)))
            moment = plus(plus(cross(mc, a), Iu), cross(w, Iw))
            force, moment = _to_ground(C, force), _to_ground(C, moment)
            add(pull.own, k, y, sum_of(force_at(arm, force), couple(moment)))
            by_a = plus(by_a, plus(times(m, v), cross(q, mc)))
            by_u = plus(by_u, _inertia(G, y, c + 4, q))
            by_w = plus(by_w, plus(cross(Iw, q), _inertia(G, y, c + 4, cross(q, w))))
            Q0, Q1, Q2 = (
                plus(Q0, times(v[0], mc)),
                plus(Q1, times(v[1], mc)),
                plus(Q2, times(v[2], mc)),
            )
        by_u = plus(by_u, (Q2[1] - Q1[2], Q0[2] - Q2[0], Q1[0] - Q0[1]))
        by_w = plus(by_w, (inner(Q0, w), inner(Q1, w), inner(Q2, w)))
        by_w = plus(by_w, plus(plus(times(w[0], Q0), times(w[1], Q1)), times(w[2], Q2)))
        by_w = minus(by_w, times(2.0 * (Q0[0] + Q1[1] + Q2[2]), w))
        # The acceleration of the origin is that of the twist plus ω × velocity. What is left of
        # velocity and acceleration together is a moment.
        by_a = _to_ground(C, by_a)
        add(pull.own, k, n + 1, sum_of(force_at(arm, by_a), couple(_to_ground(C, by_u))))
        moment = _to_ground(C, plus(by_w, cross(w, by_u)))
        add(pull.own, k, n, couple(plus(moment, times(2.0, cross(velocity, by_a)))))
