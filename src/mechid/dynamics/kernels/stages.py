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
    reduced_equations,
)
from mechid.kinematics.kernels.closure import OK
from mechid.kinematics.kernels.follow import combine, copy_into
from mechid.kinematics.kernels.jit import allocating_kernel, kernel
from mechid.kinematics.kernels.linear import factor, substitute

# Status of an evaluation besides those of the closure.
MASSLESS = -1


class Split(NamedTuple):
    """Places of free and of driven coordinates, and of parameters that change with time."""

    free: np.ndarray
    driven: np.ndarray
    timed: np.ndarray


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
def run_stages(held, split, A, first, last, h, z, given, state, K, out):
    """Evaluate stages first … last - 1, at z[s] + h Σ_j A[s, j] K[j]; or instants, with h = 0.

    There is a row of z for each, or one for all. Fills the rows of K (n, n_z) with ż, and those of
    `out`, if they have any; `state` (n_z,) is the last one. One kernel does all this because it
    is compiled together with the equations of motion, for seconds.

    Returns how many rows are done, counted from the row 0, and the status of the last one.
    """
    s, n = held.value, split.free.size
    for k in range(first, last):
        own = min(k, len(z) - 1)
        for i in range(state.size):
            x = 0.0
            if h != 0.0:
                for j in range(k):
                    x += A[k, j] * K[j, i]
            state[i] = z[own, i] + h * x
        _prepare(s, split, state, given[k])
        status = reduced_equations(
            s.t,
            s.order,
            s.d,
            s.phi,
            s.y,
            s.yd,
            s.anchor,
            s.q,
            s.v,
            s.vd,
            s.work,
            s.room,
            s.M,
            s.h,
        )
        if status != OK:
            return k, status
        finish_state(s)
        if split.driven.size > 0:
            _drive(s, split, given[k, s.y.size + 2 * split.driven.size :])
        if not s.numbers[MASS_RATIO] > 0.0:
            return k, MASSLESS
        for i in range(n):
            K[k, i], K[k, n + i] = s.yd[split.free[i]], s.ydd[split.free[i]]
        K[k, 2 * n], K[k, 2 * n + 1] = s.numbers[POWER], s.numbers[DISSIPATED]
        if len(out.y) > 0:
            _keep(s, k, out)
    return last, OK


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
