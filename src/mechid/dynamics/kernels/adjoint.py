"""Reverse mode through the closure: gradients of Σ G W + Σ g known by y, ẏ and ÿ.

With q, v = R ẏ, v̇ = R ÿ + b and R themselves, the sum is a function of an open tree, and its
derivatives are wrenches on links (`pull.py`). Loops add rows, from which b, R and q follow: each is
weighed by a transposed solution and pulls at the links in its turn.
"""

import numpy as np

from mechid.dynamics.kernels.adjoint_bodies import adjoint_bodies
from mechid.dynamics.kernels.adjoint_links import (
    along,
    by_coordinates,
    by_speeds,
    by_velocities,
    make_pull,
    sum_up,
    take_motion,
)
from mechid.dynamics.kernels.adjoint_measures import adjoint_measures, weigh_measures
from mechid.dynamics.kernels.adjoint_rows import adjoint_row_accelerations, adjoint_row_speeds
from mechid.dynamics.kernels.measures import read_measures
from mechid.dynamics.kernels.observe import make_sight
from mechid.dynamics.kernels.partials import place_partials
from mechid.kinematics.kernels.closure import admissible, factor_sample, make_work
from mechid.kinematics.kernels.jit import allocating_kernel, kernel
from mechid.kinematics.kernels.links import move_links
from mechid.kinematics.kernels.transposed import weigh_driven_rows, weigh_rows


@kernel
def negate_rows(rows, first, last):
    """Turn the sign of columns: rows are taken from the function."""
    for r in range(rows.shape[0]):
        for i in range(first, last):
            rows[r, i] = -rows[r, i]


@kernel
def adjoint_open_tree(t, d, q, v, vd, R, G, g, work, sight, pull, by_y):
    """Enter the function as a function of the motion of the links, whatever makes them move so."""
    n = by_y.size
    velocity, omega = sight.partial_velocity, sight.partial_omega
    move_links(t, v, vd, work.vectors, work.axes)
    place_partials(t, d.reach_start, d.reach, R, work.vectors[0], work.axes, velocity, omega)
    take_motion(t, d, work.axes, work.vectors, velocity, omega, pull)
    adjoint_bodies(d, n, work.rotation, work.vectors, G, pull)
    read_measures(
        d,
        q,
        v,
        vd,
        R,
        work.rotation,
        work.vectors,
        velocity,
        omega,
        sight.values,
        sight.partial,
    )
    weigh_measures(d, n, sight.values, sight.partial, G, g, pull.measures)
    adjoint_measures(d, n, work.rotation, work.vectors, sight.partial, pull, by_y)


@kernel
def adjoint_sample(t, order, d, q, v, vd, yd, R, G, g, work, sight, pull, by_y, by_yd, by_ydd):
    """Fill the gradients (n,) for G (n, p) and g (n,) of the sample whose factors are in work."""
    n = by_y.size
    for i in range(n):
        by_y[i] = 0.0
    adjoint_open_tree(t, d, q, v, vd, R, G, g, work, sight, pull, by_y)
    # accelerations: v̇ = R ÿ + b, with b from the rows
    sum_up(t, n + 1, n + 2, pull)
    by_speeds(t, n + 1, n + 2, pull)
    along(R, pull.tree, n + 1, by_ydd)
    weigh_rows(t, order, pull.tree, n + 1, pull.rows, work)
    negate_rows(pull.rows, n + 1, n + 2)
    adjoint_row_accelerations(t, n, work.markers, work.directions, pull)
    # speeds: v = R ẏ
    sum_up(t, n, n + 2, pull)
    by_velocities(t, n, pull)
    along(R, pull.tree, n, by_yd)
    # admissible motions
    sum_up(t, 0, n, pull)
    by_speeds(t, 0, n, pull)
    for i in range(n):
        for c in range(t.columns.size):
            pull.tree[i, c] += yd[i] * pull.tree[n, c]
    weigh_driven_rows(t, order, n, pull.tree, pull.rows, work)
    negate_rows(pull.rows, 0, n)
    adjoint_row_speeds(t, n, work.markers, work.directions, pull)
    # coordinates
    sum_up(t, 0, n, pull)
    sum_up(t, n + 2, n + 3, pull)
    by_coordinates(t, d, n, R, pull, by_y)


@allocating_kernel
def adjoint_batch(t, order, d, first, last, q, v, vd, yd, G, g, by_y, by_yd, by_ydd, ratio):
    """Fill the gradients (N, n_i) for G (N, n_i, p) and g (N, n_i), at closed poses with speeds.

    Of samples first … last - 1; `ratio` (N,) takes the smallest ratio of pivots.
    """
    n = yd.shape[1]
    work = make_work(t, order, q[0])
    sight = make_sight(t, d, n, q[0])
    pull = make_pull(t, d, n)
    R = np.zeros((n, t.columns.size))
    for s in range(first, last):
        ratio[s] = factor_sample(t, order, q[s], work)
        admissible(t, order, R, work)
        adjoint_sample(
            t,
            order,
            d,
            q[s],
            v[s],
            vd[s],
            yd[s],
            R,
            G[s],
            g[s],
            work,
            sight,
            pull,
            by_y[s],
            by_yd[s],
            by_ydd[s],
        )
