"""Design a motion that makes the parameters of a mechanism visible."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mechid.blas_threads import one_blas_thread
from mechid.errors import DataError
from mechid.excitation.bounds import MotionLimit, check_limits
from mechid.excitation.conditions import Condition, rest_at_ends
from mechid.excitation.design import Design, design
from mechid.excitation.device import judge_of
from mechid.excitation.families import BSpline, Constant, Family, Fourier
from mechid.excitation.finer import finer
from mechid.excitation.optimise import Effort, Excitation, Watch, optimise
from mechid.excitation.problem import DesignProblem
from mechid.excitation.trajectory import Trajectory
from mechid.kinematics.engine.choice import preferred
from mechid.kinematics.model import KinematicModel, held_values, kinematic_model
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.options import ExciteOptions, step_options
from mechid.shown import Plotted, Tabular
from mechid.tape.cuda import usable_device
from mechid.tasks.criteria import checked_options, objective_of
from mechid.tasks.evaluate_motion import (
    Peaks,
    criteria_of_motion,
    peaks_of,
    prior_notes,
    usual_times,
)
from mechid.tasks.inputs import mechanism_of, trajectory_of, wrong_type
from mechid.tasks.keywords import keywords_of
from mechid.tasks.stages import chosen_base
from mechid.tasks.usual_motions import UsualMotions, usual_forces, usual_limits, usual_motions
from mechid.trajectoryfile.expression import Expression
from mechid.trajectoryfile.limits import read_limits

if TYPE_CHECKING:
    from mechid.base.baseset import BaseSet

_STILL = 1e-9  # of a position: a motion by less is rounding


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DesignedMotion(Plotted, Tabular):
    """A designed motion, and what all criteria say of it.

    Attributes
    ----------
    mechanism : Mechanism
    options : ExciteOptions
    excitation : Excitation
        The trajectory, and how it was found.
    limits : tuple of MotionLimit
        Within which it stays.
    base : BaseSet
        The parameters it is for.
    criteria : mapping criterion → float
        All criteria; small is good.
    slack : float
        Of the tightest limit, on a grid twenty times as fine as the samples.
    tightest : str
        That limit.
    peaks : mapping quantity → mapping name → float
        Largest speeds, accelerations and forces (with the CAD values), on that grid.
    notes : tuple of str
        What was assumed.
    """

    mechanism: Mechanism
    options: ExciteOptions
    excitation: Excitation
    limits: tuple[MotionLimit, ...]
    base: BaseSet
    criteria: dict[str, float]
    slack: float
    tightest: str
    peaks: Peaks
    notes: tuple[str, ...] = ()

    @property
    def trajectory(self) -> Trajectory:
        """The motion as a function of time; `save_trajectory` writes it."""
        return self.excitation.trajectory

    def plain(self, value: float) -> float:
        """Return a value of the optimiser as that of the criterion: it works with logarithms."""
        return value if self.options.criterion == "d" else float(np.exp(value))

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows: duration, criteria and the tightest limit."""
        t = self.trajectory
        return {
            "mechanism": self.mechanism.name,
            "coordinates": t.names,
            "duration": f"{t.duration:g} s",
            "tightest limit": f"{self.tightest or 'none'} (slack {self.slack:.2g})",
            "criteria": {name: f"{value:.4g}" for name, value in self.criteria.items()},
            "notes": self.notes,
        }


@keywords_of(ExciteOptions)
@one_blas_thread()
@preferred("compiled")
def excite(
    model: Mechanism | str | Path,
    options: ExciteOptions = ExciteOptions(),  # noqa: B008 - frozen
    *,
    limits: Sequence[MotionLimit] | str | Path | None = None,
    start: Any = None,
    watch: Watch | None = None,
    stop: Callable[[], bool] = lambda: False,
    **words: Any,
) -> DesignedMotion:
    """Design a motion within limits that makes the base parameters as visible as it can.

    Parameters
    ----------
    model : Mechanism, str or Path
        A mechanism, or what `load` takes.
    options : ExciteOptions
    limits : sequence of MotionLimit, str or Path, optional
        Limits, or their file (.yaml); by default `usual_limits`, and forces up to one and a half
        times the largest of usual motions.
    start : DesignedMotion, Trajectory, str or Path, optional
        A designed motion to go on from.
    watch, stop : callables, optional
        As for `optimise`: told (stage, step, best) at each step, and asked whether to end.
    **words
        Fields of `ExciteOptions`, as criterion="d", harmonics=5, frequency=0.5, seed=1.

    Returns
    -------
    DesignedMotion
        What `synthesise`, `predict` and `evaluate_motion` take; `save_trajectory` writes its
        `trajectory`.

    Raises
    ------
    DataError
        For options or limits that make no sense.
    MechidError
        Naming the limit that blocks it, if no motion keeps all limits.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0, harmonics=2, frequency=0.5)
    >>> motion.trajectory.duration
    2.0
    """
    mechanism = mechanism_of(model)
    options = checked_options(step_options(ExciteOptions, options, words))
    device = usable_device(options.device)
    plan = plan_of(mechanism, options, limits)
    problem, base, usual, chosen = plan.problem, plan.base, plan.usual, plan.problem.limits
    free = plan.free
    x = None if start is None else _resumed(trajectory_of(start), problem.design, options, free)
    seconds = np.inf if options.max_seconds is None else options.max_seconds
    effort = Effort(options.random, options.starts, options.iterations, seconds)
    found = optimise(
        problem,
        effort,
        seed=options.seed,
        start=x,
        watch=watch,
        stop=stop,
        judge=judge_of(problem, device),
    )
    fine = finer(problem)
    motion = fine.motion(found.x)
    worst = fine.worst(motion)
    peaks = peaks_of(motion)
    return DesignedMotion(
        mechanism=mechanism,
        options=options,
        excitation=found,
        limits=chosen,
        base=base,
        criteria=criteria_of_motion(mechanism, base, problem.motion(found.x), options, usual),
        slack=np.inf if worst is None else worst.worst,
        tightest="" if worst is None else worst.limit.words,
        peaks=peaks,
        notes=(
            *prior_notes(mechanism, options),
            *_unlimited(problem.model.kinematics, chosen, peaks, plan.fixed),
        ),
    )


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be designed, and what it is for."""

    problem: DesignProblem
    base: BaseSet
    usual: UsualMotions
    fixed: Mapping[str, Family]
    free: tuple[str, ...]


def plan_of(
    mechanism: Mechanism,
    options: ExciteOptions,
    limits: Sequence[MotionLimit] | str | Path | None = None,
) -> Plan:
    """Return the problem that `excite` solves, from checked options."""
    ready = kinematic_model(mechanism)
    still: dict[str, Family] = {n: Constant(x) for n, x in held_values(mechanism).items()}
    fixed = {**still, **_families(options.fixed)}
    given = None if limits is None else _limits(limits, mechanism)
    trajectory = _start(ready, options, fixed)
    times = usual_times(trajectory, options)
    free = tuple(c.name for c in mechanism.coordinates if c.name not in fixed)
    made = design(trajectory, times, free=free, conditions=_conditions(options, free))
    _check_free(made, mechanism)
    base = chosen_base(mechanism, options)
    usual = usual_motions(mechanism, given, fixed)
    chosen = given
    if chosen is None:
        chosen = (*usual_limits(ready, fixed), *usual_forces(usual, mechanism))
    problem = DesignProblem(
        mechanism=mechanism,
        design=made,
        places=base.places,
        criterion=objective_of(mechanism, base, options, usual),
        limits=chosen,
    )
    return Plan(problem, base, usual, fixed, free)


def _unlimited(
    model: KinematicModel, limits: Sequence[MotionLimit], peaks: Peaks, fixed: Collection[str]
) -> tuple[str, ...]:
    """Say which speeds and accelerations are beyond what is usual, and have no limit."""
    limited = {(limit.quantity, limit.name) for limit in limits}
    units = {c.name: c.unit for c in model.mechanism.coordinates}
    notes = []
    for quantity, per in (("speed", "s"), ("acceleration", "s²")):
        beyond = [
            (peaks[quantity][limit.name], limit.upper, limit.name)
            for limit in usual_limits(model, fixed)
            if limit.quantity == quantity and (quantity, limit.name) not in limited
            if limit.upper is not None and peaks[quantity][limit.name] > limit.upper
        ]
        if beyond:
            peak, bound, name = max(beyond, key=lambda found: found[0] / found[1])
            unit = f"{units[name]}/{per}"
            notes.append(
                f"the {quantity} of {name} has no limit and reaches {peak:.3g} {unit} (usual: up "
                f"to {bound:.3g} {unit}); limit it if the machine cannot do that"
            )
    return tuple(notes)


def _limits(given: Any, mechanism: Mechanism) -> tuple[MotionLimit, ...]:
    """Return limits; what is wrong with those of a file names the file."""
    is_file = isinstance(given, str | Path)
    found = read_limits(given) if is_file else tuple(given)
    if wrong := [x for x in found if not isinstance(x, MotionLimit)]:
        raise wrong_type("limits", "a list of MotionLimit, or a file", wrong[0])
    try:
        check_limits(found, mechanism)
    except DataError as error:
        raise (error.located(str(given)) if is_file else error) from None
    return found


def _families(fixed: Mapping[str, Any]) -> dict[str, Family]:
    """Return given motions, with text as an expression of time."""
    found: dict[str, Family] = {}
    for name, motion in fixed.items():
        family = Expression(motion) if isinstance(motion, str) else motion
        if not isinstance(family, Family):
            raise wrong_type(
                f"the given motion of {name}", "an expression of t or a Family", motion
            )
        found[name] = family
    return found


def _check_free(made: Design, mechanism: Mechanism) -> None:
    """Reject a design in which nothing can move."""
    if not sum(made.sizes):
        raise DataError(
            "the motions of all coordinates are given: nothing is left to design",
            where=mechanism.name,
            remedy="free at least one, or evaluate the motion",
        )
    for name, basis in zip(made.trajectory.names, made.bases, strict=True):
        size = np.abs(basis.position).max(initial=0.0)
        if basis.position.size and np.ptp(basis.position, axis=0).max() <= _STILL * size:
            raise DataError(
                f"{name} cannot move",
                where=mechanism.name,
                remedy="use more harmonics, or no rest at the ends",
            )


def _resumed(
    start: Trajectory, made: Design, options: ExciteOptions, free: Sequence[str]
) -> Floats:
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
                f"{name} belongs to another family than the designed motion",
                where=start.name,
                remedy="design with the family, frequency and harmonics of the start",
            )
    return design(again, made.time, free=free, conditions=_conditions(options, free)).start


def _kind(family: Family) -> Family:
    """Return a family without its numbers."""
    return family.with_coefficients(np.zeros(family.coefficients.size))


def _start(
    model: KinematicModel, options: ExciteOptions, fixed: Mapping[str, Family]
) -> Trajectory:
    families: dict[str, Family] = {}
    for name in fixed:
        if name not in {c.name for c in model.mechanism.coordinates}:
            raise DataError(
                f"there is no coordinate {name} whose motion could be given",
                where=model.mechanism.name,
            )
    period = 1 / options.frequency
    for home, c in zip(model.home_y.tolist(), model.mechanism.coordinates, strict=True):
        if c.name in fixed:
            families[c.name] = fixed[c.name]
        elif options.family == "fourier":
            families[c.name] = Fourier.zeros(options.frequency, options.harmonics, home)
        else:
            ends: Literal["rest", "periodic"] = "rest" if options.rest else "periodic"
            values = (home,) * (2 * options.harmonics + 1)
            families[c.name] = BSpline(period, values, ends=ends)
    return Trajectory.of(families, period, name=f"{model.mechanism.name} excitation")


def _conditions(options: ExciteOptions, free: Sequence[str]) -> dict[str, tuple[Condition, ...]]:
    if not options.rest or options.family == "bspline":
        return {}
    return dict.fromkeys(free, rest_at_ends(1 / options.frequency))
