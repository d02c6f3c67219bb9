"""All rows at once, as dense arrays: for assembly, rank decisions and margins."""

import numpy as np

from mechid.kinematics.kernels.jit import kernel
from mechid.kinematics.kernels.links import place_direction, place_link, place_marker
from mechid.kinematics.kernels.rows import row_entries, row_value


@kernel
def place_all(t, q, rotation, origin, axes, markers, directions):
    """Put every link, marker and direction."""
    for i in range(3):
        rotation[0, i, i] = 1.0
    for k in range(1, t.links.size):
        place_link(t, k, q, rotation, origin, axes)
    for m in range(t.marker_link.size):
        place_marker(t, m, rotation, origin, markers)
    for m in range(t.direction_link.size):
        place_direction(t, m, rotation, directions)


@kernel
def dense_rows(t, q):
    """Return the values (n_rows,) and the dimensionless Jacobian (n_rows, n_v) at a pose."""
    n_links, n_columns, n_rows = t.links.size, t.columns.size, t.rows.size
    rotation = np.zeros((n_links, 3, 3))
    origin = np.zeros((n_links, 3))
    axes = np.zeros((n_columns, 3))
    markers = np.zeros((t.marker_link.size, 3))
    directions = np.zeros((t.direction_link.size, 3))
    place_all(t, q, rotation, origin, axes, markers, directions)
    values = np.zeros(n_rows)
    jacobian = np.zeros((n_rows, n_columns))
    entries = np.zeros(t.path.size)
    for r in range(n_rows):
        values[r] = row_value(t, r, markers, directions)
        row_entries(t, r, origin, axes, markers, directions, entries)
        for n in range(t.rows[r].start, t.rows[r].end):
            c = t.path[n].column
            jacobian[r, c] += entries[n] * t.rows[r].scale * t.columns[c].scale
    return values, jacobian


@kernel
def dense_batch(t, q, jacobians):
    """Fill the dimensionless Jacobians (N, n_rows, n_v) of many poses."""
    for s in range(q.shape[0]):
        jacobians[s] = dense_rows(t, q[s])[1]
