"""Forward dynamics with Lagrange multipliers, on positions and Euler parameters.

    | M   C_qᵀ | |  q̈ |   | D_qᵀ τ - h |
    | C_q   0  | | -λ | = |      γ      |

C_q are the rows of joints, gauges and unit quaternions, D_q those of the declared coordinates, on
which the actuators act. Rows may be redundant: accelerations are unique all the same, multipliers
are then the shortest ones (forces times L and moments counting alike). The number of admissible
motions is known, so the system is solved on them, q̈ = C_q⁺ γ + Z z̈, without asking a tolerance
which rows are redundant; drift of the constraints does not upset it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechid.dynamics.reference_point.body_matrix import twist_rates, unprojected
from mechid.dynamics.reference_point.eliminate import SINGULAR, observe_inverse
from mechid.dynamics.reference_point.mass import mass_and_bias
from mechid.dynamics.reference_point.model import ReferenceModel, parameter_values
from mechid.dynamics.reference_point.state import State
from mechid.errors import ModelError, SingularPoseError
from mechid.kinematics.reference_point.evaluate import gamma, jacobian
from mechid.kinematics.reference_point.system import Pose, closure_values, moved
from mechid.spatial.rotations import Array
