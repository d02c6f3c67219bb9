"""Flat tables of bodies, measures and columns; they stand beside the kinematic `Tables`.

A *measure* is a scalar that a force element reads and acts on: the length of a spring, an angle of
a joint, the angle of a motor. Every force element is a function of one measure s, of its rate and
of its second derivative, and does work on it, so its generalised force on the independent
coordinate y_j is that function times ∂s/∂y_j.

Bodies are numbered in the order of the mechanism, the ground last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mechid.kinematics.tables import Floats, Ints, Records

# measure kinds
COORDINATE, LENGTH, TURN, SLIDE, SUM = 0, 1, 2, 3, 4
TURNS = 5  # an angle of a cut joint, read as a sum of coordinates so that it counts its turns
# what a column takes of its measure: s, 1 (with a minus), ṡ, sign ṡ, s̈
STIFFNESS, PRELOAD, DAMPING, COULOMB, INERTIA = 0, 1, 2, 3, 4

MEASURE = np.dtype(
    [
        ("kind", np.int64),
        ("q", np.int64),  # COORDINATE: its place among q and v
        ("v", np.int64),
        ("marker_a", np.int64),  # LENGTH, SLIDE
        ("marker_b", np.int64),
        ("link_a", np.int64),  # TURN
        ("link_b", np.int64),
        ("axis", np.int64),  # TURN, SLIDE: direction of the axis
        ("x_a", np.int64),  # TURN: directions that measure the angle
        ("y_a", np.int64),
        ("x_b", np.int64),
        ("start", np.int64),  # SUM: its terms
        ("end", np.int64),
        ("body_a", np.int64),  # LENGTH, TURN, SLIDE: bodies that its force pushes apart
        ("body_b", np.int64),
        ("constant", np.float64),  # SUM only: what is added to its terms
    ]
)
TERM = np.dtype([("measure", np.int64), ("factor", np.float64)])
ELEMENT = np.dtype(
    [
        ("measure", np.int64),
        ("takes", np.int64),
        ("offset", np.float64),  # STIFFNESS: known free length or angle
        ("known", np.float64),  # value of a known coefficient
    ]
)
LOAD = np.dtype(
    [("moment", np.int64), ("marker", np.int64), ("direction", np.int64), ("body", np.int64)]
)


class MeasureTables(NamedTuple):
    """Measures and the markers and directions that they read, named as in `DynamicTables`."""

    marker_link: Ints
    marker_local: Floats
    direction_link: Ints
    direction_local: Floats
    measures: Records
    terms: Records


class DynamicTables(NamedTuple):
    """Bodies, measures, element columns and loads of one mechanism."""

    body_link: Ints
    body_rotation: Floats  # (n_b, 3, 3) body frame in its link
    body_origin: Floats  # (n_b, 3)
    reach_start: Ints  # (n_links + 1,) which independent coordinates move a link
    reach: Ints
    marker_link: Ints
    marker_local: Floats
    direction_link: Ints
    direction_local: Floats
    measures: Records
    terms: Records
    columns: Records  # ELEMENT: one column of W each
    known: Records  # ELEMENT: known coefficients, on the right-hand side
    loads: Records  # LOAD: the direction's length is the magnitude
    gravity: Floats
