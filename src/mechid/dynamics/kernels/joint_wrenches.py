"""What joints transmit, as wrenches (force, moment) about the origin of the axes they are in."""

import numpy as np

from mechid.dynamics.kernels.wrenches import add_force, add_moment
from mechid.dynamics.reaction_tables import COUPLED, FORCE, LINE, MOMENT, SPIN, THREAD
from mechid.kinematics.kernels.jit import kernel


@kernel
def place_joints(x, rotation, origin, place, frame_a, frame_b):
    """Fill the origin of each joint's frame b, place (n_joints, 3), and the axes of its frames."""
    for j in range(x.joints.size):
        a, b = x.joints[j].link_a, x.joints[j].link_b
        for i in range(3):
            r0, r1, r2 = rotation[a, i, 0], rotation[a, i, 1], rotation[a, i, 2]
            for k in range(3):
                frame_a[j, i, k] = (
                    r0 * x.rotation_a[j, 0, k]
                    + r1 * x.rotation_a[j, 1, k]
                    + r2 * x.rotation_a[j, 2, k]
                )
            r0, r1, r2 = rotation[b, i, 0], rotation[b, i, 1], rotation[b, i, 2]
            for k in range(3):
                frame_b[j, i, k] = (
                    r0 * x.rotation_b[j, 0, k]
                    + r1 * x.rotation_b[j, 1, k]
                    + r2 * x.rotation_b[j, 2, k]
                )
            place[j, i] = (
                origin[b, i] + r0 * x.origin_b[j, 0] + r1 * x.origin_b[j, 1] + r2 * x.origin_b[j, 2]
            )


@kernel
def column_wrenches(t, x, place, axes, on_columns, demand):
    """Add forces on coordinates of tree joints to the bodies that these joints connect.

    They act at the joint, on its freedoms alone: a force along an axis of sliding, a moment about
    an axis of turning. The axes of roll, pitch and yaw are not normal to each other; a moment on
    one of them does no work on the other two.
    """
    for s in range(x.steps.size):
        step = x.steps[s]
        j = step.joint
        x0, x1, x2 = place[j, 0], place[j, 1], place[j, 2]
        for c in range(step.first, step.last):
            f = on_columns[c]
            if f == 0.0:
                continue
            n0, n1, n2 = axes[c, 0], axes[c, 1], axes[c, 2]
            if t.columns[c].turn == 0.0:
                f *= t.columns[c].shift  # ±1
                n0, n1, n2 = f * n0, f * n1, f * n2
                add_force(demand, step.child, n0, n1, n2, x0, x1, x2)
                add_force(demand, step.parent, -n0, -n1, -n2, x0, x1, x2)
                continue
            if step.angles == 1:  # inside the translations of a free joint
                inside = step.first if step.reverse == 1 else step.last - 3
                n0, n1, n2 = _reciprocal(axes, c, inside)
            f *= t.columns[c].turn  # ±1
            add_moment(demand, step.child, f * n0, f * n1, f * n2)
            add_moment(demand, step.parent, -f * n0, -f * n1, -f * n2)


@kernel
def _reciprocal(axes, c, first):
    """Return the vector normal to the two axes beside c, with a product of 1 with axis c."""
    k = c - first
    a, b = first + (k + 1) % 3, first + (k + 2) % 3
    n0 = axes[a, 1] * axes[b, 2] - axes[a, 2] * axes[b, 1]
    n1 = axes[a, 2] * axes[b, 0] - axes[a, 0] * axes[b, 2]
    n2 = axes[a, 0] * axes[b, 1] - axes[a, 1] * axes[b, 0]
    volume = axes[c, 0] * n0 + axes[c, 1] * n1 + axes[c, 2] * n2
    return n0 / volume, n1 / volume, n2 / volume


@kernel
def held_wrenches(x, rotation, origin, place, frame_a, frame_b, held):
    """Fill held (m, 6): what a unit multiplier of each held row does to the second body.

    Multipliers are in N m: forces are multiplied by the size of the mechanism. What couplings do
    stands in `equations_of_columns`.
    """
    held[:, :] = 0.0
    for r in range(x.rows.size):
        row = x.rows[r]
        j, a, b = row.joint, row.axis_a, row.axis_b
        if row.kind == COUPLED:
            continue
        if row.kind == LINE:
            a0, a1, a2 = _line_end(x, j, 0, rotation, origin)
            b0, b1, b2 = _line_end(x, j, 1, rotation, origin)
            e0, e1, e2 = b0 - a0, b1 - a1, b2 - a2
            f = 1.0 / (x.size * np.sqrt(e0 * e0 + e1 * e1 + e2 * e2))
            add_force(held, r, f * e0, f * e1, f * e2, b0, b1, b2)
            continue
        if row.kind == SPIN:
            o0, o1, o2 = _spin_direction(x, j, 0, rotation)
            i0, i1, i2 = _spin_direction(x, j, 1, rotation)
            add_moment(held, r, i1 * o2 - i2 * o1, i2 * o0 - i0 * o2, i0 * o1 - i1 * o0)
            continue
        a0, a1, a2 = frame_a[j, 0, a], frame_a[j, 1, a], frame_a[j, 2, a]
        if row.kind == MOMENT:
            b0, b1, b2 = frame_b[j, 0, b], frame_b[j, 1, b], frame_b[j, 2, b]
            add_moment(held, r, b1 * a2 - b2 * a1, b2 * a0 - b0 * a2, b0 * a1 - b1 * a0)
            continue
        a0, a1, a2 = a0 / x.size, a1 / x.size, a2 / x.size
        add_force(held, r, a0, a1, a2, place[j, 0], place[j, 1], place[j, 2])
        if row.kind != FORCE:  # a thread: no work in an advance of its lead per radian
            add_moment(held, r, -row.lead * a0, -row.lead * a1, -row.lead * a2)


@kernel
def _line_end(x, s, which, rotation, origin):
    k = x.line_link[s, which]
    p0, p1, p2 = x.line_local[s, which, 0], x.line_local[s, which, 1], x.line_local[s, which, 2]
    return (
        origin[k, 0] + rotation[k, 0, 0] * p0 + rotation[k, 0, 1] * p1 + rotation[k, 0, 2] * p2,
        origin[k, 1] + rotation[k, 1, 0] * p0 + rotation[k, 1, 1] * p1 + rotation[k, 1, 2] * p2,
        origin[k, 2] + rotation[k, 2, 0] * p0 + rotation[k, 2, 1] * p1 + rotation[k, 2, 2] * p2,
    )


@kernel
def _spin_direction(x, s, which, rotation):
    k = x.spin_link[s, which]
    p0, p1, p2 = x.spin_local[s, which, 0], x.spin_local[s, which, 1], x.spin_local[s, which, 2]
    return (
        rotation[k, 0, 0] * p0 + rotation[k, 0, 1] * p1 + rotation[k, 0, 2] * p2,
        rotation[k, 1, 0] * p0 + rotation[k, 1, 1] * p1 + rotation[k, 1, 2] * p2,
        rotation[k, 2, 0] * p0 + rotation[k, 2, 1] * p1 + rotation[k, 2, 2] * p2,
    )


@kernel
def equations_of_columns(t, x, origin, axes, held, behind, A, rhs):
    """Fill A (m, n_v) and rhs (n_v,): Aᵀ λ = rhs makes tree joints free along their columns.

    Where a column is coupled, its joint transmits what the coupling exerts there.
    `behind` (n_b + 1, 6) is what all joints together supply to a body and those behind it.
    """
    for s in range(x.steps.size):
        step = x.steps[s]
        b = step.child
        for c in range(step.first, step.last):
            k, scale = t.columns[c].link, t.columns[c].scale
            turn, shift = scale * t.columns[c].turn, scale * t.columns[c].shift
            w0, w1, w2 = turn * axes[c, 0], turn * axes[c, 1], turn * axes[c, 2]
            # velocity of what is at the origin of the axes
            v0 = shift * axes[c, 0] + origin[k, 1] * w2 - origin[k, 2] * w1
            v1 = shift * axes[c, 1] + origin[k, 2] * w0 - origin[k, 0] * w2
            v2 = shift * axes[c, 2] + origin[k, 0] * w1 - origin[k, 1] * w0
            rhs[c] = v0 * behind[b, 0] + v1 * behind[b, 1] + v2 * behind[b, 2]
            rhs[c] += w0 * behind[b, 3] + w1 * behind[b, 4] + w2 * behind[b, 5]
            for r in range(x.rows.size):
                A[r, c] = 0.0
                if x.side[s, r] != 0:
                    power = v0 * held[r, 0] + v1 * held[r, 1] + v2 * held[r, 2]
                    power += w0 * held[r, 3] + w1 * held[r, 4] + w2 * held[r, 5]
                    A[r, c] = x.side[s, r] * power
    for i in range(x.coupled.size):
        c = x.coupled[i].column
        A[x.coupled[i].row, c] += x.coupled[i].factor * t.columns[c].scale


@kernel
def transmitted(x, held, multipliers, share, behind, place, found):
    """Fill found (n_joints, 6): what each joint does to its body b, about its place.

    Of what is to be supplied `behind` each tree step, a `share` (1, or 0 for an internal state of
    stress alone) is counted.
    """
    found[:, :] = 0.0
    for r in range(x.rows.size):
        if x.rows[r].kind <= THREAD:
            for i in range(6):
                found[x.rows[r].joint, i] += multipliers[r] * held[r, i]
    for s in range(x.steps.size):
        step = x.steps[s]
        for i in range(6):
            y = share * behind[step.child, i]
            for r in range(x.rows.size):
                if x.side[s, r] != 0:
                    y -= x.side[s, r] * multipliers[r] * held[r, i]
            found[step.joint, i] = -y if step.reverse == 1 else y
    for j in range(x.joints.size):
        x0, x1, x2 = place[j, 0], place[j, 1], place[j, 2]
        f0, f1, f2 = found[j, 0], found[j, 1], found[j, 2]
        found[j, 3] -= x1 * f2 - x2 * f1
        found[j, 4] -= x2 * f0 - x0 * f2
        found[j, 5] -= x0 * f1 - x1 * f0


@kernel
def weighted(t, x, axes, frame_a, multipliers, found, out):
    """Fill out (6 n_joints + n_constraints + n_spins,): the numbers with a small sum of squares.

    Forces count times the size of the mechanism. The moment along a thread is a part of its force
    and is not counted again. Constraints and moments that hold spins count too, and what a coupling
    exerts at a joint is not counted again there.
    """
    for j in range(x.joints.size):
        m0, m1, m2 = found[j, 3], found[j, 4], found[j, 5]
        if x.joints[j].helical == 1:
            n0, n1, n2 = frame_a[j, 0, 2], frame_a[j, 1, 2], frame_a[j, 2, 2]
            along = m0 * n0 + m1 * n1 + m2 * n2
            m0, m1, m2 = m0 - along * n0, m1 - along * n1, m2 - along * n2
        for i in range(3):
            out[6 * j + i] = x.size * found[j, i]
        out[6 * j + 3], out[6 * j + 4], out[6 * j + 5] = m0, m1, m2
    for i in range(x.coupled.size):
        part = x.coupled[i]
        column = t.columns[part.column]
        f = part.sense * part.factor * multipliers[part.row]
        at = 6 * part.joint + 3
        if column.shift != 0.0:
            f *= x.size / column.shift
            at -= 3
        else:
            f *= column.turn  # ±1
        for k in range(3):
            out[at + k] -= f * axes[part.column, k]
    others = out.size - 6 * x.joints.size
    for s in range(others):
        out[6 * x.joints.size + s] = multipliers[x.rows.size - others + s]
