"""Judge a given motion: its criteria, its limits, its samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.base.analyse import Rule, base_parameters
from mechid.base.baseset import BaseSet
from mechid.base.choose import last
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import DataError
from mechid.excitation.bounds import MotionLimit, check_limits
from mechid.excitation.criteria.relative import RelativeNoise
from mechid.excitation.limits import slacks
from mechid.excitation.observe import base_observation
from mechid.excitation.sampling import SamplingRow, sample_times, sampling_table
from mechid.excitation.trajectory import Trajectory, of_mechanism, sample
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.tasks.plan import Plan, check_plan, criteria_of_matrix, criterion_of

_PER_PERIOD = 12  # samples per period of the highest frequency
_DENSER = (0.25, 0.5, 1.0, 2.0, 4.0)  # times the usual samples, to see what they change
_LONGER = (2, 4)  # times the duration
_FEWEST = 4  # samples


def evaluate_motion(
    mechanism: Mechanism, trajectory: Trajectory, plan: Plan, *, rule: Rule = last, seed: int = 0
) -> dict[str, float]:
    """Return what all criteria say of a given trajectory; `seed` draws the target motions."""
    check_plan(plan, seed)
    motion = _performed(mechanism, trajectory, plan)
    return criteria_of_motion(mechanism, transferred_base(mechanism, rule), motion, plan, seed)


def tightest_limit(
    mechanism: Mechanism, trajectory: Trajectory, plan: Plan, limits: Sequence[MotionLimit]
) -> tuple[float, str]:
    """Return the smallest slack of limits along a given trajectory, and that limit in words.

    The slack is negative where a limit is violated, and infinite without limits.
    """
    check_limits(limits, mechanism)
    found = slacks(limits, _performed(mechanism, trajectory, plan), gradients=False)
    worst = min(found, key=lambda s: s.worst, default=None)
    return (np.inf, "") if worst is None else (worst.worst, worst.limit.words)


def _performed(mechanism: Mechanism, trajectory: Trajectory, plan: Plan) -> Motion:
    ordered = of_mechanism(trajectory, mechanism)
    s = sample(ordered, times=usual_times(ordered, plan))
    return solve_motion(kinematic_model(mechanism), s.y, s.yd, s.ydd, time=s.time)


def criteria_of_motion(
    mechanism: Mechanism, base: BaseSet, motion: Motion, plan: Plan, seed: int = 0
) -> dict[str, float]:
    """Return what all criteria say of a solved motion."""
    seen = observation_matrix(motion)
    return criteria_of_matrix(mechanism, base, base.observation(seen.W), seen.known, plan, seed)


def sampling_of_motion(
    mechanism: Mechanism, trajectory: Trajectory, plan: Plan, *, rule: Rule = last
) -> tuple[SamplingRow, ...]:
    """Return how the criterion of a plan changes with the samples of a given trajectory.

    From a quarter to four times as many samples as usual, then as many in more periods, if it
    repeats. Noise that is relative to the forces of the motion is that of the usual samples.
    """
    check_plan(plan, 0)
    if plan.criterion == "goals":
        raise DataError(
            "samples are judged by one criterion, not by goals", remedy="give a criterion"
        )
    ordered = of_mechanism(trajectory, mechanism)
    base = transferred_base(mechanism, rule)
    criterion = criterion_of(mechanism, base, plan)
    seen = observation_matrix(_performed(mechanism, trajectory, plan))
    if isinstance(criterion, RelativeNoise):
        criterion = criterion.at(base.observation(seen.W), seen.known)
    observe = base_observation(mechanism, base.places)
    n = len(seen.W)
    counts = sorted({max(round(n * k), _FEWEST) for k in _DENSER})
    rows = sampling_table(ordered, observe, criterion, samples=counts)
    if not ordered.period:
        return rows
    once = ordered.duration / ordered.period
    more = [
        row
        for k in _LONGER
        for row in sampling_table(ordered, observe, criterion, samples=[k * n], periods=[k * once])
    ]
    return (*rows, *more)


def usual_times(trajectory: Trajectory, plan: Plan) -> Floats:
    """Return when a trajectory is sampled: from the trajectory itself, or as the plan says."""
    if plan.samples is not None:
        periods = trajectory.duration / trajectory.period if trajectory.period else 1.0
        return sample_times(trajectory, samples=round(plan.samples * periods))
    if trajectory.rate is not None:
        return sample_times(trajectory, rate=trajectory.rate)
    bands = [family.band for family in trajectory.families if family.band]
    cycles = max(bands) * trajectory.duration if bands else float(plan.harmonics)
    return sample_times(trajectory, samples=max(round(_PER_PERIOD * cycles), _PER_PERIOD))


def transferred_base(mechanism: Mechanism, rule: Rule) -> BaseSet:
    """Return the base set of a rule, from all transfers of inertia."""
    return base_parameters(mechanism, rule=rule).chosen
