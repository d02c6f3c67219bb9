"""Where the time of one sample goes: the kernels of the closure, each timed by itself.

Every function runs kernels over the samples of a solved motion. They are compiled here, which
takes a few seconds, for this purpose only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numba import njit
from report import Run

from mechid.kinematics.kernels.closure import (
    ORIGIN,
    admissible,
    close_sample,
    convective,
    factor_piece,
    make_work,
    place_piece,
    solve_bias,
)
from mechid.kinematics.kernels.links import advance
from mechid.kinematics.kernels.rows import row_entries
from mechid.kinematics.motion import Motion, rates, solve_motion
from mechid.kinematics.tables import Floats

compiled = njit(error_model="numpy")

Timer = Callable[[Sequence[Run]], list[float]]


@compiled
def place(t, order, q, work):
    """Place links, markers and directions of every piece."""
    for k in range(q.shape[0]):
        for p in range(order.pieces.size):
            place_piece(t, order, order.pieces[p], q[k], work)


@compiled
def place_and_fill(t, order, q, work):
    """The same, then the rates of every row by the columns that move it."""
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
def close(t, order, y, steps, q, pose, work):
    """Close every sample but the first from its prediction, by Newton's method."""
    for k in range(q.shape[0] - 1):
        for i in range(pose.size):
            pose[i] = q[k, i]
        advance(t, pose, steps[k], 1.0)
        close_sample(t, order, y[k + 1], pose, -1.0, work)


@compiled
def solve(t, order, n, out, bias, work):
    """Solve for convective accelerations with the factors of the last pose."""
    for _ in range(n):
        solve_bias(t, order, bias, out, work)


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


def predictions(motion: Motion) -> Floats:
    """Return the steps in speeds from each sample to the prediction of the next, (N - 1, n_v)."""
    maps = rates(motion)
    half = 0.5 * np.diff(motion.time) ** 2
    straight = np.einsum("kvi,ki->kv", maps.R[:-1], np.diff(motion.y, axis=0))
    return straight + maps.bias[:-1] * half[:, None]


def step_times(motion: Motion, best_of_each: Timer) -> dict[str, float]:
    """Return the time per sample of each step, done once (s), and of the whole solution.

    All take turns, so that they compare. `fill` and `factor` are differences.
    """
    t, order, q = motion.model.tables, motion.model.order, motion.q
    n, n_v = motion.v.shape
    steps, pose = predictions(motion), q[0].copy()
    work = make_work(t, order, pose)
    out, zero, R = np.zeros(n_v), np.zeros(n_v), np.zeros((motion.y.shape[1], n_v))
    bias = np.zeros(t.rows.size)
    runs = {
        "place": lambda: place(t, order, q, work),
        "fill": lambda: place_and_fill(t, order, q, work),
        "factor": lambda: place_and_factor(t, order, q, work),
        "close": lambda: close(t, order, motion.y, steps, q, pose, work),
        "solve": lambda: solve(t, order, n, out, bias, work),
        "convective": lambda: accelerate(t, motion.v, zero, bias, work),
        "admissible": lambda: solve_admissible(t, order, n, R, work),
        "whole": lambda: solve_motion(
            motion.model, motion.y, motion.yd, motion.ydd, time=motion.time
        ),
    }
    times = best_of_each(list(runs.values()))
    found = {name: time / n for name, time in zip(runs, times, strict=True)}
    found["factor"] -= found["fill"]
    found["fill"] -= found["place"]
    return found
