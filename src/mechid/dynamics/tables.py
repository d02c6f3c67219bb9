"""Flat tables of bodies, measures and columns; they stand beside the kinematic `Tables`.

A *measure* is a scalar that a force element reads and acts on: the length of a spring, an angle of
a joint, the angle of a motor. Every term of an element is a function of one measure s, of its rate
or of its second derivative, and does work on it, so its generalised force on the independent
coordinate y_j is that function times ∂s/∂y_j. Of PUSH and SPIN there is only the rate.

Bodies are numbered in the order of the mechanism, the ground last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mechid.kinematics.tables import Floats, Ints, Records

# measure kinds
COORDINATE, LENGTH, TURN, SLIDE, SUM = 0, 1, 2, 3, 4
TURNS = 5  # an angle of a cut joint, read from others so that it counts its turns
DOT = 6  # product of two directions
PUSH, SPIN = 7, 8  # velocity of a marker along a direction, angular velocity about one

MEASURE = np.dtype(
    [
        ("kind", np.int64),
        ("q", np.int64),  # COORDINATE: its place among q and v
        ("v", np.int64),
        ("marker_a", np.int64),  # LENGTH, SLIDE
        ("marker_b", np.int64),  # PUSH too
        ("link_a", np.int64),  # TURN, DOT
        ("link_b", np.int64),
        ("axis", np.int64),  # TURN, SLIDE, PUSH, SPIN: direction of the axis
        ("x_a", np.int64),  # TURN: directions that measure the angle; DOT: x_a and x_b
        ("y_a", np.int64),
        ("x_b", np.int64),
        ("start", np.int64),  # SUM: its terms
        ("end", np.int64),
        ("body_a", np.int64),  # bodies that its force pushes apart
        ("body_b", np.int64),  # PUSH, SPIN: the only one
        ("constant", np.float64),  # SUM only: what is added to its terms
    ]
)
TERM = np.dtype([("measure", np.int64), ("factor", np.float64)])
ELEMENT = np.dtype(
    [
        ("measure", np.int64),
        ("order", np.int64),  # which derivative of the measure the law takes
        ("law", np.int64),
        ("a", np.float64),  # shape of the law
        ("b", np.float64),
        ("c", np.float64),
        ("d", np.float64),
        ("known", np.float64),  # value of a known coefficient
    ]
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
    """Bodies, measures and element terms of one mechanism."""

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
    gravity: Floats
