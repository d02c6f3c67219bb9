"""Evaluate a given motion: its criteria, its limits, its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mechid.blas_threads import one_blas_thread
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import DataError, KinematicsError
from mechid.excitation.bounds import MotionLimit, check_limits
from mechid.excitation.criteria.relative import RelativeNoise
from mechid.excitation.families import Family
from mechid.excitation.finer import FINER
from mechid.excitation.limits import slacks
from mechid.excitation.observe import base_observation
from mechid.excitation.sampling import SamplingRow, sample_times, sampling_table
from mechid.excitation.trajectory import Trajectory, of_mechanism, sample
from mechid.kinematics.engine.choice import preferred
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.options import ExciteOptions, step_options
from mechid.shown import Shown
from mechid.tasks.cad_prior import assumed_errors
from mechid.tasks.criteria import checked_options, criteria_of_matrix, criterion_of
from mechid.tasks.inputs import mechanism_of, trajectory_of
from mechid.tasks.keywords import keywords_of
from mechid.tasks.stages import chosen_base
from mechid.tasks.usual_motions import UsualMotions, usual_motions

if TYPE_CHECKING:
    from mechid.base.baseset import BaseSet

Peaks: TypeAlias = Mapping[str, Mapping[str, float]]

_PER_PERIOD = 12  # samples per period of the highest frequency
_DENSER = (0.25, 0.5, 1.0, 2.0, 4.0)  # times the usual samples, to see what they change
_LONGER = (2, 4)  # times the duration
_FEWEST = 4  # samples


@dataclass(frozen=True, eq=False, repr=False)
class MotionEvaluation(Shown):
    """What a given motion tells of the parameters.

    Attributes
    ----------
    criteria : mapping criterion → float
        All criteria; small is good.
    slack : float
        Of the tightest limit, on a grid twenty times as fine as the samples: negative where one is
        violated, infinite without limits.
    tightest : str
        That limit.
    peaks : mapping quantity → mapping name → float
        Largest speeds, accelerations and forces (with the CAD values), on that grid.
    notes : tuple of str
        What was assumed.
    """

    criteria: Mapping[str, float]
    slack: float = np.inf
    tightest: str = ""
    peaks: Peaks = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@keywords_of(ExciteOptions)
@one_blas_thread()
@preferred("compiled")  # as `excite`: criteria of its motions are the same to the bit
def evaluate_motion(
    model: Mechanism | str | Path,
    motion: Any,
    options: ExciteOptions = ExciteOptions(),  # noqa: B008 - frozen
    *,
    limits: Sequence[MotionLimit] = (),
    **words: Any,
) -> MotionEvaluation:
    """Return what all criteria say of a given motion, and how it keeps limits.

    Parameters
    ----------
    model : Mechanism, str or Path
        A mechanism, or what `load` takes.
    motion : DesignedMotion, Trajectory, str or Path
        A designed motion, a trajectory or its file.
    options : ExciteOptions
        Its noise, prior, samples and base set count.
    limits : sequence of MotionLimit
        Usual motions, which criteria refer to, keep them; without any, the usual limits.
    **words
        Fields of `ExciteOptions`.

    Raises
    ------
    KinematicsError
        If the mechanism cannot perform the motion.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0)
    >>> sorted(mechid.evaluate_motion("five_bar", motion).criteria)
    ['a', 'condition', 'condition-equilibrated', 'd', 'e', 'prediction']
    """
    mechanism, trajectory, options = _given(model, motion, options, words)
    check_limits(limits, mechanism)
    solved = _performed(mechanism, trajectory, options)
    base = chosen_base(mechanism, options)
    usual = usual_motions(mechanism, tuple(limits) or None, _prescribed(trajectory))
    fine = _performed(mechanism, trajectory, options, FINER)
    found = slacks(limits, fine, gradients=False)
    worst = min(found, key=lambda s: s.worst, default=None)
    return MotionEvaluation(
        criteria=criteria_of_motion(mechanism, base, solved, options, usual),
        slack=np.inf if worst is None else worst.worst,
        tightest="" if worst is None else worst.limit.words,
        peaks=peaks_of(fine),
        notes=prior_notes(mechanism, options),
    )


def peaks_of(motion: Motion) -> Peaks:
    """Return the largest speed and acceleration of each coordinate, and each force, of a motion."""
    coordinates = motion.model.mechanism.coordinates
    forces = inverse_dynamics(motion).tau
    return {
        quantity: dict(zip(names, np.abs(rows).max(axis=0).tolist(), strict=True))
        for quantity, names, rows in (
            ("speed", [c.name for c in coordinates], motion.yd),
            ("acceleration", [c.name for c in coordinates], motion.ydd),
            ("force", [c.force for c in coordinates], forces),
        )
    }


def prior_notes(mechanism: Mechanism, options: ExciteOptions) -> tuple[str, ...]:
    """Say what was assumed of the CAD values."""
    return assumed_errors(mechanism, options.cad_error) if options.prior else ()


def _given(
    model: Any, motion: Any, options: ExciteOptions, words: Mapping[str, Any]
) -> tuple[Mechanism, Trajectory, ExciteOptions]:
    options = step_options(ExciteOptions, options, words)
    return mechanism_of(model), trajectory_of(motion), checked_options(options)


def _prescribed(trajectory: Trajectory) -> dict[str, Family]:
    """Return the motions that are given beside others that are designed."""
    pairs = zip(trajectory.names, trajectory.families, strict=True)
    given = {name: family for name, family in pairs if not family.coefficients.size}
    return given if len(given) < len(trajectory.names) else {}


def _performed(
    mechanism: Mechanism, trajectory: Trajectory, options: ExciteOptions, finer: int = 1
) -> Motion:
    ordered = of_mechanism(trajectory, mechanism)
    times = usual_times(ordered, options)
    if finer > 1:  # the whole duration, with its end
        step = (times[1] - times[0]) / finer
        times = np.linspace(0.0, ordered.duration, round(ordered.duration / step) + 1)
    s = sample(ordered, times=times)
    try:
        return solve_motion(kinematic_model(mechanism), s.y, s.yd, s.ydd, time=s.time)
    except KinematicsError as error:
        raise (error.located(trajectory.name) if trajectory.name else error) from None


def criteria_of_motion(
    mechanism: Mechanism,
    base: BaseSet,
    motion: Motion,
    options: ExciteOptions,
    usual: UsualMotions,
) -> dict[str, float]:
    """Return what all criteria say of a solved motion."""
    seen = observation_matrix(motion)
    return criteria_of_matrix(mechanism, base, base.observation(seen.W), seen.known, options, usual)


@keywords_of(ExciteOptions)
def sampling_of_motion(
    model: Mechanism | str | Path,
    motion: Any,
    options: ExciteOptions = ExciteOptions(),  # noqa: B008 - frozen
    **words: Any,
) -> tuple[SamplingRow, ...]:
    """Return how the criterion changes with the samples of a given motion.

    From a quarter to four times as many samples as usual, then as many in more periods, if it
    repeats. Noise that is relative to the forces of the motion is that of the usual samples.
    Arguments as for `evaluate_motion`.
    """
    mechanism, trajectory, options = _given(model, motion, options, words)
    if options.criterion == "goals":
        raise DataError("samples are evaluated by one criterion, not by goals", remedy="give one")
    ordered = of_mechanism(trajectory, mechanism)
    base = chosen_base(mechanism, options)
    usual = usual_motions(mechanism, None, _prescribed(trajectory))
    criterion = criterion_of(mechanism, base, options, usual)
    seen = observation_matrix(_performed(mechanism, trajectory, options))
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


def usual_times(trajectory: Trajectory, options: ExciteOptions) -> Floats:
    """Return when a trajectory is sampled: from the trajectory itself, or as the plan says."""
    if options.samples is not None:
        periods = trajectory.duration / trajectory.period if trajectory.period else 1.0
        return sample_times(trajectory, samples=round(options.samples * periods))
    if trajectory.rate is not None:
        return sample_times(trajectory, rate=trajectory.rate)
    bands = [family.band for family in trajectory.families if family.band]
    cycles = max(bands) * trajectory.duration if bands else float(options.harmonics)
    return sample_times(trajectory, samples=max(round(_PER_PERIOD * cycles), _PER_PERIOD))
