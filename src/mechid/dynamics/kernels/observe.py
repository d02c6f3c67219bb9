"""The observation matrix of many samples."""

from typing import NamedTuple

import numpy as np

from mechid.dynamics.kernels.measures import project_elements, project_known, read_measures
from mechid.dynamics.kernels.partials import place_partials
from mechid.dynamics.kernels.regressor import project_bodies
from mechid.kinematics.kernels.closure import OK, admissible, factor_sample, make_work
from mechid.kinematics.kernels.follow import copy_into, make_trail, next_sample, start_trail
from mechid.kinematics.kernels.jit import allocating_kernel, kernel
from mechid.kinematics.kernels.links import move_links


class Sight(NamedTuple):
    """Scratch arrays of the projection on n independent coordinates."""

    partial_velocity: np.ndarray  # (n, n_links, 3)
    partial_omega: np.ndarray
    values: np.ndarray  # (n_measures, 3)
    partial: np.ndarray  # (n_measures, n)


@allocating_kernel
def make_sight(t, d, n, like):
    """Return the arrays, with the number type of `like`."""
    return Sight(
        np.zeros((n, t.links.size, 3), dtype=like.dtype),
        np.zeros((n, t.links.size, 3), dtype=like.dtype),
        np.zeros((d.measures.size, 3), dtype=like.dtype),
        np.zeros((d.measures.size, n), dtype=like.dtype),
    )


@kernel
def observe_sample(t, d, q, v, vd, R, work, sight, W, known):
    """Fill W (n_i, p) and known (n_i,) of the sample whose poses are in work.

    W φ + known are the generalised forces of the independent coordinates. W must hold zeros on
    entry: blocks of bodies that a coordinate does not move are left alone.
    """
    velocity, omega = sight.partial_velocity, sight.partial_omega
    move_links(t, v, vd, work.vectors, work.axes)
    place_partials(t, d.reach_start, d.reach, R, work.vectors[0], work.axes, velocity, omega)
    project_bodies(d, work.rotation, work.vectors, velocity, omega, W)
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
    project_elements(d, 10 * d.body_link.size, sight.values, sight.partial, W)
    for y in range(known.size):
        known[y] = 0.0
    project_known(d, sight.values, sight.partial, known)


@allocating_kernel
def observe_batch(t, order, d, first, last, q, v, vd, W, known, ratio):
    """Fill W (N, n_i, p) and known (N, n_i) for closed poses q with their speeds.

    Of samples first … last - 1; `ratio` (N,) takes the smallest ratio of pivots.
    """
    n_i = known.shape[1]
    work = make_work(t, order, q[0])
    sight = make_sight(t, d, n_i, q[0])
    R = np.zeros((n_i, t.columns.size), dtype=q.dtype)
    for s in range(first, last):
        ratio[s] = factor_sample(t, order, q[s], work)
        admissible(t, order, R, work)
        W[s] = 0.0
        observe_sample(t, d, q[s], v[s], vd[s], R, work, sight, W[s], known[s])


@allocating_kernel
def observe_chunks(
    way,
    d,
    starts,
    first,
    last,
    y,
    yd,
    ydd,
    dt,
    q_starts,
    y_starts,
    q,
    W,
    known,
    status,
    reach,
):
    """Close the loops as `solve_chunks` does, and fill W and known as well."""
    t, order = way.value
    work = make_work(t, order, q_starts[0])
    trail = make_trail(t, y.shape[1], q_starts[0])
    sight = make_sight(t, d, y.shape[1], q_starts[0])
    for i in range(first, last):
        k = starts[i]
        status[k] = start_trail(t, order, y_starts[i], q_starts[i], trail, work)
        while k < starts[i + 1] and status[k] == OK:
            status[k], reach[k] = next_sample(t, order, y[k], yd[k], ydd[k], dt[k], trail, work)
            if status[k] == OK:
                copy_into(trail.q, q[k])
                W[k] = 0.0
                observe_sample(
                    t, d, trail.q, trail.v, trail.vd, trail.R, work, sight, W[k], known[k]
                )
                k += 1
