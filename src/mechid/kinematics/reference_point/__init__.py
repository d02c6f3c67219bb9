"""Second formulation: positions and Euler parameters of every body, plain NumPy.

The independent check of the tree formulation, with which it shares no kernel.
"""

from mechid.kinematics.reference_point.close import (
    Closing,
    assemble,
    close,
    flipped_joints,
    joint_gaps,
)
from mechid.kinematics.reference_point.evaluate import Equations, gamma, jacobian, values
from mechid.kinematics.reference_point.passive import Spin, passive_spins
from mechid.kinematics.reference_point.solve import (
    Motion,
    follow,
    margin,
    solve_acceleration,
    solve_position,
    solve_velocity,
)
from mechid.kinematics.reference_point.system import (
    Pose,
    System,
    closure_values,
    compile_system,
    coordinates,
    reference_pose,
    twist_jacobian,
)
from mechid.kinematics.reference_point.walk import generic_pose, random_walk

__all__ = [
    "Closing",
    "Equations",
    "Motion",
    "Pose",
    "Spin",
    "System",
    "assemble",
    "close",
    "closure_values",
    "compile_system",
    "coordinates",
    "flipped_joints",
    "follow",
    "gamma",
    "generic_pose",
    "jacobian",
    "joint_gaps",
    "margin",
    "passive_spins",
    "random_walk",
    "reference_pose",
    "solve_acceleration",
    "solve_position",
    "solve_velocity",
    "twist_jacobian",
    "values",
]
