"""A motion that shows what a mechanism can do, used when no motion is given.

Each independent coordinate is swept by itself, then all of them move together; the motion starts
and ends at rest and is twice continuously differentiable. Ranges come from the limits of the joints
where there are any. A range that cannot be reached, passes a singular pose, or drives a joint out
of its limits is halved until it does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from mechid.errors import KinematicsError
from mechid.importing.resolve import mechanism_of
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.start import start_of
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import IndependentCoordinate, JointCoordinate, Mechanism
from mechid.tables.quality import limit_notes
from mechid.view.time_histories import Reach, TimeHistory, at_rest, sweep, swing

RATE = 40.0  # samples per second
_TOGETHER = 6.0  # s, for the motion of all coordinates
_ANGLE = 0.35  # rad, for an angle without limits
_SHARE = 0.06  # of the size, for a length without limits
_OF_LIMITS = 0.9  # share of the room between the start and a limit
_HALVINGS = 8

Part: TypeAlias = list[
    TimeHistory
]  # what happens at the same time: one time history per coordinate


def tour(mechanism: Mechanism | KinematicModel | str | Path) -> Motion:
    """Return a solved motion of all independent coordinates, at 40 samples per second.

    It starts from the state `start` of the model, or else from the assembled pose.

    Parameters
    ----------
    mechanism : Mechanism or KinematicModel

    Raises
    ------
    KinematicsError
        If the start of the model cannot be reached.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> motion = mechid.tour(mechid.load("four_bar"))
    >>> np.allclose(motion.yd[[0, -1]], 0)  # it starts and ends at rest
    True
    """
    if isinstance(mechanism, KinematicModel):
        model = mechanism
    else:
        model = kinematic_model(mechanism_of(mechanism))
    start = start_of(model)
    bounded = not limit_notes(solve_motion(model, start[None]))

    def goes(part: Part) -> bool:
        try:
            motion = _solved(model, start, [part])
        except KinematicsError:
            return False
        return not (bounded and limit_notes(motion))

    n, halvings = model.n_independent, range(_HALVINGS + 1)
    reaches: list[Reach] = []
    parts: list[Part] = []
    for i, coordinate in enumerate(model.mechanism.coordinates):
        wanted = _wanted(model, coordinate, float(start[i]))
        trials = (wanted.halved(k) for k in halvings)
        reach = next((r for r in trials if goes(_alone(r, i, n))), None)
        reaches.append(reach or Reach())
        parts += [_alone(reach, i, n)] if reach else []
    if len(parts) > 1:
        smaller = ([r if r.turn else r.halved(k) for r in reaches] for k in halvings)
        parts += next(([part] for part in map(_together, smaller) if goes(part)), [])
    return _solved(model, start, parts)


def _wanted(model: KinematicModel, coordinate: IndependentCoordinate, start: float) -> Reach:
    """How far a coordinate should go: near its limits, or a full turn, or a modest range."""
    modest = _SHARE * model.size if coordinate.unit == "m" else _ANGLE
    if not isinstance(coordinate, JointCoordinate):
        return Reach(modest, modest)
    joint = model.mechanism.joint(coordinate.joint)
    up = down = None
    if coordinate.index < len(joint.limits):
        limit = joint.limits[coordinate.index]
        up = None if limit.upper is None else max(_OF_LIMITS * (limit.upper - start), 0.0)
        down = None if limit.lower is None else max(_OF_LIMITS * (start - limit.lower), 0.0)
    if up is None and down is None and joint.kind.hinge:
        shapes = {s.kind for name in (joint.body_a, joint.body_b)
                  for s in model.mechanism.body(name).shapes}  # fmt: skip
        if "wheel" in shapes or model.n_independent == 1:
            return Reach(turn=2 * np.pi)
    return Reach(modest if up is None else up, modest if down is None else down)


def _alone(reach: Reach, i: int, n: int) -> Part:
    """One coordinate of n moves."""
    history = sweep(reach, RATE)
    return [history if k == i else at_rest(len(history.y)) for k in range(n)]


def _together(reaches: Sequence[Reach]) -> Part:
    """All coordinates move, once, twice or three times to and fro."""
    return [swing(r, 1 + i % 3, _TOGETHER, RATE) for i, r in enumerate(reaches)]


def _solved(model: KinematicModel, start: Floats, parts: Sequence[Part]) -> Motion:
    """Solve parts one after the other; each starts where the one before ended, at rest."""
    y = [start[None]]
    yd = [np.zeros((1, start.size))]
    ydd = [np.zeros((1, start.size))]
    for part in parts:
        y.append(y[-1][-1] + np.stack([c.y[1:] for c in part], axis=1))
        yd.append(np.stack([c.yd[1:] for c in part], axis=1))
        ydd.append(np.stack([c.ydd[1:] for c in part], axis=1))
    columns = [np.concatenate(pieces) for pieces in (y, yd, ydd)]
    time = np.arange(columns[0].shape[0]) / RATE
    return solve_motion(model, columns[0], columns[1], columns[2], time=time)
