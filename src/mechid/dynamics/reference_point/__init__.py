"""Dynamics in the second formulation: positions and Euler parameters of every body, plain NumPy.

The independent check of the fast formulation, with which it shares no kernel; and the one that
knows constraint forces.
"""

from mechid.dynamics.reference_point.augmented import (
    Accelerations,
    Augmented,
    accelerations,
    augmented,
    constraint_error,
)
from mechid.dynamics.reference_point.body_matrix import body_regressor, speed_map, unprojected
from mechid.dynamics.reference_point.eliminate import admissible_motions, null_basis
from mechid.dynamics.reference_point.mass import mass_and_bias
from mechid.dynamics.reference_point.model import (
    ReferenceModel,
    parameter_values,
    reference_model,
)
from mechid.dynamics.reference_point.multipliers import inverse_dynamics, multipliers_of
from mechid.dynamics.reference_point.observation import observation_matrix_reference, observe
from mechid.dynamics.reference_point.reactions import (
    Reactions,
    joint_reactions,
    joint_reactions_reference,
)
from mechid.dynamics.reference_point.state import State, solve_states, state_from_motion

__all__ = [
    "Accelerations",
    "Augmented",
    "Reactions",
    "ReferenceModel",
    "State",
    "accelerations",
    "admissible_motions",
    "augmented",
    "body_regressor",
    "constraint_error",
    "inverse_dynamics",
    "joint_reactions",
    "joint_reactions_reference",
    "mass_and_bias",
    "multipliers_of",
    "null_basis",
    "observation_matrix_reference",
    "observe",
    "parameter_values",
    "reference_model",
    "solve_states",
    "speed_map",
    "state_from_motion",
    "unprojected",
]
