"""Inverse dynamics: from a motion to the forces that it takes, and to the reactions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechid.dynamics.columns import Column
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.reactions import JointReactions, joint_reactions
from mechid.dynamics.regressor import observation_blocks
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats

_BLOCK = 2048  # samples of W in memory at a time


@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """Forces that a motion takes.

    Attributes
    ----------
    motion : Motion
    tau : array (N, n_i)
        Forces on the independent coordinates (N or N m), in the order of the model.
    phi : array (p,)
        The parameters they were computed with.
    columns : tuple of Column
        Names and units of the parameters.
    reactions : JointReactions or None
        If asked for.
    """

    motion: Motion
    tau: Floats
    phi: Floats
    columns: tuple[Column, ...]
    reactions: JointReactions | None = None


def inverse_dynamics(
    motion: Motion,
    phi: Floats | None = None,
    *,
    reactions: bool = False,
    watch: Callable[[int], None] | None = None,
) -> InverseDynamics:
    """Return the generalised forces of a solved motion, τ = W φ + known.

    Parameters
    ----------
    motion : Motion
    phi : array (p,), optional
        Parameters in the order of the columns of W; default: CAD values.
    reactions : bool
        Also the forces and moments in every joint.
    watch : callable (samples), optional
        Called from time to time with the samples whose reactions are done, for progress.

    Raises
    ------
    ModelError
        If a parameter has no value.
    """
    model = dynamic_model(motion.model.mechanism)
    values = parameter_values(model, phi)
    tau = np.zeros(motion.y.shape)
    for part, seen in observation_blocks(motion, _BLOCK):
        tau[part] = seen.W @ values + seen.known
    found = joint_reactions(motion, values, tau, watch) if reactions else None
    return InverseDynamics(motion, tau, values, model.columns, found)
