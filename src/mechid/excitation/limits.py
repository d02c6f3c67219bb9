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
from mechid.kinematics.tables import Floats
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
    forced = any(limit.quantity == "force" for limit in limits)
    tau = inverse_dynamics(motion).tau if forced else np.zeros(motion.y.shape)
    return [_slack(limit, motion, tau, gradients) for limit in limits]


def _slack(limit: MotionLimit, motion: Motion, tau: Floats, gradients: bool) -> Slack:
    values = _values(limit, motion, tau)
    if limit.quantity == "margin" and np.all(np.isinf(values)):
        values = values[:0]  # without loops there are no singular poses
    scale = scale_of(limit)
    found, samples, signs = [], [], []
    for side, bound in ((1.0, limit.upper), (-1.0, limit.lower)):
        if bound is None:
            continue
        slack = side * (bound - values) / scale
        for part in _segments(len(values)):
            k = int(part[np.argmin(slack[part])])
            found.append(float(slack[k]))
            samples.append(k)
            signs.append(-side / scale)
    where, sign = np.array(samples, dtype=np.int64), np.array(signs).reshape(-1, 1)
    n_i = motion.y.shape[1]
    grads = [np.zeros((len(where), n_i)) for _ in range(3)]
    if gradients and len(where):
        grads = [sign * g for g in _gradients(limit, motion, where)]
    return Slack(limit, np.array(found), where, *grads)


def _segments(n: int) -> list[np.ndarray]:
    """Return the samples of each segment; none is empty."""
    return np.array_split(np.arange(n), min(SEGMENTS, n)) if n else []


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
            return singularity_margin(motion.model, motion.q)


def _joint_values(motion: Motion, name: str, k: int) -> Floats:
    """Return a coordinate of a joint; angles of cut joints count their turns from home on."""
    values = np.asarray(joint_motion(motion, name).coordinates[:, k])
    model = motion.model
    kind = model.mechanism.joint(name).kind
    in_tree = model.compiled.coordinate.get((name, k)) is not None
    if in_tree or kind.thread or kind.units[k] != "rad" or not len(values):
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
