"""Wrenches of the closure: what the loops transmit of a derivative.

Admissible motions and accelerations follow from rows that do not move: J R = const and r̈ = const.
A function of R and v̇ therefore changes with the pose as if each row, times what it weighs in the
function, were taken from it.
"""

from mechid.dynamics.kernels.pull_rates import (
    pull_axis_motion,
    pull_axis_speeds,
    pull_dot_motion,
    pull_dot_speeds,
    pull_line_motion,
    pull_line_speeds,
)
from mechid.dynamics.kernels.screws import minus, vector
from mechid.kinematics.kernels.jit import inlined_kernel, kernel
from mechid.kinematics.tables import DISTANCE, DOT, POINT, SCREW_ROW


@inlined_kernel
def _axis(t, r, directions):
    """Link and direction of the axis of a row, its pitch and sense, as in its entries."""
    row = t.rows[r]
    if row.kind == POINT:
        return 0, vector(t.row_vector, r), 0.0, 1.0
    d = row.direction_a
    pitch, sense = (row.pitch, -1.0) if row.kind == SCREW_ROW else (0.0, 1.0)
    return t.direction_link[d], vector(directions, d), pitch, sense


@kernel
def pull_row_accelerations(t, n, markers, directions, pull):
    """Enter the second derivatives of all rows, times pull.rows[:, n + 1]."""
    pole = vector(pull.pole, 0)
    for r in range(t.rows.size):
        mu = pull.rows[r, n + 1]
        if mu == 0.0:
            continue
        row = t.rows[r]
        if row.kind == DOT:
            da, db = row.direction_a, row.direction_b
            a, b = t.direction_link[da], t.direction_link[db]
            pull_dot_motion(pull, n, 0.0, mu, a, b, vector(directions, da), vector(directions, db))
            continue
        a, b = t.marker_link[row.marker_a], t.marker_link[row.marker_b]
        mb = minus(vector(markers, row.marker_b), pole)
        if row.kind == DISTANCE:
            ma = minus(vector(markers, row.marker_a), pole)
            pull_line_motion(pull, n, 0.0, mu, a, b, ma, mb)
        else:
            of_d, d, pitch, sense = _axis(t, r, directions)
            pull_axis_motion(pull, n, 0.0, mu, a, b, of_d, b, pitch, sense, d, mb)


@kernel
def pull_row_speeds(t, n, markers, directions, pull):
    """Enter the speeds of all rows per unit of independent speed, times pull.rows[:, :n]."""
    pole = vector(pull.pole, 0)
    for r in range(t.rows.size):
        moved = False
        for j in range(n):
            moved = moved or pull.rows[r, j] != 0.0
        if not moved:
            continue
        row = t.rows[r]
        if row.kind == DOT:
            da, db = row.direction_a, row.direction_b
            a, b = t.direction_link[da], t.direction_link[db]
            pull_dot_speeds(
                pull, n, pull.rows, r, a, b, vector(directions, da), vector(directions, db)
            )
            continue
        a, b = t.marker_link[row.marker_a], t.marker_link[row.marker_b]
        mb = minus(vector(markers, row.marker_b), pole)
        if row.kind == DISTANCE:
            ma = minus(vector(markers, row.marker_a), pole)
            pull_line_speeds(pull, n, pull.rows, r, a, b, ma, mb)
        else:
            of_d, d, pitch, sense = _axis(t, r, directions)
            pull_axis_speeds(pull, n, pull.rows, r, a, b, of_d, b, pitch, sense, d, mb)
