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

    Parameters
    ----------
    simulation : Simulation

    Examples
    --------
    >>> import mechid, numpy as np
    >>> swing = mechid.simulate(mechid.load("pendulum"), np.linspace(0, 1, 11))
    >>> motion = mechid.simulated_motion(swing)
    >>> np.allclose(mechid.inverse_dynamics(motion).tau, 0, atol=1e-8)  # it swings by itself
    True
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

    Parameters
    ----------
    simulation : Simulation

    Examples
    --------
    >>> import mechid, numpy as np
    >>> model = mechid.load("pendulum@point-mass-like")
    >>> swing = mechid.simulate(model, np.linspace(0, 1, 51))
    >>> pull = np.linalg.norm(mechid.simulated_reactions(swing).force[:, 0], axis=1)
    >>> angle, speed = swing.y[:, 0], swing.yd[:, 0]
    >>> np.allclose(pull, 1.2 * (9.81 * np.cos(angle) + 0.5 * speed**2), atol=1e-6)  # N
    True
    """
    result = inverse_dynamics(simulated_motion(simulation), simulation.phi, reactions=True)
    assert result.reactions is not None
    return result.reactions
