"""Design a motion that makes the parameters of a mechanism visible, or judge a given one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from mechid.base.analyse import Rule
from mechid.base.baseset import BaseSet, base_set
from mechid.base.bounds import all_transfers
from mechid.base.cad import cad_values
from mechid.base.choose import last
from mechid.base.experiment import EVERYTHING, random_states
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import DataError, MechidError
from mechid.exact.geometry import exact_geometry
from mechid.excitation.bounds import MotionLimit, check_limits
from mechid.excitation.conditions import Condition, rest_at_ends
from mechid.excitation.criteria.criterion import Criterion, Options
from mechid.excitation.criteria.goals import Goals
from mechid.excitation.criteria.prediction import prediction_factor, rms_forces
from mechid.excitation.design import Design, design
from mechid.excitation.families import BSpline, Family, Fourier
from mechid.excitation.limits import slacks
from mechid.excitation.optimise import EFFORT, Effort, Excitation, Watch, optimise
from mechid.excitation.problem import Problem
from mechid.excitation.sampling import sample_times
from mechid.excitation.trajectory import Trajectory, sample
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import JointCoordinate, Mechanism

FamilyName: TypeAlias = Literal["fourier", "bspline"]
CRITERIA = ("prediction", "a", "d", "e", "condition", "condition-equilibrated", "mixture")
DEFAULT_CRITERION = "prediction"
_TARGETS = 200  # random states that stand for the motions the model is for
_TURN, _SHIFT = 0.35, 0.1  # usual reach: rad, part of the characteristic length
_MARGIN = 0.1  # of the margin at home
_STILL = 1e-9  # of a position: a motion by less is rounding
_PER_PERIOD = 12  # samples per period of the highest frequency


@dataclass(frozen=True)
class Plan:
    """What is to be designed.

    Attributes
    ----------
    family : "fourier" or "bspline"
    harmonics : int
        Of a Fourier series; a spline has twice as many values, and one.
    frequency : float
        Base frequency (Hz); the motion lasts one period.
    samples : int or None
        Per period; None: twelve per period of the highest frequency, or the rate of a trajectory
        that has one.
    criterion : str
        "goals" for the worst of several, relative to `goals`.
    goals : mapping criterion → float
        Values to be reached together.
    noise : float
        Deviation of the force noise relative to the root mean square of each force.
    prior : bool
        Whether the CAD values count as known, with their deviations.
    rest : bool
        Whether the motion starts and ends at rest.
    fixed : mapping coordinate → Family
        Coordinates whose motion is given.
    """

    family: FamilyName = "fourier"
    harmonics: int = 5
    frequency: float = 1.0
    samples: int | None = None
    criterion: str = DEFAULT_CRITERION
    noise: float = 0.05
    prior: bool = True
    rest: bool = False
    fixed: Mapping[str, Family] | None = None
    goals: Mapping[str, float] | None = None


PLAN = Plan()


@dataclass(frozen=True, eq=False)
class DesignedMotion:
    """A designed motion, and what all criteria say of it."""

    mechanism: Mechanism
    plan: Plan
    excitation: Excitation
    limits: tuple[MotionLimit, ...]
    base: BaseSet
    criteria: dict[str, float]
    slack: float
    tightest: str

    def plain(self, value: float) -> float:
        """Return a value of the optimiser as that of the criterion: it works with logarithms."""
        return value if self.plan.criterion == "d" else float(np.exp(value))


def usual_limits(model: KinematicModel, fixed: Collection[str] = ()) -> tuple[MotionLimit, ...]:
    """Return limits for a mechanism that names none: those of its joints, and about the home pose.

    A coordinate whose joint has limits in the model file keeps those; the others stay within
    0.35 rad or a tenth of the size of the mechanism of home. The distance from singular poses
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
    for home, c in zip(model.home_y.tolist(), mechanism.coordinates, strict=True):
        given = isinstance(c, JointCoordinate) and (c.joint, c.index) in limited
        if given or c.name in fixed:
            continue
        reach = _TURN if c.unit == "rad" else _SHIFT * model.size
        limits.append(MotionLimit("position", c.name, home - reach, home + reach))
    margin = float(singularity_margin(model, model.home_q[None])[0])
    if np.isfinite(margin):
        limits.append(MotionLimit("margin", "", lower=_MARGIN * margin))
    return tuple(limits)


def design_motion(
    mechanism: Mechanism,
    plan: Plan = PLAN,
    *,
    limits: Sequence[MotionLimit] | None = None,
    rule: Rule = last,
    effort: Effort = EFFORT,
    seed: int = 0,
    start: Trajectory | None = None,
    watch: Watch | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> DesignedMotion:
    """Design a motion of a mechanism for the identification of its base parameters.

    Parameters
    ----------
    mechanism : Mechanism
    plan : Plan
    limits : sequence of MotionLimit, optional
        By default `usual_limits`.
    rule : callable
        Choice of the dependent parameters.
    effort : Effort
    seed : int
        Of the random motions; criteria do not depend on it.
    start : Trajectory, optional
        A designed motion to go on from.
    watch, stop : callables, optional
        As for `optimise`.

    Raises
    ------
    DataError
        For a plan or limits that make no sense.
    MechidError
        Naming the limit that blocks it, if no motion keeps all limits.
    """
    _check(plan, seed)
    model = kinematic_model(mechanism)
    fixed = plan.fixed or {}
    chosen = tuple(usual_limits(model, fixed) if limits is None else limits)
    check_limits(chosen, mechanism)
    trajectory = _start(model, plan)
    times = _times(trajectory, plan)
    free = [c.name for c in mechanism.coordinates if c.name not in fixed]
    made = design(trajectory, times, free=free, conditions=_conditions(plan, free))
    _check_free(made, mechanism)
    x = None if start is None else _resumed(start, made, plan, free)
    base = _base(mechanism, rule)
    problem = Problem(mechanism, made, base.places, _objective(mechanism, base, plan), chosen)
    found = optimise(problem, effort, seed=seed, start=x, watch=watch, stop=stop)
    motion = problem.motion(found.x)
    worst = problem.worst(motion)
    return DesignedMotion(
        mechanism,
        plan,
        found,
        chosen,
        base,
        judged(mechanism, base, motion, plan),
        np.inf if worst is None else worst.worst,
        "" if worst is None else worst.limit.words,
    )


def judge_motion(
    mechanism: Mechanism, trajectory: Trajectory, plan: Plan, *, rule: Rule = last, seed: int = 0
) -> dict[str, float]:
    """Return what all criteria say of a given trajectory; `seed` draws the target motions."""
    _check(plan, seed)
    motion = _performed(mechanism, trajectory, plan)
    return judged(mechanism, _base(mechanism, rule), motion, plan, seed)


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
    ordered = trajectory.ordered([c.name for c in mechanism.coordinates], where=trajectory.name)
    s = sample(ordered, times=_times(ordered, plan))
    return solve_motion(kinematic_model(mechanism), s.y, s.yd, s.ydd, time=s.time)


def judged(
    mechanism: Mechanism, base: BaseSet, motion: Motion, plan: Plan, seed: int = 0
) -> dict[str, float]:
    """Return the criteria of a motion: condition numbers raw and equilibrated without prior, the
    others as the plan says, unless it wants a prior that the model does not give."""
    W = base.observation(observation_matrix(motion).W)
    found = {name: Criterion(name)(W) for name in ("condition", "condition-equilibrated")}
    if plan.prior and not np.any(cad_values(base).covariance):
        return found
    for name in ("a", "d", "e", "prediction"):
        criterion = criterion_of(mechanism, base, replace(plan, criterion=name), seed)
        found[name] = criterion(W)
    return found


def _objective(mechanism: Mechanism, base: BaseSet, plan: Plan) -> Criterion | Goals:
    """Return what the optimiser makes small: the logarithm of a criterion, or goals."""
    if plan.criterion != "goals":
        return criterion_of(mechanism, base, plan, log=True)
    if not plan.goals:
        raise DataError("the criterion goals has none", remedy="give goals, as d=-170")
    criteria = tuple(
        criterion_of(mechanism, base, replace(plan, criterion=name), log=True)
        for name in plan.goals
    )
    values = []
    for name, goal in plan.goals.items():
        if name != "d" and not goal > 0:
            raise DataError(f"the goal of {name} is {goal:g}", remedy="give a positive one")
        values.append(goal if name == "d" else float(np.log(goal)))
    return Goals(criteria, tuple(values))


def criterion_of(
    mechanism: Mechanism, base: BaseSet, plan: Plan, seed: int = 0, *, log: bool = False
) -> Criterion:
    """Return the criterion of a plan, with the noise of each force and the prior.

    Criteria differ by orders of magnitude; optimisers take their logarithm (`log`).
    """
    if plan.criterion not in CRITERIA:
        raise DataError(
            f"there is no criterion {plan.criterion}", remedy=f"use one of {', '.join(CRITERIA)}"
        )
    if plan.criterion.startswith("condition") or plan.criterion == "mixture":
        return Criterion(plan.criterion, Options(log=log))
    states = random_states(mechanism, EVERYTHING, _TARGETS, seed + 1)
    forces = rms_forces(inverse_dynamics(states).tau)
    prior = _prior(base) if plan.prior else None
    sigma = plan.noise * forces
    targets = None
    if plan.criterion == "prediction":
        W = base.observation(observation_matrix(states).W)
        targets = prediction_factor([W], forces)
    options = Options(sigma=sigma, prior=prior, targets=targets, log=log)
    return Criterion(plan.criterion, options)


def _prior(base: BaseSet) -> Floats:
    covariance = cad_values(base).covariance
    if not np.any(covariance):
        raise MechidError(
            "the model gives no uncertainties of its CAD values, so that there is no prior",
            where=base.null_space.geometry.mechanism.name,
            remedy="give uncertainty in the model file, or go without prior",
        )
    return covariance


def _check(plan: Plan, seed: int) -> None:
    """Refuse numbers that make no plan."""
    for what, value in (("frequency", plan.frequency), ("noise", plan.noise)):
        if not 0 < value < np.inf:
            raise DataError(f"the {what} is {value:g}", remedy="give a positive number")
    if plan.harmonics < 1:
        raise DataError(f"{plan.harmonics} harmonics are no motion", remedy="give one or more")
    if seed < 0:
        raise DataError(f"the seed is {seed}", remedy="give a number from 0 on")


def _check_free(made: Design, mechanism: Mechanism) -> None:
    """Refuse a design in which nothing can move."""
    if not sum(made.sizes):
        raise DataError(
            "the motion of all coordinates is given: nothing is left to design",
            where=mechanism.name,
            remedy="leave one of them free, or judge the motion",
        )
    for name, basis in zip(made.trajectory.names, made.bases, strict=True):
        size = np.abs(basis.position).max(initial=0.0)
        if basis.position.size and np.ptp(basis.position, axis=0).max() <= _STILL * size:
            raise DataError(
                f"{name} can only stand still",
                where=mechanism.name,
                remedy="give more harmonics, or do without rest at the ends",
            )


def _resumed(start: Trajectory, made: Design, plan: Plan, free: Sequence[str]) -> Floats:
    """Return the free numbers of a trajectory to go on from.

    Raises
    ------
    DataError
        If it is of another kind than what is designed.
    """
    again = start.ordered(made.trajectory.names, where=start.name)
    for name in free:
        kinds = [_kind(t[name]) for t in (again, made.trajectory)]
        if kinds[0] != kinds[1]:
            raise DataError(
                f"{name} is of another kind than the motion that is designed",
                where=start.name,
                remedy="design with the family, frequency and harmonics of the start",
            )
    return design(again, made.time, free=free, conditions=_conditions(plan, free)).start


def _kind(family: Family) -> Family:
    """Return a family without its numbers."""
    return family.with_coefficients(np.zeros(family.coefficients.size))


def _base(mechanism: Mechanism, rule: Rule) -> BaseSet:
    null, _, _ = all_transfers(exact_geometry(mechanism), EVERYTHING)
    return base_set(null, rule(null))


def _start(model: KinematicModel, plan: Plan) -> Trajectory:
    families: dict[str, Family] = {}
    fixed = plan.fixed or {}
    for name in fixed:
        if name not in {c.name for c in model.mechanism.coordinates}:
            raise DataError(
                f"there is no coordinate {name} whose motion could be given",
                where=model.mechanism.name,
            )
    period = 1 / plan.frequency
    for home, c in zip(model.home_y.tolist(), model.mechanism.coordinates, strict=True):
        if c.name in fixed:
            families[c.name] = fixed[c.name]
        elif plan.family == "fourier":
            families[c.name] = Fourier.zeros(plan.frequency, plan.harmonics, home)
        else:
            ends: Literal["rest", "periodic"] = "rest" if plan.rest else "periodic"
            values = (home,) * (2 * plan.harmonics + 1)
            families[c.name] = BSpline(period, values, ends=ends)
    return Trajectory.of(families, period, name=f"{model.mechanism.name} excitation")


def _times(trajectory: Trajectory, plan: Plan) -> Floats:
    """Return when a trajectory is sampled: from the trajectory itself, or as the plan says."""
    if plan.samples is not None:
        periods = trajectory.duration / trajectory.period if trajectory.period else 1.0
        return sample_times(trajectory, samples=round(plan.samples * periods))
    if trajectory.rate is not None:
        return sample_times(trajectory, rate=trajectory.rate)
    bands = [family.band for family in trajectory.families if family.band]
    cycles = max(bands) * trajectory.duration if bands else float(plan.harmonics)
    return sample_times(trajectory, samples=max(round(_PER_PERIOD * cycles), _PER_PERIOD))


def _conditions(plan: Plan, free: Sequence[str]) -> dict[str, tuple[Condition, ...]]:
    if not plan.rest or plan.family == "bspline":
        return {}
    return dict.fromkeys(free, rest_at_ends(1 / plan.frequency))
