"""Trajectory files: motions as coefficients in YAML, and tables made of them."""

from mechid.trajectoryfile.api import (
    dumps_trajectory,
    load_trajectory,
    loads_trajectory,
    save_trajectory,
)
from mechid.trajectoryfile.expression import Expression
from mechid.trajectoryfile.motion import read_motion_file, write_trajectory_table

__all__ = [
    "Expression",
    "dumps_trajectory",
    "load_trajectory",
    "loads_trajectory",
    "read_motion_file",
    "save_trajectory",
    "write_trajectory_table",
]
