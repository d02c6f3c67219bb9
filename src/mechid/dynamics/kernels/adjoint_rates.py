"""Wrenches of scalars between two links a and b: rows of the closure, measures of elements.

The rate of such a scalar is w · (T_b - T_a) with a wrench w that depends on the pose, its second
derivative w · (A_b - A_a) + ẇ · (T_b - T_a). Four kinds of w serve all rows and measures:

- a pin, that is up to three fixed directions f through a point m of b: w = (m × f, f);
- an axis d through m: w = (pitch d + sense m × d, sense d); d rides on one link, m on another;
- the product of two directions: w = (d_b × d_a, 0);
- the line between two points: w = (m_b × e, e) with the unit vector e.

For each there are two functions. One enters Σ_j weights[r, j] × the rate per unit of speed j; the
other nu × the rate + mu × the second derivative. What w changes with the pose is pulled by the same
expressions in both, since both are w times some twist K: Σ_j weights[r, j] T_j, or nu T + mu A.

At closed poses these are the rows of the kinematics, and so are their derivatives along motions
that keep the loops closed; nothing else is asked for.
"""

import numpy as np

from mechid.dynamics.kernels.adjoint_links import adjoint_acceleration, adjoint_velocity
from mechid.dynamics.kernels.screws import (
    add,
    at_point,
    carried,
    couple,
    cross,
    difference,
    force_at,
    inner,
    minus,
    multiple,
    nothing,
    plus,
    screw,
    sum_of,
    times,
    vector,
)
from mechid.kinematics.kernels.jit import inlined_kernel, kernel


@inlined_kernel
def _spread(pull, a, b, n, weights, r, w):
    """Enter the wrench of each independent speed; return K of both links."""
    Ka = Kb = nothing()
    for j in range(n):
        x = weights[r, j]
        if x != 0.0:
            xw = multiple(x, w)
            add(pull.own, b, j, xw)
            add(pull.own, a, j, multiple(-1.0, xw))
            Ka = sum_of(Ka, multiple(x, screw(pull.twists, a, j)))
            Kb = sum_of(Kb, multiple(x, screw(pull.twists, b, j)))
    add(pull.own, b, n + 2, carried(Kb, w))
    add(pull.own, a, n + 2, multiple(-1.0, carried(Ka, w)))
    return Ka, Kb


@inlined_kernel
def _motion(pull, k, n, nu, mu):
    """K of the motion: nu T + mu A of link k."""
    T, A = screw(pull.twists, k, n), screw(pull.twists, k, n + 1)
    return sum_of(multiple(nu, T), multiple(mu, A))


@inlined_kernel
def _push(pull, a, b, n, nu, mu, w, w_rate):
    """Enter nu w + mu ẇ and mu w as derivatives by velocity and acceleration of both links."""
    by_velocity, by_acceleration = sum_of(multiple(nu, w), multiple(mu, w_rate)), multiple(mu, w)
    adjoint_velocity(pull, b, n, by_velocity)
    adjoint_acceleration(pull, b, n, by_acceleration)
    if a > 0:  # nothing is asked of the ground
        adjoint_velocity(pull, a, n, multiple(-1.0, by_velocity))
        adjoint_acceleration(pull, a, n, multiple(-1.0, by_acceleration))


@inlined_kernel
def _direction(pull, k, n, d, by_d):
    """Enter the derivative by a direction that rides on link k."""
    add(pull.own, k, n + 2, couple(cross(d, by_d)))


@inlined_kernel
def _moving_direction(pull, k, n, d, by_d, by_rate):
    """Enter the derivatives by a direction and by its rate ω × d."""
    omega = screw(pull.twists, k, n)[0]
    adjoint_velocity(pull, k, n, couple(cross(d, by_rate)))
    _direction(pull, k, n, d, plus(by_d, cross(by_rate, omega)))


@inlined_kernel
def _point(pull, k, n, m, by_m):
    """Enter the derivative by a point that rides on link k."""
    add(pull.own, k, n + 2, force_at(m, by_m))


@inlined_kernel
def _moving_point(pull, k, n, m, by_m, by_rate):
    """Enter the derivatives by a point and by its velocity."""
    omega = screw(pull.twists, k, n)[0]
    adjoint_velocity(pull, k, n, force_at(m, by_rate))
    _point(pull, k, n, m, plus(by_m, cross(by_rate, omega)))


# ---------------------------------------------------------------------- a pin


@kernel
def adjoint_pin_speeds(t, pull, n, weights, first, last, a, b, m):
    """Speeds of a point of b against the point of a in the same place, of rows first … last - 1.

    The forces of the rows are summed up before anything is done with them.
    """
    by_m = (0.0, 0.0, 0.0)
    for j in range(n):
        f = (0.0, 0.0, 0.0)
        for r in range(first, last):
            f = plus(f, times(weights[r, j], vector(t.row_vector, r)))
        w = force_at(m, f)
        Tb = screw(pull.twists, b, j)
        by_m = plus(by_m, cross(f, Tb[0]))
        add(pull.own, b, j, w)
        add(pull.own, b, n + 2, carried(Tb, w))
        if a > 0:  # nothing is asked of the ground
            Ta = screw(pull.twists, a, j)
            by_m = minus(by_m, cross(f, Ta[0]))
            add(pull.own, a, j, multiple(-1.0, w))
            add(pull.own, a, n + 2, multiple(-1.0, carried(Ta, w)))
    _point(pull, b, n, m, by_m)


@kernel
def adjoint_pin_motion(pull, n, a, b, f, m):
    """The same for the acceleration, with the sum f of all forces."""
    Ta, Tb = screw(pull.twists, a, n), screw(pull.twists, b, n)
    turn = minus(screw(pull.twists, b, n + 1)[0], screw(pull.twists, a, n + 1)[0])
    w, w_rate = force_at(m, f), couple(cross(at_point(Tb, m), f))
    _push(pull, a, b, n, 0.0, 1.0, w, w_rate)
    _moving_point(pull, b, n, m, cross(f, turn), cross(f, minus(Tb[0], Ta[0])))


# ---------------------------------------------------------------------- an axis through a point


@inlined_kernel
def _axis_wrench(pitch, sense, d, m):
    return plus(times(pitch, d), times(sense, cross(m, d))), times(sense, d)


@inlined_kernel
def _axis_pose(pitch, sense, d, m, K):
    """Derivatives of w · K by d and m."""
    by_d = plus(times(pitch, K[0]), times(sense, at_point(K, m)))
    return by_d, times(sense, cross(d, K[0]))


@kernel
def adjoint_axis_speeds(pull, n, weights, r, a, b, of_d, of_m, pitch, sense, d, m):
    """Speeds of b against a about and along an axis d of link of_d, through m of link of_m."""
    Ka, Kb = _spread(pull, a, b, n, weights, r, _axis_wrench(pitch, sense, d, m))
    by_d, by_m = _axis_pose(pitch, sense, d, m, difference(Kb, Ka))
    _direction(pull, of_d, n, d, by_d)
    _point(pull, of_m, n, m, by_m)


@kernel
def adjoint_axis_motion(pull, n, nu, mu, a, b, of_d, of_m, pitch, sense, d, m):
    """The same for velocity and acceleration."""
    K = difference(_motion(pull, b, n, nu, mu), _motion(pull, a, n, nu, mu))
    by_d, by_m = _axis_pose(pitch, sense, d, m, K)
    T = difference(screw(pull.twists, b, n), screw(pull.twists, a, n))
    d_rate = cross(screw(pull.twists, of_d, n)[0], d)
    m_rate = at_point(screw(pull.twists, of_m, n), m)
    w_rate = (
        plus(times(pitch, d_rate), times(sense, plus(cross(m_rate, d), cross(m, d_rate)))),
        times(sense, d_rate),
    )
    _push(pull, a, b, n, nu, mu, _axis_wrench(pitch, sense, d, m), w_rate)
    # derivatives of ẇ · T
    by_d = plus(by_d, times(mu * sense, cross(T[0], m_rate)))
    by_m = plus(by_m, times(mu * sense, cross(d_rate, T[0])))
    by_d_rate = times(mu, plus(times(pitch, T[0]), times(sense, at_point(T, m))))
    by_m_rate = times(mu * sense, cross(d, T[0]))
    _moving_direction(pull, of_d, n, d, by_d, by_d_rate)
    _moving_point(pull, of_m, n, m, by_m, by_m_rate)


# ---------------------------------------------------------------------- two directions


@kernel
def adjoint_dot_speeds(pull, n, weights, r, a, b, da, db):
    """Speeds at which the product of two directions grows."""
    Ka, Kb = _spread(pull, a, b, n, weights, r, couple(cross(db, da)))
    omega = minus(Kb[0], Ka[0])
    _direction(pull, b, n, db, cross(da, omega))
    _direction(pull, a, n, da, cross(omega, db))


@kernel
def adjoint_dot_motion(pull, n, nu, mu, a, b, da, db):
    """The same for velocity and acceleration."""
    K = minus(_motion(pull, b, n, nu, mu)[0], _motion(pull, a, n, nu, mu)[0])
    wa, wb = screw(pull.twists, a, n)[0], screw(pull.twists, b, n)[0]
    ra, rb = cross(wa, da), cross(wb, db)
    rate = plus(cross(rb, da), cross(db, ra))
    _push(pull, a, b, n, nu, mu, couple(cross(db, da)), couple(rate))
    x = times(mu, minus(wb, wa))
    _moving_direction(pull, b, n, db, plus(cross(da, K), cross(ra, x)), cross(da, x))
    _moving_direction(pull, a, n, da, plus(cross(K, db), cross(x, rb)), cross(x, db))


# ---------------------------------------------------------------------- a line between two points


@inlined_kernel
def _line_pose(ma, mb, e, length, Ka, Kb):
    """Derivatives of e · (velocity of b - velocity of a) by e and by the two points."""
    by_e = minus(at_point(Kb, mb), at_point(Ka, ma))
    by_x = times(1.0 / length, minus(by_e, times(inner(e, by_e), e)))
    return minus(cross(Ka[0], e), by_x), plus(by_x, cross(e, Kb[0]))


@kernel
def adjoint_line_speeds(pull, n, weights, r, a, b, ma, mb):
    """Speeds at which the distance of two points grows."""
    x = minus(mb, ma)
    length = np.sqrt(inner(x, x))
    e = times(1.0 / length, x)
    Ka, Kb = _spread(pull, a, b, n, weights, r, force_at(mb, e))
    by_a, by_b = _line_pose(ma, mb, e, length, Ka, Kb)
    _point(pull, a, n, ma, by_a)
    _point(pull, b, n, mb, by_b)


@kernel
def adjoint_line_motion(pull, n, nu, mu, a, b, ma, mb):
    """The same for velocity and acceleration.

    The second derivative is, with the velocity u of one point against the other and the rate
    ρ = e · u, that of the twists along e plus e · (ω_b × ṁ_b - ω_a × ṁ_a) + (u · u - ρ²) / length.
    """
    x = minus(mb, ma)
    length = np.sqrt(inner(x, x))
    e = times(1.0 / length, x)
    w = force_at(mb, e)
    by_a, by_b = _line_pose(
        ma, mb, e, length, _motion(pull, a, n, nu, mu), _motion(pull, b, n, nu, mu)
    )
    Ta, Tb = screw(pull.twists, a, n), screw(pull.twists, b, n)
    ra, rb = at_point(Ta, ma), at_point(Tb, mb)
    u = minus(rb, ra)
    rho = inner(e, u)
    f = mu / length
    by_u = times(2.0 * f, minus(u, times(rho, e)))
    by_e = times(mu, minus(cross(Tb[0], rb), cross(Ta[0], ra)))
    by_e = minus(by_e, times(2.0 * f * rho, u))
    by_x = times(1.0 / length, minus(by_e, times(inner(e, by_e), e)))
    by_x = minus(by_x, times(f * (inner(u, u) - rho * rho) / length, e))
    _push(pull, a, b, n, nu, mu, w, nothing())
    adjoint_velocity(pull, b, n, couple(times(mu, cross(rb, e))))
    adjoint_velocity(pull, a, n, couple(times(mu, cross(e, ra))))
    _moving_point(pull, b, n, mb, plus(by_b, by_x), plus(by_u, times(mu, cross(e, Tb[0]))))
    _moving_point(pull, a, n, ma, minus(by_a, by_x), minus(times(mu, cross(Ta[0], e)), by_u))
