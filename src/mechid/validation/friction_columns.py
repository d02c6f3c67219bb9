"""Friction that is no law of the speed alone: it grows with the load, or depends on the path."""

from __future__ import annotations

from itertools import pairwise

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
    # Between two reversals the path is monotone: one step for each such stretch, not each sample.
    steps = np.diff(path, prepend=path[:1])
    moving = np.flatnonzero(steps)
    turns = moving[1:][np.sign(steps[moving[1:]]) != np.sign(steps[moving[:-1]])]
    found = np.empty(len(path))
    state = 0.0
    for first, last in pairwise([0, *turns, len(path)]):
        part = state + 2.0 / width * np.cumsum(steps[first:last])
        found[first:last] = np.clip(part, -1.0, 1.0)
        state = found[last - 1] if last > first else state
    return found
