"""A simulated motion as a `Motion`, for everything that reads one, and its joint reactions."""

from __future__ import annotations

import numpy as np

from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.reactions import JointReactions
from mechid.dynamics.simulation import Simulation
from mechid.kinematics.motion import Motion, rates


def simulated_motion(simulation: Simulation) -> Motion:
    """Return the states of a simulation as a motion.

    The tree states are those of the simulation, drift included; v̇ = R ÿ + b follows from them.
    """
    s = simulation
    still = np.zeros_like(s.v)
    q, v = np.ascontiguousarray(s.q), np.ascontiguousarray(s.v)
    y, yd, ydd = (np.ascontiguousarray(a) for a in (s.y, s.yd, s.ydd))
    motion = Motion(s.model.kinematics, s.time, y, yd, ydd, q, v, still, ordered=True)
    linear = rates(motion)
    vd = np.einsum("nvi,ni->nv", linear.R, ydd) + linear.bias
    return Motion(s.model.kinematics, s.time, y, yd, ydd, q, v, vd, ordered=True)


def simulated_reactions(simulation: Simulation) -> JointReactions:
    """Return the forces and moments in every joint, at all instants of a simulation.

    They belong to the accelerations of the simulation, with the parameters it was made with.
    """
    result = inverse_dynamics(simulated_motion(simulation), simulation.phi, reactions=True)
    assert result.reactions is not None
    return result.reactions
