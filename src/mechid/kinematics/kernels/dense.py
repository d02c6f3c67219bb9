"""All rows at once, as dense arrays: for assembly, rank decisions and margins."""

import numpy as np

from mechid.kinematics.kernels.jit import allocating_kernel
from mechid.kinematics.kernels.links import place_directions, place_links, place_markers
from mechid.kinematics.kernels.rows import row_entries, row_value


@allocating_kernel
def place_all(t, q, rotation, origin, axes, markers, directions):
    """Put every link, marker and direction."""
    for i in range(3):
        rotation[0, i, i] = 1.0
    every = np.arange(max(t.links.size, t.marker_link.size, t.direction_link.size))
    place_links(t, every, 1, t.links.size, q, rotation, origin, axes)
    place_markers(t, every, 0, t.marker_link.size, rotation, origin, markers)
    place_directions(t, every, 0, t.direction_link.size, rotation, directions)


@allocating_kernel
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
    row_entries(t, np.arange(n_rows), 0, n_rows, origin, axes, markers, directions, entries)
    for r in range(n_rows):
        values[r] = row_value(t, r, q, markers, directions)
        for n in range(t.rows[r].start, t.rows[r].end):
            c = t.path[n].column
            jacobian[r, c] += entries[n] * t.rows[r].scale * t.columns[c].scale
    return values, jacobian


@allocating_kernel
def dense_batch(t, q, jacobians):
    """Fill the dimensionless Jacobians (N, n_rows, n_v) of many poses."""
    for s in range(q.shape[0]):
        found = dense_rows(t, q[s])[1]
        # (Assigning the array would compile the message of shapes that differ, for seconds.)
        for r in range(found.shape[0]):
            for c in range(found.shape[1]):
                jacobians[s, r, c] = found[r, c]
