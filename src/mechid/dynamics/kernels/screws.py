"""Twists and wrenches about a fixed point of space, the *pole*; vectors are tuples of three.

A twist (ω, u) holds the angular velocity of a link and the velocity of its point at the pole; a
wrench (n, f) a moment about the pole and a force. About one pole they add up without levers, and
the derivatives of all that rides on a link are products with its twist. Positions count from the
pole, which stands near the mechanism: far from the ground's origin nothing cancels.
"""

from mechid.kinematics.kernels.jit import inlined_kernel


@inlined_kernel
def plus(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inlined_kernel
def minus(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined_kernel
def times(x, a):
    """x a."""
    return x * a[0], x * a[1], x * a[2]


@inlined_kernel
def inner(a, b):
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined_kernel
def cross(a, b):
    """a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined_kernel
def vector(a, i):
    """Row i of an array (n, 3)."""
    return a[i, 0], a[i, 1], a[i, 2]


@inlined_kernel
def nothing():
    """Return the screw of zeros."""
    return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


@inlined_kernel
def screw(a, k, i):
    """Twist or wrench a[k, i] of an array (…, …, 6)."""
    return (a[k, i, 0], a[k, i, 1], a[k, i, 2]), (a[k, i, 3], a[k, i, 4], a[k, i, 5])


@inlined_kernel
def put(a, k, i, x):
    """Write a twist or wrench to a[k, i]."""
    a[k, i, 0], a[k, i, 1], a[k, i, 2] = x[0]
    a[k, i, 3], a[k, i, 4], a[k, i, 5] = x[1]


@inlined_kernel
def add(a, k, i, x):
    """Add a twist or wrench to a[k, i]."""
    put(a, k, i, sum_of(screw(a, k, i), x))


@inlined_kernel
def sum_of(a, b):
    """Sum of two screws."""
    return plus(a[0], b[0]), plus(a[1], b[1])


@inlined_kernel
def difference(a, b):
    """First screw less the second."""
    return minus(a[0], b[0]), minus(a[1], b[1])


@inlined_kernel
def multiple(x, a):
    """Screw a, times x."""
    return times(x, a[0]), times(x, a[1])


@inlined_kernel
def power(twist, wrench):
    """Power of a wrench on a twist."""
    return inner(twist[0], wrench[0]) + inner(twist[1], wrench[1])


@inlined_kernel
def at_point(twist, m):
    """Velocity of the point of a link that stands at m."""
    return plus(twist[1], cross(twist[0], m))


@inlined_kernel
def force_at(m, f):
    """Wrench of a force f whose line goes through m."""
    return cross(m, f), f


@inlined_kernel
def couple(n):
    """Wrench of a moment alone."""
    return n, (0.0, 0.0, 0.0)


@inlined_kernel
def carried(twist, wrench):
    """Rate of a wrench that rides on a link with this twist."""
    return (
        plus(cross(twist[0], wrench[0]), cross(twist[1], wrench[1])),
        cross(twist[0], wrench[1]),
    )
