"""Tables of motions: reading, deriving speeds, and writing what a motion gives."""

from mechid.tables.files import read_columns, write_table
from mechid.tables.motion import MotionTable, read_motion
from mechid.tables.names import find_point, points_of
from mechid.tables.observe import (
    body_columns,
    coordinate_columns,
    joint_columns,
    point_columns,
    point_motion,
)
from mechid.tables.quality import closure_residual, limit_notes

__all__ = [
    "MotionTable",
    "body_columns",
    "closure_residual",
    "coordinate_columns",
    "find_point",
    "joint_columns",
    "limit_notes",
    "point_columns",
    "point_motion",
    "points_of",
    "read_columns",
    "read_motion",
    "write_table",
]
