"""Design a motion that makes the parameters of a mechanism visible."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mechid.base.analyse import Rule
from mechid.base.baseset import BaseSet
from mechid.base.choose import last
from mechid.errors import DataError
from mechid.excitation.bounds import MotionLimit, check_limits
from mechid.excitation.conditions import Condition, rest_at_ends
from mechid.excitation.design import Design, design
from mechid.excitation.families import BSpline, Constant, Family, Fourier
from mechid.excitation.optimise import EFFORT, Effort, Excitation, Watch, optimise
from mechid.excitation.problem import Problem
from mechid.excitation.trajectory import Trajectory
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.model import KinematicModel, held_values, kinematic_model
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import JointCoordinate, Mechanism
from mechid.tasks.evaluate_motion import criteria_of_motion, transferred_base, usual_times
from mechid.tasks.plan import PLAN, Plan, check_plan, objective_of

_TURN, _SHIFT = 0.35, 0.1  # usual reach: rad, part of the characteristic length
_MARGIN = 0.1  # of the margin at home
_STILL = 1e-9  # of a position: a motion by less is rounding


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
    check_plan(plan, seed)
    model = kinematic_model(mechanism)
    still: dict[str, Family] = {n: Constant(x) for n, x in held_values(mechanism).items()}
    fixed = {**still, **(plan.fixed or {})}
    plan = replace(plan, fixed=fixed)
    chosen = tuple(usual_limits(model, fixed) if limits is None else limits)
    check_limits(chosen, mechanism)
    trajectory = _start(model, plan)
    times = usual_times(trajectory, plan)
    free = [c.name for c in mechanism.coordinates if c.name not in fixed]
    made = design(trajectory, times, free=free, conditions=_conditions(plan, free))
    _check_free(made, mechanism)
    x = None if start is None else _resumed(start, made, plan, free)
    base = transferred_base(mechanism, rule)
    problem = Problem(mechanism, made, base.places, objective_of(mechanism, base, plan), chosen)
    found = optimise(problem, effort, seed=seed, start=x, watch=watch, stop=stop)
    motion = problem.motion(found.x)
    worst = problem.worst(motion)
    return DesignedMotion(
        mechanism,
        plan,
        found,
        chosen,
        base,
        criteria_of_motion(mechanism, base, motion, plan),
        np.inf if worst is None else worst.worst,
        "" if worst is None else worst.limit.words,
    )


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


def _conditions(plan: Plan, free: Sequence[str]) -> dict[str, tuple[Condition, ...]]:
    if not plan.rest or plan.family == "bspline":
        return {}
    return dict.fromkeys(free, rest_at_ends(1 / plan.frequency))
