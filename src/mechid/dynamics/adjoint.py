"""Gradients of a criterion of the observation matrix by the motion, in reverse mode.

Optimal motions are found with the derivatives of a scalar criterion of W by all coordinates, speeds
and accelerations of all samples. Given the derivatives G of the criterion by the entries of W, one
backward pass per sample returns them, exact to rounding; `observation_sensitivity` would need one
forward pass for each of 3 n_i directions.
"""

from __future__ import annotations

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.hysteresis import Remembered, dahl_gradient, is_path, remembered
from mechid.dynamics.kernels.adjoint import adjoint_batch
from mechid.dynamics.load_friction import LoadFriction, load_friction
from mechid.dynamics.regressor import observation_matrix
from mechid.dynamics.timed_loads import timed_loads
from mechid.kinematics.engine.choice import wanted
from mechid.kinematics.engine.stages import PIVOT_RATIO
from mechid.kinematics.kernels.closure import SINGULAR_RATIO
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.kinematics.threads import spread

# Samples that are worth a thread: about a millisecond.
_SHORTEST_PART = 64


def observation_gradient(
    model: DynamicModel, motion: Motion, G: Floats, known: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """Return the gradients of s = Σ_jk G_jk W_jk + Σ_j g_j known_j by y, ẏ and ÿ of each sample.

    Coulomb friction is taken as constant on either side of standstill. Hysteresis depends on the
    whole path before, if the motion is one (`hysteresis.is_path`), and so do gradients by y.

    Parameters
    ----------
    model : DynamicModel
    motion : Motion
        Solved for the kinematic model of `model`.
    G : array (N, n_i, p)
        Derivatives of a criterion by the entries of W, as `observation_matrix` orders them.
    known : array (N, n_i), optional
        The same by the entries of `known`: g, for criteria of forces τ = W φ + known. Default zero.

    Returns
    -------
    by_y, by_yd, by_ydd : arrays (N, n_i)
        Per unit of coordinate, speed and acceleration.

    Raises
    ------
    ValueError
        If G has not the shape of W, or g that of `known`.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> from mechid.dynamics.compile import dynamic_model
    >>> model = mechid.load("pendulum")
    >>> y = np.array([[0.3], [0.3 + 1e-6]])
    >>> motion = mechid.solve_motion(model, y)
    >>> W = mechid.observation_matrix(motion).W
    >>> by_y, _, _ = mechid.observation_gradient(dynamic_model(model), motion, np.ones(W.shape))
    >>> np.allclose(by_y[0, 0], (W[1] - W[0]).sum() / 1e-6, rtol=1e-4)
    True
    """
    n, n_i = motion.y.shape
    shape = (n, n_i, len(model.columns))
    weights = np.ascontiguousarray(G, dtype=float)
    if weights.shape != shape:
        raise ValueError(f"G has shape {weights.shape}, but W has {shape}")
    others = np.zeros((n, n_i)) if known is None else np.ascontiguousarray(known, dtype=float)
    if others.shape != (n, n_i):
        raise ValueError(f"known has shape {others.shape}, but {(n, n_i)} is needed")
    rubbing = load_friction(model.mechanism)
    if rubbing is not None:
        return _through_gears(rubbing, motion, weights, others)
    past = remembered(model.mechanism) if is_path(motion) else None
    if past is not None:
        return _through_path(past, motion, weights, others)
    timed = timed_loads(model.mechanism)
    if timed is not None:
        whole = np.zeros((n, n_i, len(timed.model.columns)))
        whole[:, :, timed.others] = weights
        whole[:, :, timed.places] = others[:, :, None] * timed.at(motion.time)[:, None]
        return observation_gradient(timed.model, motion, whole, others)
    by_y, by_yd, by_ydd = (np.zeros((n, n_i)) for _ in range(3))
    if not n:
        return by_y, by_yd, by_ydd
    k = model.kinematics
    given = (motion.q, motion.v, motion.vd, motion.yd, weights, others)
    ratio = np.ones(n)

    def run(first: int, last: int) -> None:
        adjoint_batch(
            k.tables, k.order, model.tables, first, last, *given, by_y, by_yd, by_ydd, ratio
        )

    code = model.gradient_code if wanted(n) else None
    if code is None:
        spread(run, n, _SHORTEST_PART)
    else:
        code.run(given, (by_y, by_yd, by_ydd, ratio))
        for s in np.flatnonzero(~(ratio > PIVOT_RATIO)).tolist():  # pivots of the code do not fit
            run(s, s + 1)
    # Where the order of solution is weak, all rows together: as when the motion was solved.
    for s in np.flatnonzero(~(ratio > SINGULAR_RATIO)).tolist():
        adjoint_batch(
            k.tables, k.one_piece, model.tables, s, s + 1, *given, by_y, by_yd, by_ydd, ratio
        )
    return by_y, by_yd, by_ydd


def _through_gears(
    rubbing: LoadFriction, motion: Motion, G: Floats, known: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the gradients where friction depends on the load, its sign taken as constant."""
    plain = observation_matrix(motion, rubbing.model)
    loads = rubbing.nominal(plain.W, plain.known)
    factors = rubbing.factors(motion.yd, loads)
    by_y, by_yd, by_ydd = observation_gradient(
        rubbing.model, motion, G * factors[:, :, None], known * factors
    )
    by_factor = np.einsum("njk,njk->nj", G, plain.W) + known * plain.known
    return by_y, by_yd + by_factor * rubbing.slopes(motion.yd, loads), by_ydd


def _through_path(
    past: Remembered, motion: Motion, G: Floats, known: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the gradients where hysteresis makes every sample depend on those before."""
    path = past.path(motion)
    h, _ = past.along(path)
    weights = past.weights(G, known)
    whole = np.zeros((*motion.y.shape, len(past.model.columns)))
    whole[:, :, past.columns] = G
    whole[:, :, past.forces] = -h[:, None] * weights
    by_y, by_yd, by_ydd = observation_gradient(past.model, motion, whole, known)
    # A column of the other model is -∂s/∂y: how h counts, and how y moves the path.
    slopes = -observation_matrix(motion, past.model).W[:, :, past.forces]
    by_h = np.einsum("njk,njk->nk", slopes, weights)
    for i, term in enumerate(past.terms):
        by_s = dahl_gradient(path[:, i], term.width, h[:, i], by_h[:, i])
        by_y += by_s[:, None] * slopes[:, :, i]
    return by_y, by_yd, by_ydd
