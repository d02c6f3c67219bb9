"""A simulated motion as a `Motion`, for everything that reads one."""

from __future__ import annotations

import numpy as np

from mechid.dynamics.simulate import Simulation
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
