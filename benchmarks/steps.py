"""Where the time of one sample goes: the kernels of the closure, each timed by itself.

Every function runs one kernel over the poses of a solved motion; they are compiled here, at a
price of a few seconds, and only for this purpose.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mechid.kinematics.kernels.closure import (
    LAST_STEP,
    admissible,
    close_piece,
    close_sample,
    convective,
    factor_piece,
    make_work,
    place_piece,
    solve_rates,
)
from mechid.kinematics.kernels.links import advance
from mechid.kinematics.motion import Motion, rates
from report import best

compiled = njit(error_model="numpy")


@compiled
def place_only(t, order, y, q, work):
    """Place links, markers and directions of every piece."""
    for k in range(q.shape[0]):
        for p in range(order.pieces.size):
            place_piece(t, order, order.pieces[p], q[k], work)


@compiled
def place_and_factor(t, order, y, q, work):
    """The same, then fill and factor the matrix of every piece."""
    for k in range(q.shape[0]):
        for p in range(order.pieces.size):
            place_piece(t, order, order.pieces[p], q[k], work)
            if order.pieces[p].column_end > order.pieces[p].column_start:
                factor_piece(t, order, p, work)


@compiled
def close_closed(t, order, y, q, work):
    """Newton's method from a pose that is closed already: one step, two matrices."""
    for k in range(q.shape[0]):
        close_sample(t, order, y[k], q[k], work)


@compiled
def solve_only(t, order, y, q, out, bias, work):
    """Solve for speeds (or accelerations) with the factors of the last pose."""
    for k in range(q.shape[0]):
        solve_rates(t, order, y[k], bias, out, work)


@compiled
def admissible_only(t, order, q, R, work):
    """Solve for the admissible motions with the factors of the last pose."""
    for _ in range(q.shape[0]):
        admissible(t, order, R, work)


@compiled
def convective_only(t, q, out, bias, zero, work):
    """Velocities of all links and the convective accelerations of the rows."""
    for _ in range(q.shape[0]):
        convective(t, out, zero, bias, work)


@compiled
def count_matrices(t, order, y, steps, q, work):
    """Count matrices and unknown-carrying pieces on the way from predictions to closed poses.

    A piece whose steps together stay below LAST_STEP takes one step, any other one at least two;
    each takes one matrix more than steps.
    """
    matrices, pieces = 0, 0
    for k in range(q.shape[0]):
        advance(t, q[k], steps[k], 1.0)
        for i in range(t.direct.size):
            q[k, t.direct[i].q] = y[k, t.direct[i].driver]
        for p in range(order.pieces.size):
            if order.pieces[p].column_end == order.pieces[p].column_start:
                place_piece(t, order, order.pieces[p], q[k], work)
                continue
            _, moved, _ = close_piece(t, order, p, y[k], q[k], work)
            pieces += 1
            matrices += 2 if moved < LAST_STEP else 3
    return matrices, pieces


def matrices_per_piece(motion: Motion) -> float:
    """Return how many matrices the closure of a piece takes per sample, at least."""
    model = motion.model
    t, order = model.tables, model.order
    dt = np.diff(motion.time)
    y, ydd = motion.y, motion.ydd
    maps = rates(motion)
    bend = maps.bias[:-1] * (0.5 * dt * dt)[:, None]
    steps = np.einsum("kvi,ki->kv", maps.R[:-1], np.diff(y, axis=0)) + bend
    work = make_work(t, order, motion.q[0])
    del ydd
    matrices, pieces = count_matrices(
        t, order, y[1:].copy(), np.ascontiguousarray(steps), motion.q[:-1].copy(), work
    )
    return matrices / max(pieces, 1)


def step_times(motion: Motion, repeat: int) -> dict[str, float]:
    """Return seconds per sample of each step; the keys are what the report prints."""
    model = motion.model
    t, order, y, q = model.tables, model.order, motion.y, motion.q.copy()
    work = make_work(t, order, q[0])
    n_v, n_i = motion.v.shape[1], y.shape[1]
    out, zero, R = np.zeros(n_v), np.zeros(n_v), np.zeros((n_i, n_v))
    bias = np.zeros(t.rows.size)

    def per_sample(run) -> float:
        return best(run, repeat) / len(q)

    place = per_sample(lambda: place_only(t, order, y, q, work))
    matrix = per_sample(lambda: place_and_factor(t, order, y, q, work))
    close = per_sample(lambda: close_closed(t, order, y, q, work))
    solve = per_sample(lambda: solve_only(t, order, motion.yd, q, out, bias, work))
    return {
        "place": place,
        "fill and factor": matrix - place,
        "rest of a Newton step": close - 2 * matrix,
        "solve once": solve,
        "admissible": per_sample(lambda: admissible_only(t, order, q, R, work)),
        "convective": per_sample(lambda: convective_only(t, q, motion.v[-1], bias, zero, work)),
    }
