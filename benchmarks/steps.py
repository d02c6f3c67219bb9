"""Where the time of one sample goes: the kernels of the closure, each timed by itself.

Every function runs kernels over the poses of a solved motion. They are compiled here, which takes
a few seconds, for this purpose only.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from report import best_of_each

from mechid.kinematics.kernels.closure import (
    LAST_STEP,
    ORIGIN,
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
from mechid.kinematics.kernels.rows import row_entries
from mechid.kinematics.motion import Motion, rates, solve_motion

compiled = njit(error_model="numpy")

WHOLE = "whole sample"


@compiled
def place(t, order, q, work):
    """Place links, markers and directions of every piece."""
    for k in range(q.shape[0]):
        for p in range(order.pieces.size):
            place_piece(t, order, order.pieces[p], q[k], work)


@compiled
def place_and_fill(t, order, q, work):
    """The same, then the entries of the rows by all columns of their paths."""
    origin = work.vectors[ORIGIN]
    for k in range(q.shape[0]):
        for p in range(order.pieces.size):
            piece = order.pieces[p]
            place_piece(t, order, piece, q[k], work)
            row_entries(
                t,
                order.items,
                piece.row_start,
                piece.row_end,
                origin,
                work.axes,
                work.markers,
                work.directions,
                work.entries,
            )


@compiled
def place_and_factor(t, order, q, work):
    """The same, then gather and factor the matrix of every piece."""
    for k in range(q.shape[0]):
        for p in range(order.pieces.size):
            place_piece(t, order, order.pieces[p], q[k], work)
            if order.pieces[p].column_end > order.pieces[p].column_start:
                factor_piece(t, order, p, work)


@compiled
def close_closed(t, order, y, q, work):
    """Newton's method from poses that are closed already: every piece is evaluated twice."""
    for k in range(q.shape[0]):
        close_sample(t, order, y[k], q[k], work)


@compiled
def solve(t, order, yd, out, bias, work):
    """Solve for speeds with the factors of the last pose."""
    for k in range(yd.shape[0]):
        solve_rates(t, order, yd[k], bias, out, work)


@compiled
def solve_admissible(t, order, n, R, work):
    """Solve for the admissible motions with the factors of the last pose."""
    for _ in range(n):
        admissible(t, order, R, work)


@compiled
def accelerate(t, v, zero, bias, work):
    """Velocities of all links and convective accelerations of all rows."""
    for k in range(v.shape[0]):
        convective(t, v[k], zero, bias, work)


@compiled
def count_evaluations(t, order, y, predicted, q, work):
    """Close poses from their predictions; return evaluations of pieces, and pieces.

    A piece whose steps together stay below LAST_STEP takes one of them, any other piece at least
    two, which is nearly always enough; each is evaluated once more than it takes steps.
    """
    evaluations, pieces = 0, 0
    for k in range(q.shape[0]):
        advance(t, q[k], predicted[k], 1.0)
        for i in range(t.direct.size):
            q[k, t.direct[i].q] = y[k, t.direct[i].driver]
        for p in range(order.pieces.size):
            if order.pieces[p].column_end == order.pieces[p].column_start:
                place_piece(t, order, order.pieces[p], q[k], work)
                continue
            _, moved, _ = close_piece(t, order, p, y[k], q[k], work)
            pieces += 1
            evaluations += 2 if moved < LAST_STEP else 3
    return evaluations, pieces


def evaluations_per_piece(motion: Motion) -> float:
    """Return how often a piece is evaluated per sample of a motion with times, on average."""
    t, order = motion.model.tables, motion.model.order
    maps = rates(motion)
    half = 0.5 * np.diff(motion.time) ** 2
    predicted = np.einsum("kvi,ki->kv", maps.R[:-1], np.diff(motion.y, axis=0))
    predicted += maps.bias[:-1] * half[:, None]
    q = motion.q[:-1].copy()
    work = make_work(t, order, q[0])
    evaluations, pieces = count_evaluations(t, order, motion.y[1:].copy(), predicted, q, work)
    return evaluations / max(pieces, 1)


def step_times(motion: Motion, repeat: int) -> dict[str, float]:
    """Return the time of each step, once for all pieces of a sample (s); keys as in the report.

    The whole solution is timed in turn with its steps, so that they compare.
    """
    t, order, y, q = motion.model.tables, motion.model.order, motion.y, motion.q.copy()
    n, n_v = motion.v.shape
    work = make_work(t, order, q[0])
    out, zero, R = np.zeros(n_v), np.zeros(n_v), np.zeros((y.shape[1], n_v))
    bias = np.zeros(t.rows.size)
    runs = [
        lambda: place(t, order, q, work),
        lambda: place_and_fill(t, order, q, work),
        lambda: place_and_factor(t, order, q, work),
        lambda: close_closed(t, order, y, q, work),
        lambda: solve(t, order, motion.yd, out, bias, work),
        lambda: accelerate(t, motion.v, zero, bias, work),
        lambda: solve_admissible(t, order, n, R, work),
        lambda: solve_motion(motion.model, y, motion.yd, motion.ydd, time=motion.time),
    ]
    placed, filled, factored, closed, solved, moved, all_solved, whole = (
        time / n for time in best_of_each(runs, repeat)
    )
    return {
        "place": placed,
        "fill": filled - placed,
        "factor": factored - filled,
        "errors, Newton step": 0.5 * closed - factored,
        "solve for speeds or accelerations": solved,
        "convective accelerations": moved,
        "admissible motions": all_solved,
        WHOLE: whole,
    }
