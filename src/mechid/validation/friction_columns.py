"""Friction that is no law of the speed alone: it grows with the load, or depends on the path."""

from __future__ import annotations

import numpy as np

from mechid.estimation.regression import Floats


def load_friction(force: Floats, speed: Floats) -> Floats:
    """Return |force| sign(speed), (N,): friction per unit of a coefficient of friction.

    Parameters
    ----------
    force : array (N,)
        That the joint transmits, N or N m, as a model predicts it.
    speed : array (N,)
        m/s or rad/s.
    """
    return np.asarray(np.abs(force) * np.sign(speed))


def hysteresis(path: Floats, width: float) -> Floats:
    """Return dry friction per unit of its size, (N,), that turns over a distance after a reversal.

    An elastic element in series with a slider (Jenkin's element): -1 to 1, and each reversal takes
    the distance `width` from one end to the other.

    Parameters
    ----------
    path : array (N,)
        Coordinate of the joint over time, m or rad.
    width : float
        m or rad.
    """
    found = np.empty(len(path))
    state = 0.0
    for k, step in enumerate(np.diff(path, prepend=path[:1])):
        state = min(max(state + 2.0 * step / width, -1.0), 1.0)
        found[k] = state
    return found
