"""How large a column of the observation matrix would be if nothing in it cancelled.

A parameter without effect leaves a column of zeros, or of what rounding leaves of zero. Whether a
small column is small or zero cannot be decided from the matrix alone: the size of the numbers that
cancelled in it decides. A column of m is a speed times an acceleration, one of a first moment or of
an inertia likewise with turns in the place of translations, all of the fastest body: rounding in
one body comes from the motions of those that carry it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.dynamics.columns import element_terms
from mechid.kinematics.motion import Motion, rates
from mechid.kinematics.tables import Floats
from mechid.mechanism.element_laws import law_degree
from mechid.mechanism.size import characteristic_size


def uncancelled(motion: Motion) -> Floats:
    """Return what the entries of W would be without cancellation, (N, n_i, p)."""
    mechanism = motion.model.mechanism
    L = characteristic_size(mechanism)
    bodies = motion.bodies()
    shift, turn = _partials(motion)
    # A motion that only translates still has rounding in its turns, and the other way round.
    turn = np.maximum(turn, shift / L)
    shift = np.maximum(shift, turn * L)
    kinematic = _largest(bodies.acceleration)
    swing = _largest(bodies.alpha) + _largest(bodies.omega) ** 2
    swing = np.maximum(swing, kinematic / L)[:, None]
    weight = (kinematic + np.linalg.norm(mechanism.gravity))[:, None]
    ten = [shift * weight] + 3 * [shift * swing + turn * weight] + 6 * [turn * swing]
    columns = ten * len(mechanism.bodies)
    speed = np.maximum(_largest(bodies.velocity), _largest(bodies.omega) * L)[:, None]
    taken = (np.full_like(shift, L), speed, swing * L)
    for term in element_terms(mechanism):
        if not term.known:
            columns.append(shift * taken[term.order] ** law_degree(term.law, term.shape))
    return np.stack(columns, axis=-1)


def _partials(motion: Motion) -> tuple[Floats, Floats]:
    """Return the largest partial velocities (N, n_i): of translation, of turning."""
    R = rates(motion).R
    still = np.zeros_like(motion.v)
    shift, turn = [], []
    for j in range(R.shape[2]):
        moved = replace(motion, v=np.ascontiguousarray(R[:, :, j]), vd=still).bodies()
        shift.append(_largest(moved.velocity))
        turn.append(_largest(moved.omega))
    return np.stack(shift, axis=1), np.stack(turn, axis=1)


def _largest(vectors: Floats) -> Floats:
    """Return the largest length over the bodies, (N,)."""
    return np.asarray(np.max(np.linalg.norm(vectors, axis=-1), axis=-1, initial=0.0))
