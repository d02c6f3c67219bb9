"""Continuation: from one pose to another without leaving the branch."""

from typing import NamedTuple

import numpy as np

from mechid.kinematics.kernels.closure import (
    CROSSED,
    NOT_CLOSED,
    OK,
    SINGULAR,
    admissible,
    close_sample,
    convective,
    crossed,
    make_work,
    remember,
    solve_bias,
)
from mechid.kinematics.kernels.jit import allocating_kernel, kernel
from mechid.kinematics.kernels.links import advance

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
# More steps than that ahead: a body goes away without bound before the end of the way.
STEPS_AHEAD = 1e6
# Errors of the second-order prediction are extrapolated from sample to sample with up to so many
# differences; more of them would only add up rounding.
MOST_DIFFERENCES = 6


class Trail(NamedTuple):
    """Where a motion has come to, and what is known there to predict its next sample."""

    y: np.ndarray  # (n_i,)
    q: np.ndarray  # (n_q,)
    R: np.ndarray  # (n_i, n_v)
    v: np.ndarray  # (n_v,)
    vd: np.ndarray
    b: np.ndarray  # v̇ - R ÿ
    second: np.ndarray  # (n_v,) second-order part of the prediction
    bend: np.ndarray  # the same with the extrapolated error of the prediction
    differences: np.ndarray  # (MOST_DIFFERENCES, n_v) of these errors, backwards
    n_differences: np.ndarray  # (1,) how many of them are known
    R_new: np.ndarray  # scratch, as are the following
    step: np.ndarray
    target: np.ndarray
    bias: np.ndarray  # (n_rows,)
    zero: np.ndarray  # (n_v,)


@allocating_kernel
def make_trail(t, n, like):
    """Return the arrays for n independent coordinates, with the number type of `like`."""
    n_v = t.columns.size
    return Trail(
        np.zeros(n, dtype=like.dtype),
        np.zeros(like.size, dtype=like.dtype),
        np.zeros((n, n_v), dtype=like.dtype),
        np.zeros(n_v, dtype=like.dtype),
        np.zeros(n_v, dtype=like.dtype),
        np.zeros(n_v, dtype=like.dtype),
        np.zeros(n_v, dtype=like.dtype),
        np.zeros(n_v, dtype=like.dtype),
        np.zeros((MOST_DIFFERENCES, n_v), dtype=like.dtype),
        np.zeros(1, dtype=np.int64),
        np.zeros((n, n_v), dtype=like.dtype),
        np.zeros(n_v, dtype=like.dtype),
        np.zeros(n, dtype=like.dtype),
        np.zeros(t.rows.size, dtype=like.dtype),
        np.zeros(n_v, dtype=like.dtype),
    )


@kernel
def copy_into(source, target):
    """Copy an array; slices would need temporary arrays, which plain kernels cannot have."""
    for i in range(target.size):
        target[i] = source[i]


@kernel
def combine(R, rates, out):
    """Fill out (n_v,) with R · rates, the tree speeds of independent speeds."""
    for c in range(out.size):
        out[c] = 0.0
    for i in range(rates.size):
        x = rates[i]
        for c in range(out.size):
            out[c] += R[i, c] * x


@kernel
def predict(t, order, R, y_from, y_to, part, step):
    """Fill step (n_v,) with a part of the way along the tangent.

    Returns its dimensionless size, and that in the details of the equations. Coordinates that no
    equation reads, such as the spin of a wheel, do not count.
    """
    for c in range(step.size):
        step[c] = 0.0  # not 0 times what it was, which may be nan
    for i in range(y_to.size):
        x = (y_to[i] - y_from[i]) * part
        for c in range(step.size):
            step[c] += R[i, c] * x
    size, detailed = 0.0, 0.0
    for c in range(step.size):
        x = abs(step[c]) * order.columns[c].weight
        size = max(size, x)
        detailed = max(detailed, x / t.columns[c].detail)
    return size, detailed


@kernel
def turned(order, R, R_new, y_from, y_to, part, change):
    """Dimensionless change of the predicted step from one tangent to another.

    It is also filled into change (n_v,).
    """
    for c in range(change.size):
        change[c] = 0.0
    for i in range(y_to.size):
        x = (y_to[i] - y_from[i]) * part
        for c in range(change.size):
            change[c] += (R_new[i, c] - R[i, c]) * x
    return reading_size(order, change)


@kernel
def reading_size(order, step):
    """Dimensionless size of a step (n_v,), without the coordinates that no equation reads."""
    size = 0.0
    for c in range(step.size):
        size = max(size, abs(step[c]) * order.columns[c].weight)
    return size


@kernel
def follow(t, order, y_from, y_to, bend, q, R, R_new, step, y, work):
    """Carry q, a closed pose at y_from, along the straight line to y_to.

    On entry R holds the admissible motions at q, and work the factors there; on exit those at the
    new pose. `bend` (n_v,) corrects the first prediction (by half the convective acceleration times
    dt², and what else is known), or is zero; it becomes zero where it cannot be trusted.
    Returns (status, fraction reached, pivot ratio, number of steps); q is the last pose reached.
    """
    reached, part = 0.0, 1.0
    ratio = 1.0
    steps = 0
    factored = True  # the factors in work are those at q
    refused = OK  # the first reason since the last accepted step
    ahead, barrier = OK, 0.0  # a singular pose that has been met, and before which fraction it lies
    while reached < 1.0:
        part = min(part, 1.0 - reached)
        size, detailed = predict(t, order, R, y_from, y_to, part, step)
        if detailed > LONGEST_PREDICTION:
            part *= LONGEST_PREDICTION / detailed
            if part * STEPS_AHEAD < 1.0 - reached:
                return max(refused, NOT_CLOSED), reached, ratio, steps
            size, detailed = predict(t, order, R, y_from, y_to, part, step)
        elif part == 1.0:
            if not reading_size(order, bend) <= TRUSTED_PART * size + TRUSTED_SIZE:
                for c in range(bend.size):
                    bend[c] = 0.0
            for c in range(step.size):
                step[c] += bend[c]
        target = 1.0 if reached + part >= 1.0 else reached + part
        for i in range(y.size):
            y[i] = y_to[i] if target == 1.0 else y_from[i] + target * (y_to[i] - y_from[i])
        copy_into(q, work.trial)
        advance(t, work.trial, step, 1.0)
        near = size if factored else -1.0
        status, moved, ratio = close_sample(t, order, y, work.trial, near, work)
        factored = False
        if status == OK and crossed(order, work):
            status = CROSSED
        if status in (SINGULAR, CROSSED):
            ahead, barrier = status, target
        trusted = TRUSTED_PART * size + TRUSTED_SIZE
        accepted = status == OK and moved <= trusted
        if accepted:
            admissible(t, order, R_new, work)
            accepted = turned(order, R, R_new, y_from, y_to, part, step) <= trusted
        if accepted:
            copy_into(work.trial, q)
            for i in range(y.size):
                copy_into(R_new[i], R[i])
            remember(order, work)
            reached = target
            steps += 1
            factored = True
            part *= 2.0
            refused = OK
        else:
            if refused == OK:
                refused = status
            part *= 0.5
            if part < SHORTEST_PART and 0.5 * size < SHORTEST_STEP:
                # Next to a singular pose the closure may fail for other reasons, by rounding.
                if reached < barrier:
                    refused = max(refused, ahead)
                return max(refused, NOT_CLOSED), reached, ratio, steps
    return OK, reached, ratio, steps


@kernel
def finish_sample(t, order, yd, ydd, R, v, vd, b, zero, bias, work):
    """Speeds v = R ẏ, accelerations v̇ = R ÿ + b and b of the pose whose factors are in work."""
    combine(R, yd, v)
    convective(t, v, zero, bias, work)
    solve_bias(t, order, bias, b, work)
    combine(R, ydd, vd)
    for c in range(vd.size):
        vd[c] += b[c]


@kernel
def extrapolate(order, trail):
    """Add to trail.bend the error that the second-order prediction will make at the next sample.

    With m backward differences of the errors so far the extrapolation would have been wrong by the
    next difference at the last sample. The m with the smallest one is taken: many along a smooth
    path with equal steps, none where samples are noise.
    """
    best, m = np.inf, 0
    for i in range(trail.n_differences[0]):
        size = reading_size(order, trail.differences[i])
        if size < best:
            best, m = size, i
    for i in range(m):
        for c in range(trail.bend.size):
            trail.bend[c] += trail.differences[i, c]


@kernel
def learn(trail, steps, work):
    """Take the error of the last prediction into the differences, if it was used as it was."""
    known = trail.n_differences[0] if steps == 1 else -1
    for c in range(trail.bend.size):
        x = trail.bend[c] - trail.second[c] + work.moved[c]
        for i in range(min(known + 1, MOST_DIFFERENCES)):
            before = trail.differences[i, c]
            trail.differences[i, c] = x
            x -= before
    trail.n_differences[0] = min(known + 1, MOST_DIFFERENCES)


@kernel
def start_trail(t, order, y, q, trail, work):
    """Begin at the pose q, which is closed at y or nearly so; return the status of the closure."""
    trail.n_differences[0] = 0
    for c in range(trail.bend.size):
        trail.second[c] = 0.0
        trail.bend[c] = 0.0
    copy_into(y, trail.y)
    copy_into(q, trail.q)
    code, _, _ = close_sample(t, order, trail.y, trail.q, -1.0, work)
    if code == OK:
        remember(order, work)
        admissible(t, order, trail.R, work)
    return code


@kernel
def next_sample(t, order, y, yd, ydd, dt, trail, work):
    """Go on to a sample; `dt` is the time from there to the one after it, or zero.

    Returns the status, and the fraction reached or, where that is all, the pivot ratio. The trail
    and all in work are then those of the sample.
    """
    code, reached, ratio, steps = follow(
        t,
        order,
        trail.y,
        y,
        trail.bend,
        trail.q,
        trail.R,
        trail.R_new,
        trail.step,
        trail.target,
        work,
    )
    if code != OK:
        return code, reached
    learn(trail, steps, work)
    finish_sample(
        t, order, yd, ydd, trail.R, trail.v, trail.vd, trail.b, trail.zero, trail.bias, work
    )
    copy_into(y, trail.y)
    # Prediction of the next sample: R δy + b dt²/2, exact to second order.
    half = 0.5 * dt * dt
    for c in range(trail.b.size):
        trail.second[c] = trail.b[c] * half
        trail.bend[c] = trail.second[c]
    extrapolate(order, trail)
    return code, ratio


@allocating_kernel
def solve_chunks(
    way, starts, first, last, y, yd, ydd, dt, q_starts, y_starts, q, v, vd, status, reach
):
    """Solve chunks first … last - 1; chunk i covers samples starts[i] … starts[i + 1] - 1.

    `way` holds tables and order.
    """
    t, order = way.value
    work = make_work(t, order, q_starts[0])
    trail = make_trail(t, y.shape[1], q_starts[0])
    for i in range(first, last):
        k = starts[i]
        status[k] = start_trail(t, order, y_starts[i], q_starts[i], trail, work)
        while k < starts[i + 1] and status[k] == OK:
            status[k], reach[k] = next_sample(t, order, y[k], yd[k], ydd[k], dt[k], trail, work)
            if status[k] == OK:
                copy_into(trail.q, q[k])
                copy_into(trail.v, v[k])
                copy_into(trail.vd, vd[k])
                k += 1


@kernel
def rates_at(t, order, y, yd, ydd, q, v, vd, R, b, zero, bias, work):
    """Close exactly from a pose that is closed already; fill v, v̇, R and the bias v̇ - R ÿ."""
    code, _, ratio = close_sample(t, order, y, q, -1.0, work)
    admissible(t, order, R, work)
    finish_sample(t, order, yd, ydd, R, v, vd, b, zero, bias, work)
    return code, ratio


@allocating_kernel
def rates_batch(t, order, first, last, y, yd, ydd, q, v, vd, R, b, ratio):
    """`rates_at` for samples first … last - 1."""
    work = make_work(t, order, q[0])
    bias = np.zeros(t.rows.size, dtype=q.dtype)
    zero = np.zeros(t.columns.size, dtype=q.dtype)
    for k in range(first, last):
        _, ratio[k] = rates_at(
            t, order, y[k], yd[k], ydd[k], q[k], v[k], vd[k], R[k], b[k], zero, bias, work
        )
