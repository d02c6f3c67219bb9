"""The flat tables that the kernels run over: one set of record arrays per mechanism, no code.

A *link* is one elementary step of the spanning tree: a screw motion about the z axis of its joint
frame (revolute, prismatic and helical joints are special cases) or a ball. A joint with several
freedoms is a chain of links; a fixed joint is none. Link 0 is the ground. Bodies, markers (points)
and directions ride on links.

A *column* is one tree speed. A *row* is one scalar equation: closure of a cut joint, a coupling or
distance constraint, an independent coordinate that is not simply a tree coordinate, or a gauge that
holds a passive spin.
The *path* lists, row by row, the columns that move it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Records = Any  # np.recarray; its fields are known to the kernels only

# link kinds
SCREW, BALL = 0, 1
# where a column that is an independent coordinate itself stands instead of in a piece
DIRECTLY, ALONE = -1, -2  # ALONE: and no row reads it
# row kinds
POINT, DOT, PLANE, DISTANCE, SCREW_ROW, COUPLING = 0, 1, 2, 3, 4, 5

LINK = np.dtype(
    [
        ("parent", np.int64),
        ("kind", np.int64),
        ("turn", np.float64),  # rad of rotation per unit of coordinate
        ("shift", np.float64),  # m of translation per unit of coordinate
        ("q", np.int64),  # first coordinate
        ("v", np.int64),  # first column
    ]
)
COLUMN = np.dtype(
    [
        ("link", np.int64),
        ("turn", np.float64),  # as of its link
        ("shift", np.float64),
        ("scale", np.float64),  # typical size of the coordinate: 1 rad or L
        ("detail", np.float64),  # part of it over which equations may bend: small on a cut thread
    ]
)
ROW = np.dtype(
    [
        ("kind", np.int64),
        ("marker_a", np.int64),
        ("marker_b", np.int64),
        ("direction_a", np.int64),  # PLANE and SCREW_ROW have this one only, DOT both
        ("direction_b", np.int64),
        ("x_a", np.int64),  # SCREW_ROW only: further directions that measure the angle
        ("y_a", np.int64),
        ("x_b", np.int64),
        ("driver", np.int64),  # independent coordinate that is the target, or -1: zero
        ("scale", np.float64),  # makes the row dimensionless
        ("pitch", np.float64),  # m per rad, SCREW_ROW only
        ("constant", np.float64),  # DISTANCE and COUPLING: what is taken from the value
        ("start", np.int64),  # its part of the path
        ("end", np.int64),
    ]
)
# The column carries side a (0) or b (1); `factor` is that of a coordinate in a COUPLING.
PATH = np.dtype([("column", np.int64), ("side", np.int64), ("factor", np.float64)])
DIRECT = np.dtype([("q", np.int64), ("column", np.int64), ("driver", np.int64)])

PIECE = np.dtype(
    [
        (f"{what}_{end}", np.int64)
        for what in ("link", "marker", "direction", "row", "column", "driver")
        for end in ("start", "end")
    ]
    + [("factors", np.int64), ("pivots", np.int64)]  # where its LU factors and pivots begin
    + [("inside_start", np.int64), ("inside_end", np.int64)]
)
# weight: one over the scale of the column, or zero where no row reads it
PLACE = np.dtype([("piece", np.int64), ("index", np.int64), ("weight", np.float64)])
# steps of the path: where an entry stands in the matrix of its piece, or which solved column it has
INSIDE = np.dtype([("entry", np.int64), ("at", np.int64), ("scale", np.float64)])
BEFORE = np.dtype([("entry", np.int64), ("column", np.int64)])


class Tables(NamedTuple):
    """Links, columns, markers, directions, rows of one mechanism.

    Records hold numbers only; vectors stand in plain arrays beside them, because views of arrays
    are counted references, and counting costs more than the arithmetic in between.
    """

    links: Records
    link_rotation: Floats  # (n_links, 3, 3) joint frame in the parent link
    link_translation: Floats  # (n_links, 3)
    columns: Records
    marker_link: Ints
    marker_local: Floats  # (n_markers, 3)
    direction_link: Ints
    direction_local: Floats  # (n_directions, 3)
    rows: Records
    row_vector: Floats  # (n_rows, 3) fixed direction of POINT rows
    path: Records
    direct: Records  # tree coordinates that are independent coordinates themselves


class Order(NamedTuple):
    """The order of solution: small pieces, each after those it needs.

    The first piece has no unknowns (what the direct coordinates place), the last one only places
    links that no row reads. `items` holds the lists that the pieces point into; `columns` says
    which piece solves a column and where it stands there (piece -1: direct).

    Of the columns on the path of a row, those of its piece are listed in `inside`, piece by piece;
    those that earlier pieces have solved in `before`, from before_start[row] on. A column of a
    later piece stands in the row by its path only: its rate is zero there.
    """

    pieces: Records
    items: Ints
    columns: Records
    inside: Records
    before: Records
    before_start: Ints  # (n_rows + 1,)
    n_factors: int
