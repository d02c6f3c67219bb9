"""Wrenches of the closure: what the loops transmit of a derivative.

Admissible motions and accelerations follow from rows that do not move: J R = const and r̈ = const.
A function of R and v̇ therefore changes with the pose as if each row, times what it weighs in the
function, were taken from it. A coupling has constant rates and changes nothing.
"""

from mechid.dynamics.kernels.adjoint_rates import (
    adjoint_axis_motion,
    adjoint_axis_speeds,
    adjoint_dot_motion,
    adjoint_dot_speeds,
    adjoint_line_motion,
    adjoint_line_speeds,
    adjoint_pin_motion,
    adjoint_pin_speeds,
)
from mechid.dynamics.kernels.screws import minus, plus, times, vector
from mechid.kinematics.kernels.jit import inlined_kernel, kernel
from mechid.kinematics.tables import COUPLING, DISTANCE, DOT, POINT, SCREW_ROW


@inlined_kernel
def _same_pin(t, r):
    """Return the end of the POINT rows from r on that lie between the same markers."""
    first, last = t.rows[r], r + 1
    while last < t.rows.size:
        row = t.rows[last]
        if row.kind != POINT or row.marker_a != first.marker_a or row.marker_b != first.marker_b:
            break
        last += 1
    return last


@inlined_kernel
def _used(rows, n, first, last):
    """Tell whether any of the rows weighs anything in the first n functions."""
    for r in range(first, last):
        for j in range(n):
            if rows[r, j] != 0.0:
                return True
    return False


@inlined_kernel
def _axis(t, r, directions):
    """Link and direction of the axis of a row, its pitch and sense, as in its entries."""
    row = t.rows[r]
    d = row.direction_a
    pitch, sense = (row.pitch, -1.0) if row.kind == SCREW_ROW else (0.0, 1.0)
    return t.direction_link[d], vector(directions, d), pitch, sense


@kernel
def adjoint_row_accelerations(t, n, markers, directions, pull):
    """Enter the second derivatives of all rows, times pull.rows[:, n + 1]."""
    pole = vector(pull.pole, 0)
    r, last = 0, 0
    while last < t.rows.size:
        r = last
        row = t.rows[r]
        last = _same_pin(t, r) if row.kind == POINT else r + 1
        a, b = t.marker_link[row.marker_a], t.marker_link[row.marker_b]
        mb = minus(vector(markers, row.marker_b), pole)
        mu = pull.rows[r, n + 1]
        if row.kind == POINT:
            f = (0.0, 0.0, 0.0)
            for i in range(r, last):
                f = plus(f, times(pull.rows[i, n + 1], vector(t.row_vector, i)))
            adjoint_pin_motion(pull, n, a, b, f, mb)
        elif mu == 0.0 or row.kind == COUPLING:
            continue
        elif row.kind == DOT:
            da, db = row.direction_a, row.direction_b
            a, b = t.direction_link[da], t.direction_link[db]
            adjoint_dot_motion(
                pull, n, 0.0, mu, a, b, vector(directions, da), vector(directions, db)
            )
        elif row.kind == DISTANCE:
            ma = minus(vector(markers, row.marker_a), pole)
            adjoint_line_motion(pull, n, 0.0, mu, a, b, ma, mb)
        else:
            of_d, d, pitch, sense = _axis(t, r, directions)
            adjoint_axis_motion(pull, n, 0.0, mu, a, b, of_d, b, pitch, sense, d, mb)


@kernel
def adjoint_row_speeds(t, n, markers, directions, pull):
    """Enter the speeds of all rows per unit of independent speed, times pull.rows[:, :n]."""
    pole = vector(pull.pole, 0)
    r, last = 0, 0
    while last < t.rows.size:
        r = last
        row = t.rows[r]
        last = _same_pin(t, r) if row.kind == POINT else r + 1
        if row.kind == COUPLING or not _used(pull.rows, n, r, last):
            continue
        a, b = t.marker_link[row.marker_a], t.marker_link[row.marker_b]
        mb = minus(vector(markers, row.marker_b), pole)
        if row.kind == POINT:
            adjoint_pin_speeds(t, pull, n, pull.rows, r, last, a, b, mb)
        elif row.kind == DOT:
            da, db = row.direction_a, row.direction_b
            a, b = t.direction_link[da], t.direction_link[db]
            adjoint_dot_speeds(
                pull, n, pull.rows, r, a, b, vector(directions, da), vector(directions, db)
            )
        elif row.kind == DISTANCE:
            ma = minus(vector(markers, row.marker_a), pole)
            adjoint_line_speeds(pull, n, pull.rows, r, a, b, ma, mb)
        else:
            of_d, d, pitch, sense = _axis(t, r, directions)
            adjoint_axis_speeds(pull, n, pull.rows, r, a, b, of_d, b, pitch, sense, d, mb)
