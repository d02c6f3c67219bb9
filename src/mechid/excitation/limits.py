"""Limits of a motion: what must stay within bounds, how far it is from them, and the gradients.

Each limit is a quantity along the motion (a coordinate, its speed or acceleration, a joint
coordinate, a distance, a force, the distance from singular poses) and its bounds. Its *slack* is
the distance to the nearer bound, relative to a scale of the quantity; it is negative where the
bound is violated. The motion is cut into segments; the worst sample of each counts, so that a limit
is a fixed number of constraints for an optimiser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.parameters import parameter_values
from mechid.excitation.bounds import MotionLimit, limited_joint, limited_points
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.quantities import quantity_motion, quantity_partials
from mechid.kinematics.tables import Floats, Ints
from mechid.mechanism.records import (
    DistanceCoordinate,
    IndependentCoordinate,
    JointCoordinate,
    Mechanism,
)

SEGMENTS = 6
_STEP = 1e-6  # of central differences, in units of the scale of a coordinate


@dataclass(frozen=True, eq=False)
class Slack:
    """How far a limit is from its bounds.

    Attributes
    ----------
    limit : MotionLimit
    values : array (m,)
        Slack at the worst sample of each segment and side; negative: violated.
    samples : array (m,)
        Where.
    by_y, by_yd, by_ydd : arrays (m, n_i)
        Gradients of the values by the coordinates, speeds and accelerations of that sample.
    """

    limit: MotionLimit
    values: Floats
    samples: np.ndarray
    by_y: Floats
    by_yd: Floats
    by_ydd: Floats

    @property
    def worst(self) -> float:
        """The smallest slack."""
        return float(self.values.min(initial=np.inf))


def slacks(limits: Sequence[MotionLimit], motion: Motion, *, gradients: bool = True) -> list[Slack]:
    """Return the slack of every limit along a motion."""
    rows, owner, factor = _sides(limits, motion)
    worst = _worst_samples(rows)
    found = []
    for i, limit in enumerate(limits):
        own = np.flatnonzero(owner == i)
        where = worst[own].ravel()
        values = np.take_along_axis(rows[own], worst[own], axis=1).ravel()
        signs = np.repeat(-factor[own], worst.shape[1])[:, None]
        grads = [np.zeros((len(where), motion.y.shape[1])) for _ in range(3)]
        if gradients and len(where):
            grads = [signs * g for g in _gradients(limit, motion, where)]
        found.append(Slack(limit, values, where, *grads))
    return found


def least_slacks(limits: Sequence[MotionLimit], motion: Motion, *, every: bool = False) -> Floats:
    """Return the least slack of every limit along a motion, (n_limits,).

    The distance from singular poses takes longest and, unless `every` limit is asked for, is not
    looked at where another limit is broken already: its slack is inf then.
    """
    least = np.full(len(limits), np.inf)
    margins = np.array([limit.quantity == "margin" for limit in limits], dtype=bool)
    for part in (np.flatnonzero(~margins), np.flatnonzero(margins)):
        if every or np.all(least >= 0):
            rows, owner, _ = _sides([limits[i] for i in part.tolist()], motion)
            np.minimum.at(least, part[owner], rows.min(axis=1, initial=np.inf))
    return least


def _sides(limits: Sequence[MotionLimit], motion: Motion) -> tuple[Floats, Ints, Floats]:
    """Return the slack of each side of each limit at all samples, (sides, N).

    With it the limits that they belong to, and minus their derivatives by the quantities.
    """
    forced = any(limit.quantity == "force" for limit in limits)
    tau = inverse_dynamics(motion).tau if forced else np.zeros(motion.y.shape)
    quantities = [_values(limit, motion, tau) for limit in limits]
    sides = [
        (i, side, bound)
        for i, limit in enumerate(limits)
        for side, bound in ((1.0, limit.upper), (-1.0, limit.lower))
        if bound is not None and len(quantities[i])
    ]
    factor = np.array([side / scale_of(limits[i]) for i, side, _ in sides])
    rows = np.array([bound - quantities[i] for i, _, bound in sides])
    owner = np.array([i for i, _, _ in sides], dtype=np.int64)
    return rows.reshape(len(sides), len(motion.y)) * factor[:, None], owner, factor


def _worst_samples(rows: Floats) -> Ints:
    """Return the smallest sample of each segment of each row, (rows, segments)."""
    n = rows.shape[1]
    count = min(SEGMENTS, n)
    # longer segments first
    bounds = [i * (n // count) + min(i, n % count) for i in range(count + 1)] if n else [0]
    worst = [a + rows[:, a:b].argmin(axis=1) for a, b in pairwise(bounds)]
    return np.array(worst, dtype=np.int64).reshape(count, len(rows)).T


def scale_of(limit: MotionLimit) -> float:
    """Return a size to compare violations with: the range, the bound itself, or one unit.

    It does not depend on the motion, or slacks would change with what they are compared with.
    """
    if limit.lower is not None and limit.upper is not None:
        return limit.upper - limit.lower
    bound = limit.upper if limit.upper is not None else limit.lower
    assert bound is not None
    return abs(bound) or 1.0


def _index(limit: MotionLimit, motion: Motion) -> int:
    mechanism = motion.model.mechanism
    names = [c.force if limit.quantity == "force" else c.name for c in mechanism.coordinates]
    return names.index(limit.name)


def _values(limit: MotionLimit, motion: Motion, tau: Floats) -> Floats:
    """Return the quantity at all samples, (N,), with the forces of the motion (N, n_i)."""
    match limit.quantity:
        case "position":
            return motion.y[:, _index(limit, motion)]
        case "speed":
            return motion.yd[:, _index(limit, motion)]
        case "acceleration":
            return motion.ydd[:, _index(limit, motion)]
        case "joint":
            return _joint_values(motion, *limited_joint(limit, motion.model.mechanism))
        case "distance":
            return quantity_motion(motion, _quantity(limit, motion.model.mechanism))[0]
        case "force":
            return np.asarray(tau[:, _index(limit, motion)])
        case "margin":
            margin = singularity_margin(motion.model, motion.q)
            return margin[:0] if np.all(np.isinf(margin)) else margin  # no loops, nothing singular


def _joint_values(motion: Motion, name: str, k: int) -> Floats:
    """Return a coordinate of a joint; angles of cut joints count their turns from home on."""
    model = motion.model
    place = model.compiled.coordinate.get((name, k))
    if place is not None:
        return motion.q[:, place.q]
    values = np.asarray(joint_motion(motion, name).coordinates[:, k])
    kind = model.mechanism.joint(name).kind
    if kind.thread or kind.units[k] != "rad" or not len(values):
        return values
    still = np.zeros((1, motion.v.shape[1]))
    home = replace(motion.chosen(np.zeros(1, dtype=np.int64)), q=model.home_q[None], v=still)
    start = float(joint_motion(home, name).coordinates[0, k])
    return np.asarray(values + 2 * np.pi * np.rint((start - values[0]) / (2 * np.pi)))


def _quantity(limit: MotionLimit, mechanism: Mechanism) -> IndependentCoordinate:
    """Return the joint coordinate or the distance of a limit."""
    if limit.quantity == "joint":
        name, k = limited_joint(limit, mechanism)
        return JointCoordinate(limit.name, name, k, "", mechanism.joint(name).kind.units[k])
    return DistanceCoordinate(limit.name, *limited_points(limit, mechanism), "")


def _gradients(limit: MotionLimit, motion: Motion, where: np.ndarray) -> list[Floats]:
    """Return the gradients of the quantity by y, ẏ, ÿ at some samples, (m, n_i) each."""
    m, n_i = len(where), motion.y.shape[1]
    zero = [np.zeros((m, n_i)) for _ in range(3)]
    order = {"position": 0, "speed": 1, "acceleration": 2}.get(limit.quantity)
    if order is not None:
        zero[order][:, _index(limit, motion)] = 1.0
        return zero
    some = motion.chosen(where)
    if limit.quantity in ("joint", "distance"):
        quantity = _quantity(limit, some.model.mechanism)
        zero[0] = quantity_partials(some, [quantity])[:, 0]
        return zero
    return _of_force(limit, some) if limit.quantity == "force" else _of_margin(some)


def _of_force(limit: MotionLimit, some: Motion) -> list[Floats]:
    """Return the gradients of a force with the CAD values, in reverse mode."""
    model = dynamic_model(some.model.mechanism)
    j = _index(limit, some)
    G = np.zeros((*some.y.shape, len(model.columns)))
    G[:, j] = parameter_values(model)
    known = np.zeros(some.y.shape)
    known[:, j] = 1.0
    return list(observation_gradient(model, some, G, known))


def _of_margin(some: Motion) -> list[Floats]:
    """Return central differences of the margin by y, each sample solved again from its own pose."""
    m, n_i = some.y.shape
    out = [np.zeros((m, n_i)) for _ in range(3)]
    for k in range(m):
        step = _STEP * (1.0 + np.abs(some.y[k]))
        moved = np.repeat(some.y[k][None], 2 * n_i, axis=0)
        for j in range(n_i):
            moved[2 * j, j] += step[j]
            moved[2 * j + 1, j] -= step[j]
        near = solve_motion(some.model, moved, ordered=False, start=some.q[k])
        values = singularity_margin(near.model, near.q)
        out[0][k] = (values[::2] - values[1::2]) / (2 * step)
    return out
