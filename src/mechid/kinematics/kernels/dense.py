"""All rows at once, as dense arrays: for assembly, rank decisions and margins."""

import numpy as np

from mechid.kinematics.kernels.few import few
from mechid.kinematics.kernels.jit import allocating_kernel
from mechid.kinematics.kernels.links import place_directions, place_links, place_markers
from mechid.kinematics.kernels.rows import row_entries, row_value
from mechid.kinematics.tables import Floats, Tables


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
def fill_rows(t, q, values, jacobians):
    """Add the values (N, n_rows) and dimensionless Jacobians (N, n_rows, n_v) of N poses."""
    n_links, n_columns, n_rows = t.links.size, t.columns.size, t.rows.size
    rotation = np.zeros((n_links, 3, 3))
    origin = np.zeros((n_links, 3))
    axes = np.zeros((n_columns, 3))
    markers = np.zeros((t.marker_link.size, 3))
    directions = np.zeros((t.direction_link.size, 3))
    entries = np.zeros(t.path.size)
    every = np.arange(n_rows)
    for s in range(q.shape[0]):
        place_all(t, q[s], rotation, origin, axes, markers, directions)
        row_entries(t, every, 0, n_rows, origin, axes, markers, directions, entries)
        for r in range(n_rows):
            values[s, r] += row_value(t, r, q[s], markers, directions)
            for n in range(t.rows[r].start, t.rows[r].end):
                c = t.path[n].column
                jacobians[s, r, c] += entries[n] * t.rows[r].scale * t.columns[c].scale


def dense_batch(t: Tables, q: Floats) -> tuple[Floats, Floats]:
    """Return the values (N, n_rows) and dimensionless Jacobians (N, n_rows, n_v) of N poses."""
    values = np.zeros((len(q), t.rows.size))
    jacobians = np.zeros((len(q), t.rows.size, t.columns.size))
    few(fill_rows, len(q))(t, np.ascontiguousarray(q), values, jacobians)
    return values, jacobians


def dense_rows(t: Tables, q: Floats) -> tuple[Floats, Floats]:
    """Return the values (n_rows,) and the dimensionless Jacobian (n_rows, n_v) at a pose."""
    values, jacobians = dense_batch(t, q[None])
    return values[0], jacobians[0]
