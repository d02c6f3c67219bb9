"""Joint reactions of many samples, in parallel.

Everything is about one point amid the links, so that numbers stay small wherever the mechanism
stands. What joints must supply to the bodies behind a tree joint is what this joint transmits, plus
what cut joints do there. A tree joint transmits nothing along its own freedoms: that determines the
multipliers of the cut joints, up to internal states of stress, of which the sum of squares over all
joints decides.
"""

import numpy as np

from mechid.dynamics.kernels.joint_wrenches import (
    column_wrenches,
    equations_of_columns,
    held_wrenches,
    place_joints,
    transmitted,
    weighted,
)
from mechid.dynamics.kernels.measures import read_measures
from mechid.dynamics.kernels.pivoted_qr import pivoted_qr, solve_transposed
from mechid.dynamics.kernels.wrenches import (
    demand_bodies,
    demand_measures,
    element_forces,
)
from mechid.kinematics.kernels.jit import allocating_kernel, kernel
from mechid.kinematics.kernels.links import move_links, place_links

# Part of an internal state of stress (unit length, dimensionless) that counts as none.
NOTHING = 1e-8


@allocating_kernel
def reactions_batch(
    t,
    d,
    x,
    actuated,
    actuator,
    phi,
    first,
    last,
    q,
    v,
    vd,
    tau,
    force,
    moment,
    is_open,
    constraint,
    constraint_open,
):
    """Fill force and moment (N, n_joints, 3) and is_open (N, n_joints, 6) of some samples.

    And `constraint` and `constraint_open` (N, n_constraints): dimensionless rows times L or 1.
    `x` are the `ReactionTables`; `actuated` the measures on which τ (N, n_i) acts and `actuator`
    (n_i,) which of them each component acts on.
    """
    n_joints, m, n_v = x.joints.size, x.rows.size, t.columns.size
    n_internal = m - x.rank
    n_others = x.n_constraints + x.spin_link.shape[0]
    every = np.arange(t.links.size)
    rotation = np.zeros((t.links.size, 3, 3))
    vectors = np.zeros((5, t.links.size, 3))
    axes = np.zeros((n_v, 3))
    none, none_3 = np.zeros((0, n_v)), np.zeros((0, t.links.size, 3))
    values, no_partial = np.zeros((d.measures.size, 3)), np.zeros((d.measures.size, 0))
    on_measures, on_actuators = np.zeros(d.measures.size), np.zeros(actuated.measures.size)
    on_columns = np.zeros(n_v)
    demand = np.zeros((d.body_link.size + 1, 6))
    place = np.zeros((n_joints, 3))
    frame_a, frame_b = np.zeros((n_joints, 3, 3)), np.zeros((n_joints, 3, 3))
    held = np.zeros((m, 6))
    A, rhs = np.zeros((m, n_v)), np.zeros(n_v)
    order, Q = np.zeros(n_v, dtype=np.int64), np.zeros((m, m))
    normal, sums = np.zeros(m), np.zeros(max(m, n_v))
    multipliers = np.zeros((1 + n_internal, m))
    found = np.zeros((1 + n_internal, n_joints, 6))
    scaled = np.zeros((1 + n_internal, 6 * n_joints + n_others))
    for i in range(3):
        rotation[0, i, i] = 1.0
    for s in range(first, last):
        for i in range(3):
            vectors[0, 0, i] = 0.0
        place_links(t, every, 1, t.links.size, q[s], rotation, vectors[0], axes)
        move_links(t, v[s], vd[s], vectors, axes)
        _center(vectors[0])
        demand[:, :] = 0.0
        on_columns[:] = 0.0
        on_actuators[:] = 0.0
        for i in range(actuator.size):
            on_actuators[actuator[i]] -= tau[s, i]
        read_measures(
            d,
            q[s],
            v[s],
            vd[s],
            none,
            rotation,
            vectors,
            none_3,
            none_3,
            values,
            no_partial,
        )
        element_forces(d, phi, values, on_measures)
        demand_bodies(d, phi, rotation, vectors, demand)
        demand_measures(d, on_measures, rotation, vectors[0], on_columns, demand)
        demand_measures(actuated, on_actuators, rotation, vectors[0], on_columns, demand)
        place_joints(x, rotation, vectors[0], place, frame_a, frame_b)
        column_wrenches(t, x, place, axes, on_columns, demand)
        for k in range(x.steps.size - 1, -1, -1):  # what is behind each step, all together
            for i in range(6):
                demand[x.steps[k].parent, i] += demand[x.steps[k].child, i]
        held_wrenches(x, rotation, vectors[0], place, frame_a, frame_b, held)
        equations_of_columns(t, x, vectors[0], axes, held, demand, A, rhs)
        pivoted_qr(A, x.rank, order, Q, normal, sums)
        solve_transposed(A, x.rank, order, Q, rhs, multipliers[0])
        for k in range(n_internal):
            for r in range(m):
                multipliers[1 + k, r] = Q[x.rank + k, r]
        for k in range(1 + n_internal):
            share = 1.0 if k == 0 else 0.0
            transmitted(x, held, multipliers[k], share, demand, place, found[k])
            weighted(t, x, axes, frame_a, multipliers[k], found[k], scaled[k])
        _shorten(scaled, found)
        _store(x.size, found, force[s], moment[s], is_open[s])
        _store_constraints(scaled, 6 * n_joints, constraint[s], constraint_open[s])


@kernel
def _center(origin):
    """Shift all link origins so that the mean of the moving ones is zero."""
    n = origin.shape[0] - 1
    for i in range(3):
        mean = 0.0
        for k in range(1, n + 1):
            mean += origin[k, i] / n
        for k in range(n + 1):
            origin[k, i] -= mean


@kernel
def _shorten(scaled, found):
    """Make the internal states (all but the first) orthonormal, and the first normal to them.

    `scaled` holds each state as numbers whose squares count alike, `found` the same states as
    reactions.
    """
    n = scaled.shape[0]
    for k in range(1, n + 1):
        state = k % n  # the first state comes last
        for j in range(1, k):
            x = 0.0
            for i in range(scaled.shape[1]):
                x += scaled[state, i] * scaled[j, i]
            for i in range(scaled.shape[1]):
                scaled[state, i] -= x * scaled[j, i]
            for i in range(found.shape[1]):
                for c in range(6):
                    found[state, i, c] -= x * found[j, i, c]
        if state == 0:
            return
        x = 0.0
        for i in range(scaled.shape[1]):
            x += scaled[state, i] * scaled[state, i]
        x = 1.0 / np.sqrt(x)
        for i in range(scaled.shape[1]):
            scaled[state, i] *= x
        for i in range(found.shape[1]):
            for c in range(6):
                found[state, i, c] *= x


@kernel
def _store(size, found, force, moment, is_open):
    for j in range(force.shape[0]):
        for i in range(6):
            x = 0.0
            for k in range(1, found.shape[0]):
                x += found[k, j, i] * found[k, j, i]
            is_open[j, i] = np.sqrt(x) * (size if i < 3 else 1.0) > NOTHING
        for i in range(3):
            force[j, i], moment[j, i] = found[0, j, i], found[0, j, 3 + i]


@kernel
def _store_constraints(scaled, first, constraint, is_open):
    for c in range(constraint.size):
        x = 0.0
        for k in range(1, scaled.shape[0]):
            x += scaled[k, first + c] * scaled[k, first + c]
        is_open[c] = np.sqrt(x) > NOTHING
        constraint[c] = scaled[0, first + c]
