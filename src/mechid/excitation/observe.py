"""From a sampled trajectory to the base observation matrix that criteria take."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.regressor import observe_path
from mechid.excitation.families.family import Floats
from mechid.excitation.trajectory import Sampled
from mechid.mechanism.records import Mechanism

Observe: TypeAlias = Callable[[Sampled], Floats]


def base_observation(
    mechanism: Mechanism | DynamicModel, places: npt.NDArray[np.int64] | Floats
) -> Observe:
    """Return the function that gives W_b (N, n_i, b) of a sampled trajectory.

    Parameters
    ----------
    mechanism : Mechanism or DynamicModel
        The trajectory has its coordinates in the order of the model (`Trajectory.ordered`).
    places : array of int (b,)
        Columns of the base parameters: `BaseSet.places`.

    Returns
    -------
    callable
        It raises the errors of `solve_motion`, with the sample.
    """
    model = mechanism if isinstance(mechanism, DynamicModel) else dynamic_model(mechanism)
    columns = np.asarray(places, dtype=np.int64)

    def observe(sampled: Sampled) -> Floats:
        seen = observe_path(model, sampled.y, sampled.yd, sampled.ydd, time=sampled.time)
        return seen.W.take(columns, axis=2)

    return observe


def all_columns(G: Floats, places: npt.NDArray[np.int64] | Floats, n_columns: int) -> Floats:
    """Return a gradient by W_b (N, n_i, b) as one by W (N, n_i, p): zero elsewhere."""
    whole = np.zeros((*G.shape[:2], n_columns))
    whole[:, :, np.asarray(places, dtype=np.int64)] = G
    return whole
