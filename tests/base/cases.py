"""Null spaces and observation matrices of the zoo, computed once."""

from __future__ import annotations

from functools import cache

import numpy as np

from mechid.base.experiment import Experiment, random_states
from mechid.base.nullspace import NullSpace, null_space
from mechid.dynamics.regressor import observation_matrix
from mechid.kinematics.tables import Floats
from mechid.modelfile import load

from ..contract.states import SPECS

EVERY = SPECS
SUSPENSION = "sla_suspension"


@cache
def null_of(spec: str) -> NullSpace:
    return null_space(load(spec))


@cache
def stacked(spec: str) -> Floats:
    """W of random states, (N n_i, p)."""
    null = null_of(spec)
    motion = random_states(null.geometry.mechanism, Experiment(), 12, seed=3)
    return observation_matrix(motion).W.reshape(-1, len(null.names))


def random_parameters(null: NullSpace, seed: int = 0) -> Floats:
    """Parameters with no physical meaning, but zero where the model says so."""
    phi = np.random.default_rng(seed).standard_normal(len(null.names))
    return np.where([n in null.zeros for n in null.names], 0.0, phi)
