"""Continuation: from one pose to another without leaving the branch."""

import numpy as np
from numba import prange

from mechid.kinematics.kernels.closure import (
    CROSSED,
    NOT_CLOSED,
    OK,
    admissible,
    close_sample,
    convective,
    crossed,
    make_work,
    remember,
    solve_rates,
)
from mechid.kinematics.kernels.jit import allocating_kernel, kernel, parallel_kernel
from mechid.kinematics.kernels.links import advance
from mechid.kinematics.tables import ALONE

# A prediction is not longer than this many radians, or parts of the mechanism's size: a longer one
# might go round the wrong way, or end on another branch.
LONGEST_PREDICTION = 0.3
# The correction after a prediction, and the change of the tangent from one end of a step to the
# other, may be this part of the predicted step (and rounding more). A larger one means that the
# prediction cannot be trusted to stay on the branch: tangents of branches that meet differ.
TRUSTED_PART = 0.5
TRUSTED_SIZE = 1e-8
# A step that is both this part of the way and this short is not halved any more.
SHORTEST_PART = 1.0 / 4096.0
SHORTEST_STEP = 1e-6


@kernel
def copy_into(source, target):
    """Copy an array; slices would need temporary arrays, which plain kernels cannot have."""
    for i in range(target.size):
        target[i] = source[i]


@kernel
def predict(t, order, R, y_from, y_to, part, step):
    """Fill step (n_v,) with a part of the way along the tangent.

    Returns its dimensionless size, and that in the details of the equations. Coordinates that no
    equation reads, such as the spin of a wheel, do not count.
    """
    size, detailed = 0.0, 0.0
    for c in range(step.size):
        step[c] = 0.0  # not 0 times what it was, which may be nan
        for i in range(y_to.size):
            step[c] += R[i, c] * (y_to[i] - y_from[i]) * part
        if order.columns[c].piece != ALONE:
            x = abs(step[c]) / t.columns[c].scale
            size = max(size, x)
            detailed = max(detailed, x / t.columns[c].detail)
    return size, detailed


@kernel
def turned(t, order, R, R_new, y_from, y_to, part):
    """Dimensionless change of the predicted step from one tangent to another."""
    size = 0.0
    for c in range(R.shape[1]):
        if order.columns[c].piece != ALONE:
            x = 0.0
            for i in range(y_to.size):
                x += (R_new[i, c] - R[i, c]) * (y_to[i] - y_from[i]) * part
            size = max(size, abs(x) / t.columns[c].scale)
    return size


@kernel
def follow(t, order, y_from, y_to, bend, q, R, R_new, step, y, work):
    """Carry q, a closed pose at y_from, along the straight line to y_to.

    On entry R holds the admissible motions at q; on exit those at the new pose. `bend` (n_v,) is a
    second-order correction of the first prediction (half the convective acceleration times dt²),
    or zero. Returns (status, fraction reached, pivot ratio); q is the last pose reached.
    """
    reached, part = 0.0, 1.0
    ratio = 1.0
    refused = OK  # the first reason since the last accepted step
    while reached < 1.0:
        part = min(part, 1.0 - reached)
        size, detailed = predict(t, order, R, y_from, y_to, part, step)
        if detailed > LONGEST_PREDICTION:
            part *= LONGEST_PREDICTION / detailed
            size, detailed = predict(t, order, R, y_from, y_to, part, step)
        elif part == 1.0:
            for c in range(step.size):
                step[c] += bend[c]
        target = 1.0 if reached + part >= 1.0 else reached + part
        for i in range(y.size):
            y[i] = y_to[i] if target == 1.0 else y_from[i] + target * (y_to[i] - y_from[i])
        copy_into(q, work.trial)
        advance(t, work.trial, step, 1.0)
        status, moved, ratio = close_sample(t, order, y, work.trial, work)
        if status == OK and crossed(order, work):
            status = CROSSED
        trusted = TRUSTED_PART * size + TRUSTED_SIZE
        accepted = status == OK and moved <= trusted
        if accepted:
            admissible(t, order, R_new, work)
            accepted = turned(t, order, R, R_new, y_from, y_to, part) <= trusted
        if accepted:
            copy_into(work.trial, q)
            for i in range(y.size):
                copy_into(R_new[i], R[i])
            remember(order, work)
            reached = target
            part *= 2.0
            refused = OK
        else:
            if refused == OK:
                refused = status
            part *= 0.5
            if part < SHORTEST_PART and 0.5 * size < SHORTEST_STEP:
                return max(refused, NOT_CLOSED), reached, ratio
    return OK, reached, ratio


@kernel
def finish_sample(t, order, yd, ydd, v, vd, zero, bias, work):
    """Speeds and accelerations of the pose whose factors are in work."""
    bias[:] = 0.0
    solve_rates(t, order, yd, bias, v, work)
    convective(t, v, zero, bias, work)
    solve_rates(t, order, ydd, bias, vd, work)


@allocating_kernel
def solve_chunk(t, order, first, last, y, yd, ydd, dt, q_start, y_start, q, v, vd, status, reach):
    """Solve samples first … last - 1 in order, from a closed pose q_start at y_start."""
    n_columns = t.columns.size
    work = make_work(t, order, q_start)
    pose = q_start.copy()
    R = np.zeros((y.shape[1], n_columns), dtype=pose.dtype)
    R_new = np.zeros((y.shape[1], n_columns), dtype=pose.dtype)
    step = np.zeros(n_columns, dtype=pose.dtype)
    bend = np.zeros(n_columns, dtype=pose.dtype)
    target = np.zeros(y.shape[1], dtype=pose.dtype)
    bias = np.zeros(t.rows.size, dtype=pose.dtype)
    zero = np.zeros(n_columns, dtype=pose.dtype)
    y_from = y_start.copy()
    code, _, _ = close_sample(t, order, y_from, pose, work)
    if code != OK:
        status[first] = code
        return
    remember(order, work)
    admissible(t, order, R, work)
    for k in range(first, last):
        code, reached, ratio = follow(
            t, order, y_from, y[k], bend, pose, R, R_new, step, target, work
        )
        reach[k] = reached if code != OK else ratio
        status[k] = code
        if code != OK:
            return
        copy_into(pose, q[k])
        finish_sample(t, order, yd[k], ydd[k], v[k], vd[k], zero, bias, work)
        copy_into(y[k], y_from)
        # Prediction of the next sample: R δy + (v̇ - R ÿ) dt²/2, exact to second order.
        half = 0.5 * dt[k] * dt[k]
        for c in range(n_columns):
            x = vd[k, c]
            for i in range(y.shape[1]):
                x -= R[i, c] * ydd[k, i]
            bend[c] = x * half


@parallel_kernel
def solve_ordered(t, order, starts, y, yd, ydd, dt, q_starts, y_starts, q, v, vd, status, reach):
    """Solve consecutive chunks in parallel; chunk i covers starts[i] … starts[i + 1] - 1."""
    for i in prange(starts.size - 1):
        solve_chunk(
            t,
            order,
            starts[i],
            starts[i + 1],
            y,
            yd,
            ydd,
            dt,
            q_starts[i],
            y_starts[i],
            q,
            v,
            vd,
            status,
            reach,
        )


@kernel
def rates_at(t, order, y, yd, ydd, q, v, vd, R, b, zero, bias, work):
    """Close exactly from a pose that is closed already; fill v, v̇, R and the bias v̇ - R ÿ."""
    code, _, ratio = close_sample(t, order, y, q, work)
    admissible(t, order, R, work)
    finish_sample(t, order, yd, ydd, v, vd, zero, bias, work)
    for c in range(v.size):
        x = vd[c]
        for i in range(y.size):
            x -= R[i, c] * ydd[i]
        b[c] = x
    return code, ratio


@parallel_kernel
def rates_batch(t, order, y, yd, ydd, q, v, vd, R, b, ratio):
    """`rates_at` for every sample, in parallel chunks."""
    n = y.shape[0]
    n_chunks = min(n, 64)
    for i in prange(n_chunks):
        work = make_work(t, order, q[0])
        bias = np.zeros(t.rows.size, dtype=q.dtype)
        zero = np.zeros(t.columns.size, dtype=q.dtype)
        for k in range(i * n // n_chunks, (i + 1) * n // n_chunks):
            _, ratio[k] = rates_at(
                t, order, y[k], yd[k], ydd[k], q[k], v[k], vd[k], R[k], b[k], zero, bias, work
            )
