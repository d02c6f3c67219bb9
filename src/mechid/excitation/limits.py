"""Limits of a motion: what must stay within bounds, how far it is from them, and which way is out.

Each limit is a quantity along the motion (a coordinate, its speed or acceleration, a joint
coordinate, a distance, a force, the distance from singular poses) and its bounds. Its *slack* is
the distance to the nearer bound, relative to a scale of the quantity; it is negative where the
bound is violated. The motion is cut into segments; the worst sample of each counts, so that a limit
is a fixed number of constraints for an optimiser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.parameters import parameter_values
from mechid.errors import DataError
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.compile import Rigid
from mechid.kinematics.frames import FrameMotion, frame_motion
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import Motion, rates, solve_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism

Quantity: TypeAlias = Literal[
    "position", "speed", "acceleration", "joint", "distance", "force", "margin"
]
SEGMENTS = 6
_STEP = 1e-6  # of central differences, in units of the scale of a coordinate


@dataclass(frozen=True)
class MotionLimit:
    """Bounds of one quantity; None: no bound on that side.

    `name` is a coordinate (position, speed, acceleration), a joint or `joint.coordinate`
    (joint), two points `body.point-body.point` (distance), a force (force), or empty (margin).
    """

    quantity: Quantity
    name: str
    lower: float | None = None
    upper: float | None = None

    @property
    def words(self) -> str:
        """The limit in words."""
        low = "" if self.lower is None else f"{self.lower:g} ≤ "
        high = "" if self.upper is None else f" ≤ {self.upper:g}"
        return f"{low}{self.quantity}{f' of {self.name}' if self.name else ''}{high}"


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
    return [_slack(limit, motion, gradients) for limit in limits]


def check_limits(limits: Sequence[MotionLimit], mechanism: Mechanism) -> None:
    """Refuse limits of things that do not exist, or that exclude everything.

    Raises
    ------
    DataError
    """
    coordinates = [c.name for c in mechanism.coordinates]
    forces = [c.force for c in mechanism.coordinates]
    joints = [j.name for j in mechanism.joints]
    known = {"position": coordinates, "speed": coordinates, "acceleration": coordinates}
    for limit in limits:
        if limit.lower is None and limit.upper is None:
            raise DataError(f"{limit.words}: a limit without bounds", remedy="give lower or upper")
        if limit.lower is not None and limit.upper is not None and limit.lower >= limit.upper:
            raise DataError(f"{limit.words}: nothing is within", remedy="exchange the bounds")
        if limit.quantity in known and limit.name not in coordinates:
            raise DataError(
                f"{limit.words}: there is no independent coordinate {limit.name}",
                remedy=f"there are {', '.join(coordinates)}",
            )
        if limit.quantity == "force" and limit.name not in forces:
            raise DataError(
                f"{limit.words}: there is no force {limit.name}",
                remedy=f"there are {', '.join(forces)}",
            )
        if limit.quantity == "joint" and limit.name.split(".")[0] not in joints:
            raise DataError(
                f"{limit.words}: there is no joint {limit.name.split('.')[0]}",
                remedy=f"there are {', '.join(joints)}",
            )


def _slack(limit: MotionLimit, motion: Motion, gradients: bool) -> Slack:
    values = _values(limit, motion)
    scale = _scale(limit, values)
    found, samples, signs = [], [], []
    for side, bound in ((1.0, limit.upper), (-1.0, limit.lower)):
        if bound is None:
            continue
        slack = side * (bound - values) / scale
        for part in np.array_split(np.arange(len(values)), min(SEGMENTS, len(values))):
            k = int(part[np.argmin(slack[part])])
            found.append(float(slack[k]))
            samples.append(k)
            signs.append(-side / scale)
    where, sign = np.array(samples, dtype=np.int64), np.array(signs)[:, None]
    n_i = motion.y.shape[1]
    grads = [np.zeros((len(where), n_i)) for _ in range(3)]
    if gradients:
        grads = [sign * g for g in _gradients(limit, motion, where)]
    return Slack(limit, np.array(found), where, *grads)


def _scale(limit: MotionLimit, values: Floats) -> float:
    """Return a size to compare violations with: the range, or the bound itself."""
    if limit.lower is not None and limit.upper is not None:
        return limit.upper - limit.lower
    bound = limit.upper if limit.upper is not None else limit.lower
    assert bound is not None
    return abs(bound) or float(np.abs(values).max(initial=0.0)) or 1.0


def _index(limit: MotionLimit, motion: Motion) -> int:
    mechanism = motion.model.mechanism
    names = [c.force if limit.quantity == "force" else c.name for c in mechanism.coordinates]
    return names.index(limit.name)


def _values(limit: MotionLimit, motion: Motion) -> Floats:
    """Return the quantity at all samples, (N,)."""
    match limit.quantity:
        case "position":
            return motion.y[:, _index(limit, motion)]
        case "speed":
            return motion.yd[:, _index(limit, motion)]
        case "acceleration":
            return motion.ydd[:, _index(limit, motion)]
        case "joint":
            name, _, label = limit.name.partition(".")
            found = joint_motion(motion, name)
            return np.asarray(found.coordinates[:, _coordinate(motion, name, label)])
        case "distance":
            a, b = _ends(limit, motion)
            return np.asarray(np.linalg.norm(b.position - a.position, axis=-1))
        case "force":
            return np.asarray(inverse_dynamics(motion).tau[:, _index(limit, motion)])
        case "margin":
            return singularity_margin(motion.model, motion.q)


def _coordinate(motion: Motion, name: str, label: str) -> int:
    joint = motion.model.mechanism.joint(name)
    names = joint.kind.coordinates
    if not label and len(names) == 1:
        return 0
    if label not in names or joint.type in ("spherical", "free"):
        raise DataError(
            f"joint {name} has no single coordinate {label or '(none named)'}",
            remedy=f"name one of {', '.join(names)}, as {name}.{names[0] if names else ''}",
        )
    return names.index(label)


def _ends(limit: MotionLimit, motion: Motion) -> tuple[FrameMotion, FrameMotion]:
    """Return the motion of the two points of a distance, (N, 3)."""
    first, dash, second = limit.name.partition("-")
    if not dash:
        raise DataError(
            f"{limit.words}: a distance needs two points", remedy="write body.point-body.point"
        )
    return _point(limit, motion, first), _point(limit, motion, second)


def _point(limit: MotionLimit, motion: Motion, name: str) -> FrameMotion:
    body, _, label = name.strip().partition(".")
    mechanism = motion.model.mechanism
    try:
        point = mechanism.point(label, body)
    except KeyError:
        known = ", ".join(f"{p.body}.{p.name}" for p in mechanism.points)
        raise DataError(
            f"{limit.words}: there is no point {name}", remedy=f"there are {known}"
        ) from None
    place = Rigid(np.eye(3), np.array(point.local))
    f = frame_motion(motion.model, motion.q, motion.v, motion.vd, [(body, place)])
    return FrameMotion(*(getattr(f, field)[:, 0] for field in FrameMotion.__annotations__))


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
        zero[0] = _partials(limit, some)
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


def _partials(limit: MotionLimit, some: Motion) -> Floats:
    """Return ∂s/∂y of a quantity of the pose: its rate when one coordinate moves at unit speed."""
    R = rates(some).R
    out = np.empty(some.y.shape)
    for j in range(some.y.shape[1]):
        moved = replace(some, v=np.ascontiguousarray(R[:, :, j]), vd=np.zeros_like(some.v))
        if limit.quantity == "joint":
            name, _, label = limit.name.partition(".")
            speeds = joint_motion(moved, name).speeds
            out[:, j] = speeds[:, _coordinate(moved, name, label)]
        else:
            a, b = _ends(limit, moved)
            apart = b.position - a.position
            unit = apart / np.linalg.norm(apart, axis=-1, keepdims=True)
            out[:, j] = np.einsum("ni,ni->n", unit, b.velocity - a.velocity)
    return out


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
