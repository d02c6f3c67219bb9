"""Exact sensitivities of the observation matrix to coordinates, speeds and accelerations.

With respect to the parameters there is nothing to differentiate: W φ is linear in φ.
"""

from __future__ import annotations

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.hysteresis import is_path, remembered
from mechid.dynamics.load_friction import load_friction
from mechid.dynamics.regressor import fill_observation, observation_matrix
from mechid.dynamics.timed_loads import timed_loads
from mechid.kinematics.motion import Motion
from mechid.kinematics.sensitivities import complex_motion
from mechid.kinematics.tables import Floats


def observation_sensitivity(
    motion: Motion, direction: int, model: DynamicModel | None = None
) -> tuple[Floats, Floats]:
    """Return ∂W (N, n_i, p) and ∂known (N, n_i) along one of 3 n_i directions: y, then ẏ, then ÿ.

    By a complex step through closure and regressor, exact to rounding. Coulomb friction is taken
    as constant on either side of standstill, and so is what hysteresis has of the path before.
    """
    k = motion.model
    d = dynamic_model(k.mechanism) if model is None else model
    rubbing = load_friction(d.mechanism)
    if rubbing is not None:
        plain = observation_matrix(motion, rubbing.model)
        W, known = observation_sensitivity(motion, direction, rubbing.model)
        loads = rubbing.nominal(plain.W, plain.known)
        factors = rubbing.factors(motion.yd, loads)
        W, known = W * factors[:, :, None], known * factors
        i = direction - motion.y.shape[1]
        if 0 <= i < motion.y.shape[1]:  # along a speed
            slope = rubbing.slopes(motion.yd, loads)[:, i]
            W[:, i] += slope[:, None] * plain.W[:, i]
            known[:, i] += slope * plain.known[:, i]
        return W, known
    past = remembered(d.mechanism) if is_path(motion) else None
    if past is not None:
        h, _ = past.along(past.path(motion))
        return past.folded(*observation_sensitivity(motion, direction, past.model), h)
    timed = timed_loads(d.mechanism)
    if timed is not None:
        return timed.folded(*observation_sensitivity(motion, direction, timed.model), motion.time)
    n, n_i = motion.y.shape
    W = np.zeros((n, n_i, len(d.columns)), dtype=complex)
    known = np.zeros((n, n_i), dtype=complex)
    q, v, vd, step = complex_motion(motion, direction)
    fill_observation(d, (q, v, vd), W, known)
    return W.imag / step, known.imag / step
