"""Gradients of Σ G W + Σ g known: reverse mode against forward mode, direction by direction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.regressor import observation_matrix
from mechid.dynamics.sensitivities import observation_sensitivity
from mechid.kinematics.motion import Motion

from ..contract.states import EPS, Array, condition


def random_weights(model: DynamicModel, motion: Motion, rng: np.random.Generator) -> Array:
    """Return G of the shape of W, of normal numbers."""
    return rng.standard_normal((*motion.y.shape, len(model.columns)))


def check_gradient(
    model: DynamicModel, motion: Motion, rng: np.random.Generator, pieces: float = 1.0
) -> None:
    """Compare the two modes, by y, ẏ and ÿ.

    Both solve with the matrix of the closure; forward mode differentiates what has been solved, in
    reverse mode a transposed solution is differentiated. Each is wrong by eps times the condition
    of the terms that it sums up; `pieces` says how much worse the order of solution is conditioned
    than all rows together. States are taken alone: along a path, hysteresis makes a gradient depend
    on other samples, which forward mode does not show (`test_hysteresis`).
    """
    motion = replace(motion, ordered=False)
    n, n_i = motion.y.shape
    G, g = random_weights(model, motion, rng), rng.standard_normal((n, n_i))
    found = np.stack(observation_gradient(model, motion, G, g))
    want, terms = np.zeros_like(found), np.zeros_like(found)
    for k in range(3 * n_i):
        dW, dknown = observation_sensitivity(motion, k, model)
        want[k // n_i, :, k % n_i] = (G * dW).sum(axis=(1, 2)) + (g * dknown).sum(axis=1)
        terms[k // n_i, :, k % n_i] = _size(G * dW, g * dknown)
    # A gradient may vanish as a whole, as that by the speed of a pendulum does, by cancellation.
    seen = observation_matrix(motion, model)
    least = _size(G * seen.W, g * seen.known).max(initial=0.0)
    size = terms.max(axis=(1, 2), initial=0.0) + least
    error = np.abs(found - want).max(axis=(1, 2), initial=0.0)
    assert np.all(error <= 100 * EPS * condition(motion) * pieces * size), (error, size)


def _size(a: Array, b: Array) -> Array:
    return np.asarray(np.abs(a).sum(axis=(1, 2)) + np.abs(b).sum(axis=1))
