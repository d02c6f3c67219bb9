"""Mechanisms of the study of excitation: what is designed, random motions, designs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

import mechid
from mechid.base.analyse import Rule
from mechid.base.baseset import BaseSet, base_set
from mechid.base.bounds import all_transfers
from mechid.base.cad import cad_values
from mechid.base.choose import last
from mechid.base.experiment import EVERYTHING, checked, random_states
from mechid.base.nullspace import NullSpace
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import Observation, observation_matrix
from mechid.exact.geometry import exact_geometry
from mechid.excitation.bounds import MotionLimit
from mechid.excitation.criteria import Criterion, Objective, RelativeNoise, rms_forces
from mechid.excitation.design import Design, design
from mechid.excitation.families import Family, Fourier
from mechid.excitation.limits import slacks
from mechid.excitation.optimise import Effort, optimise
from mechid.excitation.problem import DesignProblem
from mechid.excitation.sampling import sample_times
from mechid.excitation.starts import Starts
from mechid.excitation.trajectory import Trajectory, sample
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism
from mechid.options import ExciteOptions
from mechid.tasks.criteria import criterion_of
from mechid.tasks.usual_motions import UsualMotions, usual_limits
from mechid.trajectoryfile import Expression

FREQUENCY, HARMONICS, SAMPLES = 1.0, 5, 60
NOISE = 0.05
STATES, NO_FLOOR = 200, 1e-3  # random states; of the usual forces
FINER = 8  # times as many samples for the check of the limits
CONDITIONS = ("condition", "condition-equilibrated")
MEASURES = (*CONDITIONS, "a", "d", "e", "prediction")


@dataclass(frozen=True)
class Size:
    """How much is computed."""

    random: int  # random motions that designs are compared with
    ranked: int  # of them, those whose prediction error is computed
    set_seeds: int  # designs of each base set
    seeds: int  # designs for each criterion
    effort: Effort  # of each design


FULL = Size(1000, 200, 5, 3, Effort(10, 1, 25))
QUICK = Size(16, 8, 1, 1, Effort(3, 1, 2))
PARTS = 4  # that random motions are drawn in, each with a seed of its own


@dataclass(frozen=True, eq=False)
class Made:
    """A designed motion: what it shows, what it took, and the least slack of its limits."""

    seen: Observation
    evaluations: int
    least: float


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism, what is designed, and its transfers."""

    mechanism: Mechanism
    plan: ExciteOptions
    null: NullSpace

    @staticmethod
    def of(spec: str, fixed: dict[str, Family] | None = None, *, prior: bool = True) -> Case:
        """Load a mechanism."""
        mechanism = mechid.load(spec)
        plan = ExciteOptions(
            "fourier", HARMONICS, FREQUENCY, SAMPLES, noise=NOISE, fixed=fixed or {}, prior=prior
        )
        return Case(mechanism, plan, all_transfers(exact_geometry(mechanism), EVERYTHING)[0])

    def base(self, rule: Rule = last) -> BaseSet:
        """Return a base set."""
        return base_set(self.null, rule(self.null))

    @cached_property
    def limits(self) -> tuple[MotionLimit, ...]:
        """The usual limits of the command, without those of speed and acceleration."""
        limits = usual_limits(kinematic_model(self.mechanism), self.plan.fixed)
        return tuple(x for x in limits if x.quantity not in ("speed", "acceleration"))

    @cached_property
    def usual(self) -> UsualMotions:
        """Random states about home, which stand for usual motions."""
        states = random_states(self.mechanism, checked(EVERYTHING, self.mechanism), STATES, 1)
        tau = inverse_dynamics(states).tau
        return UsualMotions((states,), (tau,), rms_forces(tau), kept=True)

    def criterion(self, plan: ExciteOptions, base: BaseSet, *, log: bool = False) -> Objective:
        """Return a criterion that counts on the declared prior; noise of a motion has no floor."""
        found = criterion_of(self.mechanism, base, plan, self.usual, log=log)
        if isinstance(found, RelativeNoise):
            floor = NO_FLOOR * self.usual.forces
            return replace(found, criterion=_declared(found.criterion, base), floor=floor)
        return _declared(found, base)

    @cached_property
    def free(self) -> Design:
        """What is free: Fourier series of the coordinates whose motion is not given."""
        model = kinematic_model(self.mechanism)
        fixed = self.plan.fixed
        families = {
            c.name: fixed.get(c.name) or Fourier.zeros(FREQUENCY, HARMONICS, home)
            for home, c in zip(model.home_y.tolist(), self.mechanism.coordinates, strict=True)
        }
        trajectory = Trajectory.of(families, 1 / FREQUENCY)
        names = [c.name for c in self.mechanism.coordinates if c.name not in fixed]
        return design(trajectory, sample_times(trajectory, samples=SAMPLES), free=names)

    def designed(self, plan: ExciteOptions, base: BaseSet, effort: Effort, seed: int) -> Made:
        """Design a motion as `excite` does."""
        objective = self.criterion(plan, base, log=True)
        problem = DesignProblem(self.mechanism, self.free, base.places, objective, self.limits)
        found = optimise(problem, effort, seed=seed)
        seen = observation_matrix(problem.motion(found.x))
        s = sample(found.trajectory, times=np.linspace(0.0, 1 / FREQUENCY, FINER * SAMPLES + 1))
        motion = solve_motion(kinematic_model(self.mechanism), s.y, s.yd, s.ydd, time=s.time)
        least = min(x.worst for x in slacks(self.limits, motion, gradients=False))
        return Made(seen, found.evaluations, least)

    def random_motions(self, n: int, seed: int) -> Iterator[Observation]:
        """Yield what n random feasible motions show, drawn as `mechid excite` does."""
        none = np.zeros(0, dtype=np.int64)
        problem = DesignProblem(self.mechanism, self.free, none, Criterion("d"), self.limits)
        rng, starts = np.random.default_rng(seed), Starts(problem)
        for _ in range(n):
            x = starts.draw(rng)
            assert x is not None, "the home pose keeps all limits"
            yield observation_matrix(problem.motion(x))


def _declared(criterion: Criterion, base: BaseSet) -> Criterion:
    if criterion.options.prior is None:
        return criterion
    options = replace(criterion.options, prior=cad_values(base).covariance)
    return replace(criterion, options=options)


@cache
def suspension(amplitude: str = "50") -> Case:
    """Return the suspension with its wheels driven as in the source."""
    wheels = Expression(f"{amplitude}*sin(pi*{FREQUENCY:g}*t)")
    return Case.of("sla_suspension", {"spin_r": wheels, "spin_l": wheels})


def with_criterion(plan: ExciteOptions, name: str) -> ExciteOptions:
    """Return a plan with another criterion; "…, noise of the motion" with that noise."""
    criterion, _, own = name.partition(", ")
    return replace(plan, criterion=criterion, noise_of="motion" if own else "usual")
