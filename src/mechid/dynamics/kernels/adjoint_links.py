"""Adjoint of the open tree: from wrenches on links to derivatives by tree coordinates and speeds.

A scalar that depends on the twists and accelerations of links *pulls* at them: its derivatives by
the twist of a link, by its acceleration and by the twist per unit of an independent speed are
wrenches on that link. They are summed up from the leaves of the tree to its root; with the screw of
a column, a sum gives the derivative by the speed of that column.

Fields 0 … n - 1 are those of the n independent speeds; then follow velocity, acceleration and pose.
Accelerations are rates of twists (about the fixed pole), less gravity.

Why sums are all that is needed: a step Δ of a column turns all links after its own, k, as one body,
while the motion of k remains. Seen from a link m after it,

    δT_m = -Δ × T_k,        δA_m = -Δ × A_k - (Δ × T_k) × (T_m - T_k),

and what rides on m as a whole sees nothing else. With the wrenches Z_m, B_m of velocity and
acceleration these are products of T_k, A_k with the sums of Z_m + T_m ×* B_m (field `n`) and of B_m
(field `n + 1`). Field `n + 2` takes what does not ride on its link: the derivative by the pose of
m at fixed T_m, A_m, plus T_m ×* Z_m + A_m ×* B_m.
"""

from typing import NamedTuple

import numpy as np

from mechid.dynamics.kernels.screws import (
    add,
    carried,
    cross,
    difference,
    minus,
    plus,
    power,
    put,
    screw,
    sum_of,
    times,
    vector,
)
from mechid.kinematics.kernels.jit import allocating_kernel, inlined_kernel, kernel


class Pull(NamedTuple):
    """Scratch arrays of the adjoint for n independent coordinates."""

    pole: np.ndarray  # (1, 3)
    screws: np.ndarray  # (n_v, 1, 6) twist per unit of each tree speed
    twists: np.ndarray  # (n_links, n + 2, 6)
    own: np.ndarray  # (n_links, n + 3, 6) wrenches on each link
    total: np.ndarray  # the same with those on all links that it carries
    tree: np.ndarray  # (n + 2, n_v) derivatives by R, v, v̇
    elements: np.ndarray  # (n + 2, n_v) what elements on tree coordinates add to them
    rows: np.ndarray  # (n_rows, n + 2) what each row weighs; the velocity has none
    measures: np.ndarray  # (n_measures, n + 3) derivatives by ∂s/∂y, ṡ, s̈, s


@allocating_kernel
def make_pull(t, d, n):
    """Return the arrays."""
    n_links, n_v = t.links.size, t.columns.size
    return Pull(
        np.zeros((1, 3)),
        np.zeros((n_v, 1, 6)),
        np.zeros((n_links, n + 2, 6)),
        np.zeros((n_links, n + 3, 6)),
        np.zeros((n_links, n + 3, 6)),
        np.zeros((n + 2, n_v)),
        np.zeros((n + 2, n_v)),
        np.zeros((t.rows.size, n + 2)),
        np.zeros((d.measures.size, n + 3)),
    )


@kernel
def take_motion(t, d, axes, vectors, partial_velocity, partial_omega, pull):
    """Fill pole, screws and twists from the motion of the links, and put wrenches to zero."""
    n = partial_omega.shape[0]
    first = min(1, t.links.size - 1)
    for i in range(3):
        pull.pole[0, i] = vectors[0, first, i]
    pole = vector(pull.pole, 0)
    for c in range(t.columns.size):
        x, turn, shift = vector(axes, c), t.columns[c].turn, t.columns[c].shift
        arm = minus(vector(vectors[0], t.columns[c].link), pole)
        put(pull.screws, c, 0, (times(turn, x), plus(times(shift, x), cross(arm, times(turn, x)))))
    for k in range(t.links.size):
        arm = minus(vector(vectors[0], k), pole)
        for i in range(d.reach_start[k], d.reach_start[k + 1]):
            y = d.reach[i]
            omega = vector(partial_omega[y], k)
            put(
                pull.twists, k, y, (omega, minus(vector(partial_velocity[y], k), cross(omega, arm)))
            )
        omega, velocity, alpha = vector(vectors[2], k), vector(vectors[1], k), vector(vectors[4], k)
        put(pull.twists, k, n, (omega, minus(velocity, cross(omega, arm))))
        rate = minus(minus(vector(vectors[3], k), cross(alpha, arm)), cross(omega, velocity))
        put(pull.twists, k, n + 1, (alpha, minus(rate, (d.gravity[0], d.gravity[1], d.gravity[2]))))
        for i in range(n + 3):
            for j in range(6):
                pull.own[k, i, j] = 0.0


@inlined_kernel
def adjoint_velocity(pull, k, n, wrench):
    """Enter a derivative by the twist of link k."""
    add(pull.own, k, n, wrench)
    add(pull.own, k, n + 2, carried(screw(pull.twists, k, n), wrench))


@inlined_kernel
def adjoint_acceleration(pull, k, n, wrench):
    """Enter a derivative by the acceleration of link k."""
    add(pull.own, k, n + 1, wrench)
    add(pull.own, k, n, carried(screw(pull.twists, k, n), wrench))
    add(pull.own, k, n + 2, carried(screw(pull.twists, k, n + 1), wrench))


@kernel
def sum_up(t, first, last, pull):
    """Sum the wrenches of some fields from the leaves to the root."""
    own, total = pull.own, pull.total
    for k in range(t.links.size):
        for i in range(first, last):
            for j in range(6):
                total[k, i, j] = own[k, i, j]
    for k in range(t.links.size - 1, 0, -1):
        p = t.links[k].parent
        for i in range(first, last):
            for j in range(6):
                total[p, i, j] += total[k, i, j]


@kernel
def by_speeds(t, first, last, pull):
    """Fill rows first … last - 1 of pull.tree: fields whose twists are linear in the speeds."""
    for c in range(t.columns.size):
        k = t.columns[c].link
        S = screw(pull.screws, c, 0)
        for i in range(first, last):
            pull.tree[i, c] = pull.elements[i, c] + power(S, screw(pull.total, k, i))


@kernel
def by_velocities(t, n, pull):
    """Fill row n of pull.tree: by v, on which accelerations depend as well."""
    for c in range(t.columns.size):
        k = t.columns[c].link
        both = sum_of(screw(pull.twists, k, n), screw(pull.twists, t.links[k].parent, n))
        wrench = difference(screw(pull.total, k, n), carried(both, screw(pull.total, k, n + 1)))
        pull.tree[n, c] = pull.elements[n, c] + power(screw(pull.screws, c, 0), wrench)


@kernel
def by_coordinates(t, d, n, R, pull, out):
    """Add to out (n,) the derivatives by the coordinates, along the admissible motions R."""
    k, U = 0, screw(pull.total, 0, n + 2)
    for c in range(t.columns.size):
        if t.columns[c].link != k:  # columns of a ball share it
            k = t.columns[c].link
            T, B = screw(pull.twists, k, n), screw(pull.total, k, n + 1)
            U = difference(screw(pull.total, k, n + 2), carried(screw(pull.twists, k, n + 1), B))
            rest = difference(screw(pull.total, k, n), carried(T, B))
            U = difference(U, carried(T, rest))
            for i in range(d.reach_start[k], d.reach_start[k + 1]):
                y = d.reach[i]
                U = difference(U, carried(screw(pull.twists, k, y), screw(pull.total, k, y)))
        x = power(screw(pull.screws, c, 0), U)
        for i in range(n):
            out[i] += R[i, c] * x


@kernel
def along(R, x, i, out):
    """Fill out (n,) with the products of x[i] (…, n_v) and the admissible motions."""
    for j in range(out.size):
        out[j] = 0.0
        for c in range(R.shape[1]):
            out[j] += R[j, c] * x[i, c]
