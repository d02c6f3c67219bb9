"""The observation matrix W of a motion: W φ + known = τ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mechid.dynamics.columns import Column
from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.kernels.observe import observe_batch
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats


@dataclass(frozen=True)
class Observation:
    """Observation matrix of a motion.

    Attributes
    ----------
    W : array (N, n_i, p)
        Rows keep sample and independent coordinate; `W.reshape(-1, p)` stacks them.
    known : array (N, n_i)
        What known coefficients and loads contribute: W φ + known = τ.
    columns : tuple of Column
        Names, units and CAD values of the p parameters.
    """

    W: Floats
    known: Floats
    columns: tuple[Column, ...]


def observation_matrix(motion: Motion, model: DynamicModel | None = None) -> Observation:
    """Return W for all samples of a solved motion."""
    d = dynamic_model(motion.model.mechanism) if model is None else model
    n, n_i = motion.y.shape
    W = np.zeros((n, n_i, len(d.columns)))
    known = np.zeros((n, n_i))
    if n:
        k = motion.model
        observe_batch(k.tables, k.order, d.tables, motion.q, motion.v, motion.vd, W, known)
    return Observation(W, known, d.columns)


def observation_blocks(motion: Motion, size: int = 4096) -> Iterator[tuple[slice, Observation]]:
    """Yield W in blocks of samples, for motions whose whole W would not fit in memory."""
    d = dynamic_model(motion.model.mechanism)
    for first in range(0, motion.y.shape[0], size):
        part = slice(first, min(first + size, motion.y.shape[0]))
        yield part, observation_matrix(motion.part(part), d)


def cad_parameters(model: DynamicModel) -> Floats:
    """Return the CAD values of all columns, (p,); nan where there is none."""
    return np.array([np.nan if c.value is None else c.value for c in model.columns])
