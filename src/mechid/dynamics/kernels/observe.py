"""The observation matrix of many samples, in parallel."""

import numpy as np
from numba import prange

from mechid.dynamics.kernels.measures import (
    project_elements,
    project_known,
    project_loads,
    read_measures,
)
from mechid.dynamics.kernels.partials import place_partials
from mechid.dynamics.kernels.regressor import project_bodies
from mechid.kinematics.kernels.closure import admissible, factor_sample, make_work
from mechid.kinematics.kernels.jit import parallel_kernel
from mechid.kinematics.kernels.links import move_links


@parallel_kernel
def observe_batch(t, order, d, q, v, vd, W, known):
    """Fill W (N, n_i, p) and known (N, n_i) for closed poses q with their speeds.

    W φ + known are the generalised forces of the independent coordinates. W must hold zeros on
    entry: blocks of bodies that a coordinate does not move are left alone.
    """
    n, n_i = known.shape
    n_chunks = min(n, 64)
    n_measures = d.measures.size
    first = 10 * d.body_link.size
    for chunk in prange(n_chunks):
        work = make_work(t, order, q[0])
        R = np.zeros((n_i, t.columns.size), dtype=q.dtype)
        partial_velocity = np.zeros((n_i, t.links.size, 3), dtype=q.dtype)
        partial_omega = np.zeros((n_i, t.links.size, 3), dtype=q.dtype)
        values = np.zeros((n_measures, 3), dtype=q.dtype)
        partial = np.zeros((n_measures, n_i), dtype=q.dtype)
        load = np.zeros(n_i, dtype=q.dtype)
        for s in range(chunk * n // n_chunks, (chunk + 1) * n // n_chunks):
            factor_sample(t, order, q[s], work)
            admissible(t, order, R, work)
            move_links(t, v[s], vd[s], work.vectors, work.axes)
            place_partials(
                t,
                d.reach_start,
                d.reach,
                R,
                work.vectors[0],
                work.axes,
                partial_velocity,
                partial_omega,
            )
            project_bodies(d, work.rotation, work.vectors, partial_velocity, partial_omega, W[s])
            read_measures(
                d,
                q[s],
                v[s],
                vd[s],
                R,
                work.rotation,
                work.vectors,
                partial_velocity,
                partial_omega,
                values,
                partial,
            )
            project_elements(d, first, values, partial, W[s])
            project_loads(d, work.rotation, partial_velocity, partial_omega, load)
            for y in range(n_i):
                known[s, y] = -load[y]
            project_known(d, values, partial, known[s])
