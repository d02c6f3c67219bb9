"""The observation matrix in the second formulation, kinematics included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.dynamics.hysteresis import is_path, remembered
from mechid.dynamics.load_friction import load_friction
from mechid.dynamics.reference_point.body_matrix import unprojected
from mechid.dynamics.reference_point.eliminate import Method, admissible_motions
from mechid.dynamics.reference_point.model import ReferenceModel, reference_model
from mechid.dynamics.reference_point.state import State, solve_states
from mechid.dynamics.regressor import Observation
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import Mechanism
from mechid.spatial.rotations import Array


def observation_matrix_reference(
    mechanism: Mechanism | ReferenceModel,
    motion: Motion | Sequence[Array],
    method: Method = "partition",
    *,
    own_basis: bool = False,
) -> Observation:
    """Return W of a motion, computed without any of the kernels of the tree formulation.

    Parameters
    ----------
    mechanism : Mechanism or ReferenceModel
    motion : Motion, or (y, yd, ydd)
        Of a solved motion only the independent coordinates are read, (N, n_i) each; the kinematics
        are solved again in reference-point coordinates. Where hysteresis remembers a path, it is
        that of the solved motion.
    method : "partition", "svd", "qr" or "gauss"
        How constraint forces are eliminated.
    own_basis : bool
        False: rows belong to the declared coordinates. True: to those of the method, which may
        differ from sample to sample, and do not have the friction of drives that depends on loads.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> model = mechid.load("four_bar")
    >>> motion = mechid.tour(model).part(slice(0, 5))
    >>> second = mechid.observation_matrix_reference(model, motion)
    >>> np.allclose(second.W, mechid.observation_matrix(motion).W)
    True
    """
    model = mechanism if isinstance(mechanism, ReferenceModel) else reference_model(mechanism)
    rubbing = load_friction(model.mechanism)
    if rubbing is not None:
        plain = observation_matrix_reference(
            rubbing.model.mechanism, motion, method, own_basis=own_basis
        )
        if not own_basis:
            yd = motion.yd if isinstance(motion, Motion) else np.asarray(motion[1], dtype=float)
            rubbing.apply(plain.W, plain.known, yd)
        return Observation(plain.W, plain.known, model.columns)
    if isinstance(motion, Motion):
        past = remembered(model.mechanism) if is_path(motion) else None
        if past is not None:
            other = past.model.mechanism
            seen = observation_matrix_reference(other, motion, method, own_basis=own_basis)
            h, _ = past.along(past.path(motion))
            return Observation(*past.folded(seen.W, seen.known, h), model.columns)
        states = solve_states(model, motion.y, motion.yd, motion.ydd, ordered=motion.ordered)
    else:
        states = solve_states(model, *(np.asarray(part, dtype=float) for part in motion))
    n_i = model.n_free if own_basis else model.n_independent
    W = np.zeros((len(states), n_i, len(model.columns)))
    known = np.zeros((len(states), n_i))
    for k, state in enumerate(states):
        W[k], known[k] = observe(model, state, method, own_basis=own_basis)
    return Observation(W, known, model.columns)


def observe(
    model: ReferenceModel, state: State, method: Method = "partition", *, own_basis: bool = False
) -> tuple[Array, Array]:
    """Return W (n_i, p) and known (n_i,) of one state: Rᵀ H and Rᵀ k."""
    R = admissible_motions(model, state.q, method, own_basis=own_basis)
    H, known = unprojected(model, state)
    return R.T @ H, R.T @ known
