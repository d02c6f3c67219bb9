"""Friction that grows with the load that a joint transmits."""

from __future__ import annotations

import numpy as np

from mechid.estimation.regression import Floats


def load_column(force: Floats, speed: Floats) -> Floats:
    """Return |force| sign(speed), (N,): friction per unit of a coefficient of friction.

    Parameters
    ----------
    force : array (N,)
        That the joint transmits, N or N m, as a model predicts it.
    speed : array (N,)
        m/s or rad/s.
    """
    return np.asarray(np.abs(force) * np.sign(speed))
