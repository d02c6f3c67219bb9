"""Evaluations of the reduced equations one after the other: stages of a step, and instants.

The state is z = (y, ẏ, work, dissipated energy), y without the driven coordinates. What acts from
outside is given beforehand, one row for each evaluation: τ (n_i,), then y, ẏ and ÿ of the driven
coordinates (n_d,), then the parameters that change with time.
"""

from typing import NamedTuple

import numpy as np

from mechid.dynamics.kernels.equations import (
    DISSIPATED,
    GAP,
    KINETIC,
    MASS_RATIO,
    POTENTIAL,
    POWER,
    finish_state,
    set_anchor,
)
from mechid.dynamics.kernels.equations import _assemble as assemble
from mechid.kinematics.engine.stages import AT_REST, PIVOT_RATIO
from mechid.kinematics.kernels.closure import LAST_STEP, NOT_CLOSED, OK, convective, solve_bias
from mechid.kinematics.kernels.follow import (
    LONGEST_PREDICTION,
    TRUSTED_PART,
    TRUSTED_SIZE,
    combine,
    copy_into,
    follow,
    predict,
    reading_size,
    turned,
)
from mechid.kinematics.kernels.jit import allocating_kernel, kernel
from mechid.kinematics.kernels.lanes import MOST_CORRECTIONS
from mechid.kinematics.kernels.linear import factor, substitute
from mechid.kinematics.kernels.links import advance
from mechid.tape.call import call
from mechid.tape.lanes_math import LARGEST_ANGLE

# Status of an evaluation besides those of the closure.
MASSLESS = -1


class Split(NamedTuple):
    """Places of free and of driven coordinates, and of parameters that change with time."""

    free: np.ndarray
    driven: np.ndarray
    timed: np.ndarray


class Code(NamedTuple):
    """Generated code for the equations of one mechanism: addresses, slots of its state, memory.

    `finish` is 0 where there is none, `correct` where there is nothing to close.
    """

    correct: int
    finish: int
    q: int
    y: int
    yd: int
    phi: int
    q_next: int
    step: int
    R: int
    v: int
    bias: int
    M: int
    h: int
    numbers: int
    guards: int  # ratio of the pivots, and size of another step of Newton's method
    determinants: int
    before: int  # determinants at the anchor
    n_determinants: int
    state: np.ndarray
    memory: np.ndarray


def no_code() -> Code:
    """Return the absence of code."""
    slots = dict.fromkeys(Code._fields, 0)
    return Code(**slots | {"state": np.zeros(0), "memory": np.zeros(0)})  # type: ignore[arg-type]


class Instants(NamedTuple):
    """What is known at N instants; see `Simulation`."""

    y: np.ndarray
    yd: np.ndarray
    ydd: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray
    constraint_error: np.ndarray


@kernel
def _drive(s, split, ydd_driven):
    """Solve M_ff ÿ_f = (τ - h)_f - M_fd ÿ_d; then τ_d = (M ÿ + h)_d, and its power."""
    f, d, n = split.free, split.driven, split.free.size
    x = s.room.y
    for i in range(n):
        x[i] = s.tau[f[i]] - s.h[f[i]]
        for j in range(d.size):
            x[i] -= s.M[f[i], d[j]] * ydd_driven[j]
        for j in range(n):
            s.factors[i * n + j] = s.M[f[i], f[j]]
    ratio = 1.0
    if n > 0:
        ratio, _ = factor(s.factors, 0, n, n, s.pivots, 0)
        if ratio > 0.0:
            substitute(s.factors, 0, n, s.pivots, 0, x)
    s.numbers[MASS_RATIO] = ratio
    for i in range(n):
        s.ydd[f[i]] = x[i]
    for j in range(d.size):
        s.ydd[d[j]] = ydd_driven[j]
    for j in range(d.size):
        before = s.tau[d[j]]
        s.tau[d[j]] = s.h[d[j]]
        for i in range(s.ydd.size):
            s.tau[d[j]] += s.M[d[j], i] * s.ydd[i]
        s.numbers[POWER] += (s.tau[d[j]] - before) * s.yd[d[j]]


@kernel
def _prepare(s, split, z, given):
    """Put a state, and what is given, where the equations read it."""
    n, f, d, timed = s.y.size, split.free, split.driven, split.timed
    for i in range(n):
        s.tau[i] = given[i]
    for i in range(f.size):
        s.y[f[i]], s.yd[f[i]] = z[i], z[f.size + i]
    for i in range(d.size):
        s.y[d[i]], s.yd[d[i]] = given[n + i], given[n + d.size + i]
    for i in range(timed.size):
        s.phi[timed[i]] = given[n + 3 * d.size + i]


@kernel
def _put(values, x, at):
    """Copy values to their slots."""
    for i in range(values.size):
        x[at + i] = values[i]


@kernel
def _take(x, at, values):
    """Copy values from their slots."""
    for i in range(values.size):
        values[i] = x[at + i]


@kernel
def _finish(code, y, yd, phi):
    """Run the code at the coordinates in its state; tell whether its pivots and they are fine."""
    x = code.state
    _put(y, x, code.y)
    _put(yd, x, code.yd)
    _put(phi, x, code.phi)
    call(code.finish, x, code.memory)
    return x[code.guards] >= PIVOT_RATIO and x[code.guards + 1] <= AT_REST


@kernel
def _see_anchor(s, code):
    """Run the code at the anchor, unless it was there last; tell whether it is fine there."""
    x = code.state
    seen = x[code.guards] >= PIVOT_RATIO
    for i in range(s.q.size):
        seen = seen and x[code.q_next + i] == s.anchor.q[i]
    if seen:
        return True
    _put(s.anchor.q, x, code.q)
    return _finish(code, s.anchor.y, s.anchor.y, s.phi)


@kernel
def _follow(s, code):
    """Predict the pose from the anchor, and correct it; return how far the two may be wrong.

    Negative where the pose cannot be trusted. s.vd is added to the prediction.
    """
    x, n = code.state, s.q.size
    size, detailed = predict(s.t, s.order, s.anchor.R, s.anchor.y, s.y, 1.0, s.room.step)
    trusted = TRUSTED_PART * size + TRUSTED_SIZE
    if not detailed <= LONGEST_PREDICTION:
        return -1.0
    if reading_size(s.order, s.vd) <= trusted:
        for c in range(s.v.size):
            s.room.step[c] += s.vd[c]
    copy_into(s.anchor.q, s.q)
    advance(s.t, s.q, s.room.step, 1.0)
    _put(s.q, x, code.q)
    moved = 0.0
    if code.correct != 0:
        _put(s.y, x, code.y)
        for _ in range(MOST_CORRECTIONS):
            call(code.correct, x, code.memory)
            for i in range(n):
                x[code.q + i] = x[code.q_next + i]
            moved += x[code.step]
            if x[code.step] < LAST_STEP:
                break
    for i in range(n):
        if not abs(x[code.q + i]) <= LARGEST_ANGLE:
            return -1.0
    return trusted if moved <= trusted else -1.0


@kernel
def _solve_by_tables(s, whole):
    """Fill M, h and what belongs to them at y and ẏ; return the status of the closure.

    Energies and the largest closure row are filled if the `whole` is wanted.

    The pose is followed from the anchor, so it stays on the branch, and becomes the new anchor. q,
    v and vd become the tree coordinates, speeds, and their derivatives at ÿ = 0. On entry, vd is a
    guess of how much the path of the pose bends.
    """
    for i in range(s.y.size):
        if not (np.isfinite(s.y[i]) and np.isfinite(s.yd[i])):
            return NOT_CLOSED  # steps towards nan have no size that could get too small
        copy_into(s.anchor.R[i], s.room.R[i])
    copy_into(s.anchor.q, s.q)
    a, r = s.anchor, s.room
    status, _, _, _ = follow(s.t, s.order, a.y, s.y, s.vd, s.q, r.R, r.R_new, r.step, r.y, s.work)
    if status != OK:
        set_anchor(s.t, s.order, a.y, a.q, a, s.work)
        return status
    copy_into(s.y, a.y)
    copy_into(s.q, a.q)
    for i in range(s.y.size):
        copy_into(r.R[i], a.R[i])
    combine(r.R, s.yd, s.v)
    convective(s.t, s.v, r.zero, r.bias, s.work)
    solve_bias(s.t, s.order, r.bias, s.vd, s.work)
    assemble(s.t, s.d, s.d.reach_start, s.d.reach, s.phi, s.q, s.v, s.vd, s.work, r, s.M, s.h)
    finish_state(s, whole)
    return OK


@kernel
def _solve_by_code(s, code):
    """Do what `_solve_by_tables` does; return whether that could be done with trust.

    The code has seen the anchor last: determinants of then must have the same signs.
    """
    x, n, m = code.state, s.y.size, s.v.size
    for i in range(n):
        if not (np.isfinite(s.y[i]) and np.isfinite(s.yd[i])):
            return False
    for i in range(code.n_determinants):
        x[code.before + i] = x[code.determinants + i]
    trusted = _follow(s, code)
    if trusted < 0.0 or not _finish(code, s.y, s.yd, s.phi):
        return False
    for i in range(code.n_determinants):
        if not x[code.before + i] * x[code.determinants + i] > 0.0:
            return False
    for i in range(n):
        _take(x, code.R + i * m, s.room.R[i])
    change = turned(s.order, s.anchor.R, s.room.R, s.anchor.y, s.y, 1.0, s.room.step)
    if not change <= trusted:
        return False
    _take(x, code.q_next, s.q)
    copy_into(s.q, s.anchor.q)
    copy_into(s.y, s.anchor.y)
    for i in range(n):
        copy_into(s.room.R[i], s.anchor.R[i])
        _take(x, code.M + i * n, s.M[i])
    _take(x, code.v, s.v)
    _take(x, code.bias, s.vd)
    _take(x, code.h, s.h)
    _take(x, code.numbers, s.numbers)
    for i in range(n):
        s.numbers[POWER] += s.tau[i] * s.yd[i]
    return True


@kernel
def _keep(s, k, out):
    """Write what is known of a state that has been solved to row k."""
    copy_into(s.y, out.y[k])
    copy_into(s.yd, out.yd[k])
    copy_into(s.ydd, out.ydd[k])
    copy_into(s.q, out.q[k])
    copy_into(s.v, out.v[k])
    copy_into(s.tau, out.tau[k])
    out.kinetic[k], out.potential[k] = s.numbers[KINETIC], s.numbers[POTENTIAL]
    out.constraint_error[k] = s.numbers[GAP]


@allocating_kernel
def run_stages(held, plan, at_anchor, A, first, last, h, times, z, given, state, K, instants):
    """Evaluate stages first … last - 1, at z[s] + h Σ_j A[s, j] K[j]; or instants, with h = 0.

    There is a row of z for each, or one for all; `times` are theirs. Fills the rows of K (n, n_z)
    with ż, and those of `instants` (h = 0), if they have any; `state` (n_z,) is the last one.
    `plan` holds code and split. `at_anchor` tells whether the work arrays are at the anchor. One
    kernel does all this because it is compiled together with the equations of motion, for seconds.

    Returns how many rows are done, counted from the row 0, the status of the last one, and whether
    the work arrays are at the anchor then: the code does not keep them there.
    """
    s, out = held.value, instants.value
    code, split = plan.value
    n = split.free.size
    usable = code.finish != 0 and _see_anchor(s, code)
    status, k = OK, first
    while k < last:
        own = min(k, len(z) - 1)
        for i in range(state.size):
            x = 0.0
            if h != 0.0:
                for j in range(k):
                    x += A[k, j] * K[j, i]
            state[i] = z[own, i] + h * x
        _prepare(s, split, state, given[k])
        # To second order, the pose moves by R δy + b dt²/2, back in time too; b is in vd.
        dt = times[k] - s.clock[0]
        for c in range(s.vd.size):
            s.vd[c] = 0.5 * dt * dt * s.vd[c] if np.isfinite(dt) else 0.0
        s.clock[0] = np.nan
        if usable:
            usable = _solve_by_code(s, code)
        if usable:
            at_anchor = False
        else:
            if not at_anchor:
                status = set_anchor(s.t, s.order, s.anchor.y, s.anchor.q, s.anchor, s.work)
                at_anchor = status == OK
            if status == OK:
                status = _solve_by_tables(s, h == 0.0)
            if status != OK:
                return k, status, at_anchor
        if usable or split.driven.size > 0:
            _drive(s, split, given[k, s.y.size + 2 * split.driven.size :])
        if not s.numbers[MASS_RATIO] > 0.0:
            status = MASSLESS
            break
        s.clock[0] = times[k]
        for i in range(n):
            K[k, i], K[k, n + i] = s.yd[split.free[i]], s.ydd[split.free[i]]
        K[k, 2 * n], K[k, 2 * n + 1] = s.numbers[POWER], s.numbers[DISSIPATED]
        if len(out.y) > 0:
            _keep(s, k, out)
        k += 1
    return k, status, at_anchor


@allocating_kernel
def read_motion(held, out):
    """Fill out with y, ẏ, ÿ (n_i,), v, v̇ and the largest ∂q/∂y of each column (n_v,).

    The held state has been solved.
    """
    s = held.value
    n, m = s.y.size, s.v.size
    copy_into(s.y, out[:n])
    copy_into(s.yd, out[n : 2 * n])
    copy_into(s.ydd, out[2 * n : 3 * n])
    v, vd, size = out[3 * n : 3 * n + m], out[3 * n + m : 3 * n + 2 * m], out[3 * n + 2 * m :]
    copy_into(s.v, v)
    combine(s.anchor.R, s.ydd, vd)
    for c in range(m):
        vd[c] += s.vd[c]
        size[c] = 0.0
        for i in range(n):
            size[c] = max(size[c], abs(s.anchor.R[i, c]))
