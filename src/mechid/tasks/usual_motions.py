"""Usual limits and usual motions of a mechanism: what stands for the motions its model is for.

They are random motions within limits. Their forces are the sizes that noise and errors of forces
are relative to, and criteria of predicted forces count on them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mechid.dynamics.inverse import inverse_dynamics
from mechid.excitation.bounds import MotionLimit
from mechid.excitation.criteria import Criterion
from mechid.excitation.criteria.prediction import rms_forces
from mechid.excitation.design import design
from mechid.excitation.families import Constant, Family, Fourier
from mechid.excitation.problem import DesignProblem
from mechid.excitation.starts import Starts, own_bounds
from mechid.excitation.trajectory import Trajectory
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.model import KinematicModel, held_values, kinematic_model
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import JointCoordinate, Mechanism

_TURN, _SHIFT = 0.35, 0.1  # usual reach: rad, part of the characteristic length
_MARGIN = 0.1  # of the margin at home
_SPEED, _ACCELERATION = 10.0, 100.0  # per stroke to either side: 1/s, 1/s²
_WIDEST = 2.0  # times the usual reach: a larger stroke makes no faster motion
_SPINDLE = 2 * np.pi  # rad to either side: a coordinate that turns further is made to turn fast
_FORCE = 1.5  # times the largest force of the usual motions
# The usual motions: one period (s) of a Fourier series each, the same for every design. Fast ones
# meet the limits of acceleration, slow ones use the stroke.
_PERIODS, _EACH, _TRIES, _HARMONICS, _SAMPLES = (1.0, 2.0, 4.0), 4, 8, 5, 30
_HOPELESS = 1  # tries, none of which keeps the limits however small it is made
_STATES = 200  # instead, where no motion is found


@dataclass(frozen=True, eq=False)
class UsualMotions:
    """Motions that stand for those a model is for, and their forces.

    Attributes
    ----------
    motions : tuple of Motion
    tau : tuple of arrays (N, n_i)
        Their forces with the CAD values.
    forces : array (n_i,)
        Root mean square of each force (N or N m); infinite for one that is always zero.
    kept : bool
        Whether they keep the limits and the motions that were given.
    """

    motions: tuple[Motion, ...]
    tau: tuple[Floats, ...]
    forces: Floats
    kept: bool


def usual_limits(model: KinematicModel, fixed: Collection[str] = ()) -> tuple[MotionLimit, ...]:
    """Return limits for a mechanism that names none: those of its joints, and about the home pose.

    A coordinate whose joint has limits in the model file keeps those; the others stay within
    0.35 rad or a tenth of the size of the mechanism of home. With the stroke s to either side
    (but at most 0.7 rad or a fifth of the size, unless it turns more than once), speeds stay below
    10 s per second and accelerations below 100 s per second². The distance from singular poses
    stays above a tenth of that at home, if there are loops. Coordinates whose motion is given
    (`fixed`) have none.
    """
    mechanism = model.mechanism
    limits: list[MotionLimit] = []
    limited = set()
    for joint in mechanism.joints:
        for k, limit in enumerate(joint.limits):
            if limit.lower is None and limit.upper is None:
                continue
            labels = joint.kind.coordinates
            name = joint.name if len(labels) == 1 else f"{joint.name}.{labels[k]}"
            limits.append(MotionLimit("joint", name, limit.lower, limit.upper))
            limited.add((joint.name, k))
    reach = [_TURN if c.unit == "rad" else _SHIFT * model.size for c in mechanism.coordinates]
    for home, c, r in zip(model.home_y.tolist(), mechanism.coordinates, reach, strict=True):
        given = isinstance(c, JointCoordinate) and (c.joint, c.index) in limited
        if not given and c.name not in fixed:
            limits.append(MotionLimit("position", c.name, home - r, home + r))
    ranges = np.diff(own_bounds(limits, mechanism)[:, 0], axis=1)[:, 0] / 2
    for c, r, half in zip(mechanism.coordinates, reach, ranges.tolist(), strict=True):
        if c.name in fixed:
            continue
        spindle = c.unit == "rad" and _SPINDLE < half < np.inf
        stroke = half if spindle else min(half, _WIDEST * r)
        for quantity, rate in (("speed", _SPEED), ("acceleration", _ACCELERATION)):
            limits.append(MotionLimit(quantity, c.name, -rate * stroke, rate * stroke))  # type: ignore[arg-type]
    margin = float(singularity_margin(model, model.home_q[None])[0])
    if np.isfinite(margin):
        limits.append(MotionLimit("margin", "", lower=_MARGIN * margin))
    return tuple(limits)


def usual_forces(usual: UsualMotions, mechanism: Mechanism) -> tuple[MotionLimit, ...]:
    """Return limits of the forces: one and a half times the largest of the usual motions.

    None where no such motion has the motions that are given.
    """
    if not usual.kept:
        return ()
    largest = np.max([np.abs(tau).max(axis=0) for tau in usual.tau], axis=0)
    return tuple(
        MotionLimit("force", c.force, -_FORCE * peak, _FORCE * peak)
        for c, peak in zip(mechanism.coordinates, largest.tolist(), strict=True)
        if peak > 0
    )


def usual_motions(
    mechanism: Mechanism,
    limits: Sequence[MotionLimit] | None = None,
    fixed: Mapping[str, Family] | None = None,
) -> UsualMotions:
    """Return random motions within limits; always the same.

    They are Fourier series of five harmonics with base frequencies of 1, 1/2 and 1/4 Hz. Loads over
    time, which no parameter depends on, are left out.

    Parameters
    ----------
    mechanism : Mechanism
    limits : sequence of MotionLimit, optional
        By default the usual ones, also where no motion keeps the given ones.
    fixed : mapping coordinate → Family, optional
        Motions that are given.
    """
    from mechid.base.experiment import EVERYTHING, checked, random_states

    steady = tuple(e for e in mechanism.elements if e.history is None)
    model = kinematic_model(replace(mechanism, elements=steady))
    still: dict[str, Family] = {n: Constant(x) for n, x in held_values(mechanism).items()}
    longest = max(_PERIODS)
    given = {n: f for n, f in (fixed or {}).items() if f.span[0] <= 0 and f.span[1] >= longest}
    found: list[Motion] = []
    tried = 0
    for motions in ({**still, **given}, still):
        for within in (limits, usual_limits(model, motions)):
            if within is not None and not found:
                found = _drawn(model, within, motions)
                tried += 1
    if not found:
        found = [random_states(mechanism, checked(EVERYTHING, mechanism), _STATES, 1, wide=False)]
        tried += 1
    tau = tuple(inverse_dynamics(motion).tau for motion in found)
    kept = tried == 1 and given.keys() == (fixed or {}).keys()
    return UsualMotions(tuple(found), tau, rms_forces(np.concatenate(tau)), kept)


def _drawn(
    model: KinematicModel, limits: Sequence[MotionLimit], fixed: Mapping[str, Family]
) -> list[Motion]:
    """Return random motions that keep limits; fewer where that is difficult, or none."""
    found: list[Motion] = []
    for period in _PERIODS:
        found += _of_period(model, limits, fixed, period)
        if not found:
            break
    return found


def _of_period(
    model: KinematicModel,
    limits: Sequence[MotionLimit],
    fixed: Mapping[str, Family],
    period: float,
) -> list[Motion]:
    families = {
        c.name: fixed.get(c.name) or Fourier.zeros(1 / period, _HARMONICS, home)
        for home, c in zip(model.home_y.tolist(), model.mechanism.coordinates, strict=True)
    }
    times = np.linspace(0.0, period, _SAMPLES, endpoint=False)
    made = design(Trajectory.of(families, period), times, free=set(families) - set(fixed))
    if not sum(made.sizes):
        return []
    none = np.zeros(0, dtype=np.int64)
    problem = DesignProblem(model.mechanism, made, none, Criterion("d"), tuple(limits))
    rng, starts = np.random.default_rng(1), Starts(problem)
    found: list[Motion] = []
    for k in range(_TRIES):
        if len(found) < _EACH and (x := starts.draw(rng)) is not None:
            found.append(problem.motion(x))
        elif k >= _HOPELESS and not found:
            break
    return found
