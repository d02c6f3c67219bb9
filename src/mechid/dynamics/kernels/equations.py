"""Equations of motion at one state: reduced to the independent speeds, or on the tree."""

from typing import Any, NamedTuple

import numpy as np

from mechid.dynamics.kernels.gibbs_appell import (
    body_equations,
    element_equations,
    zero_equations,
)
from mechid.dynamics.kernels.measures import element_factor, read_measures
from mechid.dynamics.kernels.partials import place_partials
from mechid.kinematics.kernels.closure import (
    OK,
    admissible,
    close_sample,
    remember,
)
from mechid.kinematics.kernels.follow import copy_into
from mechid.kinematics.kernels.jit import allocating_kernel, kernel
from mechid.kinematics.kernels.linear import factor, substitute
from mechid.kinematics.kernels.links import move_links, place_directions, place_links, place_markers
from mechid.kinematics.kernels.rows import open_row, row_accelerations, row_entries, row_value
from mechid.mechanism import element_laws
from mechid.mechanism.element_laws import LOAD

law_potential = kernel(element_laws.law_potential)


class Room(NamedTuple):
    """Scratch arrays for the equations in n speeds."""

    R: np.ndarray  # (n, n_v) tree speeds per unit of each speed
    partial_velocity: np.ndarray
    partial_omega: np.ndarray
    values: np.ndarray
    partial: np.ndarray
    scratch: np.ndarray
    bias: np.ndarray  # (n_rows,)
    zero: np.ndarray  # (n_v,) and at least n
    R_new: np.ndarray  # as R, at the end of a step
    step: np.ndarray  # (n_v,)
    y: np.ndarray  # (n,)


@allocating_kernel
def make_room(t, d, n):
    """Return scratch arrays for n speeds; R is the unit matrix if these are the tree's."""
    room = Room(
        np.zeros((n, t.columns.size)),
        np.zeros((n, t.links.size, 3)),
        np.zeros((n, t.links.size, 3)),
        np.zeros((d.measures.size, 3)),
        np.zeros((d.measures.size, n)),
        np.zeros((n, 12)),
        np.zeros(t.rows.size),
        np.zeros(max(n, t.columns.size)),
        np.zeros((n, t.columns.size)),
        np.zeros(t.columns.size),
        np.zeros(n),
    )
    for i in range(min(n, t.columns.size)):
        room.R[i, i] = 1.0
    return room


@kernel
def _assemble(t, d, reach_start, reach, phi, q, v, vd, work, room, M, h):
    """Mass matrix and bias for the motion whose poses are in work."""
    move_links(t, v, vd, work.vectors, work.axes)
    place_partials(
        t,
        reach_start,
        reach,
        room.R,
        work.vectors[0],
        work.axes,
        room.partial_velocity,
        room.partial_omega,
    )
    zero_equations(M, h)
    body_equations(
        d,
        reach_start,
        reach,
        phi,
        work.rotation,
        work.vectors,
        room.partial_velocity,
        room.partial_omega,
        room.scratch,
        M,
        h,
    )
    read_measures(
        d,
        q,
        v,
        vd,
        room.R,
        work.rotation,
        work.vectors,
        room.partial_velocity,
        room.partial_omega,
        room.values,
        room.partial,
    )
    element_equations(d, phi, room.values, room.partial, M, h)


class Anchor(NamedTuple):
    """A closed pose from which others are reached: its coordinates and admissible motions."""

    y: np.ndarray
    q: np.ndarray
    R: np.ndarray


@kernel
def set_anchor(t, order, y, q, anchor, work):
    """Close a pose and make it the anchor, if that succeeds; return the status of the closure."""
    copy_into(q, work.trial)
    status, _, _ = close_sample(t, order, y, work.trial, -1.0, work)
    if status == OK:
        copy_into(y, anchor.y)
        copy_into(work.trial, anchor.q)
        admissible(t, order, anchor.R, work)
        remember(order, work)
    return status


# places in State.numbers
KINETIC, POTENTIAL, DISSIPATED, POWER, GAP, MASS_RATIO = 0, 1, 2, 3, 4, 5


class State(NamedTuple):
    """Everything that an evaluation of the reduced equations reads and fills."""

    t: Any
    order: Any
    d: Any
    phi: np.ndarray
    anchor: Anchor
    work: Any
    room: Room
    y: np.ndarray  # where the equations are wanted
    yd: np.ndarray
    tau: np.ndarray
    q: np.ndarray  # the closed tree state there
    v: np.ndarray
    vd: np.ndarray
    M: np.ndarray
    h: np.ndarray
    ydd: np.ndarray  # M ÿ + h = τ
    factors: np.ndarray  # of M, and their pivots
    pivots: np.ndarray
    numbers: np.ndarray  # energies, powers, largest closure row, ratio of the pivots of M
    clock: np.ndarray  # (1,) time of the anchor, if v̇ at ÿ = 0 there is in vd; else nan


@allocating_kernel
def anchor_state(held):
    """Make the pose (y, q) of a held state its anchor; return the status of the closure."""
    s = held.value
    s.clock[0] = np.nan
    return set_anchor(s.t, s.order, s.y, s.q, s.anchor, s.work)


@allocating_kernel
def anchor_again(held):
    """Find the factors of the anchor of a held state; return the status of the closure."""
    s = held.value
    return set_anchor(s.t, s.order, s.anchor.y, s.anchor.q, s.anchor, s.work)


@kernel
def finish_state(s, whole):
    """Accelerations, powers and, if the `whole` is wanted, energies and largest closure row."""
    n = s.y.size
    power = 0.0
    for i in range(n):
        s.ydd[i] = s.tau[i] - s.h[i]
        power += s.tau[i] * s.yd[i]
        for j in range(n):
            s.factors[i * n + j] = s.M[i, j]
    ratio, _ = factor(s.factors, 0, n, n, s.pivots, 0)
    if ratio > 0.0:
        substitute(s.factors, 0, n, s.pivots, 0, s.ydd)
    kinetic, potential, dissipated, supplied = element_energies(s.d, s.phi, s.room.values)
    power += supplied
    gap = np.nan
    if whole:
        of_bodies, weight = body_energies(s.d, s.phi, s.work.rotation, s.work.vectors)
        kinetic, potential, gap = kinetic + of_bodies, potential + weight, 0.0
        for r in range(s.t.rows.size):
            if s.t.rows[r].driver < 0:
                value = row_value(s.t, r, s.q, s.work.markers, s.work.directions)
                gap = max(gap, abs(value) * s.t.rows[r].scale)
    s.numbers[KINETIC], s.numbers[POTENTIAL], s.numbers[DISSIPATED] = kinetic, potential, dissipated
    s.numbers[POWER], s.numbers[GAP], s.numbers[MASS_RATIO] = power, gap, ratio


@kernel
def tree_equations(t, d, every, reach_start, reach, phi, q, v, work, room, M, h, values, J, gamma):
    """Fill the equations on the tree at any state (q, v), closed or not.

    M v̇ + h = Q + Jᵀ λ, and rows J v̇ + gamma = second derivatives of the rows; `values` are the
    rows themselves. J (n_rows, n_v) holds closure rows and drivers alike.
    """
    place_links(t, every, 1, t.links.size, q, work.rotation, work.vectors[0], work.axes)
    place_markers(t, every, 0, t.marker_link.size, work.rotation, work.vectors[0], work.markers)
    place_directions(t, every, 0, t.direction_link.size, work.rotation, work.directions)
    _assemble(t, d, reach_start, reach, phi, q, v, room.zero, work, room, M, h)
    row_accelerations(t, work.vectors, work.markers, work.directions, gamma)
    row_entries(
        t,
        every,
        0,
        t.rows.size,
        work.vectors[0],
        work.axes,
        work.markers,
        work.directions,
        work.entries,
    )
    for r in range(t.rows.size):
        values[r] = row_value(t, r, q, work.markers, work.directions)
        open_row(
            t,
            r,
            work.vectors[0],
            work.axes,
            work.markers,
            work.directions,
            work.entries,
            J[r],
        )


@kernel
def energies(d, phi, rotation, vectors, values):
    """Return kinetic and potential energy (weight, springs), power dissipated, power of loads."""
    kinetic, potential, dissipated, supplied = element_energies(d, phi, values)
    of_bodies, weight = body_energies(d, phi, rotation, vectors)
    return kinetic + of_bodies, potential + weight, dissipated, supplied


@kernel
def body_energies(d, phi, rotation, vectors):
    """Return kinetic and potential energy of the bodies."""
    kinetic, potential = 0.0, 0.0
    r = rotation
    for b in range(d.body_link.size):
        k = d.body_link[b]
        F = d.body_rotation
        m = phi[10 * b]
        # offset of the body origin and first moment, ground axes
        p0, p1, p2 = d.body_origin[b, 0], d.body_origin[b, 1], d.body_origin[b, 2]
        m0, m1, m2 = phi[10 * b + 1], phi[10 * b + 2], phi[10 * b + 3]
        n0 = F[b, 0, 0] * m0 + F[b, 0, 1] * m1 + F[b, 0, 2] * m2
        n1 = F[b, 1, 0] * m0 + F[b, 1, 1] * m1 + F[b, 1, 2] * m2
        n2 = F[b, 2, 0] * m0 + F[b, 2, 1] * m1 + F[b, 2, 2] * m2
        o0, o1, o2 = vectors[2, k, 0], vectors[2, k, 1], vectors[2, k, 2]
        weight = 0.0
        for i in range(3):
            s = r[k, i, 0] * p0 + r[k, i, 1] * p1 + r[k, i, 2] * p2
            c = r[k, i, 0] * n0 + r[k, i, 1] * n1 + r[k, i, 2] * n2
            weight += d.gravity[i] * (m * (vectors[0, k, i] + s) + c)
        # velocity of the body origin and (ω × m c) in ground axes
        s0 = r[k, 0, 0] * p0 + r[k, 0, 1] * p1 + r[k, 0, 2] * p2
        s1 = r[k, 1, 0] * p0 + r[k, 1, 1] * p1 + r[k, 1, 2] * p2
        s2 = r[k, 2, 0] * p0 + r[k, 2, 1] * p1 + r[k, 2, 2] * p2
        c0 = r[k, 0, 0] * n0 + r[k, 0, 1] * n1 + r[k, 0, 2] * n2
        c1 = r[k, 1, 0] * n0 + r[k, 1, 1] * n1 + r[k, 1, 2] * n2
        c2 = r[k, 2, 0] * n0 + r[k, 2, 1] * n1 + r[k, 2, 2] * n2
        v0 = vectors[1, k, 0] + o1 * s2 - o2 * s1
        v1 = vectors[1, k, 1] + o2 * s0 - o0 * s2
        v2 = vectors[1, k, 2] + o0 * s1 - o1 * s0
        square = v0 * v0 + v1 * v1 + v2 * v2
        lever = v0 * (o1 * c2 - o2 * c1) + v1 * (o2 * c0 - o0 * c2) + v2 * (o0 * c1 - o1 * c0)
        # ω in body axes
        l0 = r[k, 0, 0] * o0 + r[k, 1, 0] * o1 + r[k, 2, 0] * o2
        l1 = r[k, 0, 1] * o0 + r[k, 1, 1] * o1 + r[k, 2, 1] * o2
        l2 = r[k, 0, 2] * o0 + r[k, 1, 2] * o1 + r[k, 2, 2] * o2
        w0 = F[b, 0, 0] * l0 + F[b, 1, 0] * l1 + F[b, 2, 0] * l2
        w1 = F[b, 0, 1] * l0 + F[b, 1, 1] * l1 + F[b, 2, 1] * l2
        w2 = F[b, 0, 2] * l0 + F[b, 1, 2] * l1 + F[b, 2, 2] * l2
        spin = (
            phi[10 * b + 4] * w0 * w0 + phi[10 * b + 7] * w1 * w1 + phi[10 * b + 9] * w2 * w2
        ) + 2.0 * (
            phi[10 * b + 5] * w0 * w1 + phi[10 * b + 6] * w0 * w2 + phi[10 * b + 8] * w1 * w2
        )
        kinetic += 0.5 * (m * square + spin) + lever
        potential -= weight
    return kinetic, potential


@kernel
def element_energies(d, phi, values):
    """Return kinetic and potential energy of force elements, power dissipated, power of loads."""
    kinetic, potential, dissipated, supplied = 0.0, 0.0, 0.0, 0.0
    first = 10 * d.body_link.size
    for e in range(d.columns.size + d.known.size):
        if e < d.columns.size:
            element, coefficient = d.columns[e], phi[first + e]
        else:
            element = d.known[e - d.columns.size]
            coefficient = element.known
        s, rate = values[element.measure, 0], values[element.measure, 1]
        if element.order == 0:
            potential += coefficient * law_potential(
                element.law, s, element.a, element.b, element.c, element.d
            )
        elif element.order == 2:
            kinetic += 0.5 * coefficient * rate * rate
        elif element.law == LOAD:
            supplied -= coefficient * element_factor(element, values) * rate
        else:
            dissipated += coefficient * element_factor(element, values) * rate
    return kinetic, potential, dissipated, supplied
