"""What is to be designed, and the criterion that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from mechid.base.baseset import BaseSet
from mechid.base.cad import cad_values
from mechid.base.experiment import EVERYTHING, checked, random_states
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import DataError, MechidError
from mechid.excitation.criteria.criterion import Criterion, Options
from mechid.excitation.criteria.goals import Goals
from mechid.excitation.criteria.prediction import prediction_factor, rms_forces
from mechid.excitation.criteria.relative import RelativeNoise
from mechid.excitation.families import Family
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism

FamilyName: TypeAlias = Literal["fourier", "bspline"]
NoiseOf: TypeAlias = Literal["usual", "motion"]
CRITERIA = ("d", "prediction", "a", "e", "condition", "condition-equilibrated", "mixture")
# What ranks motions best by the prediction error they lead to (docs/reference/excitation-study.md).
DEFAULT_CRITERION = "d"
_TARGETS = 200  # random states that stand for the motions the model is for
# Of the usual forces: what noise is relative to at least, where it is that of the motion.
_FLOOR = 1e-3


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
    noise_of : "motion" or "usual"
        Of which forces: those of the motion itself, or those that are usual for the mechanism, so
        that all motions have the same noise.
    prior : bool
        Whether the CAD values count as known, with their deviations.
    rest : bool
        Whether the motion starts and ends at rest.
    fixed : mapping coordinate → Family
        Coordinates whose motion is given.
    parameters : tuple of str
        Base parameters that are wanted, by the names that head them; the others are estimated
        along with them. Empty: all.
    """

    family: FamilyName = "fourier"
    harmonics: int = 5
    frequency: float = 1.0
    samples: int | None = None
    criterion: str = DEFAULT_CRITERION
    noise: float = 0.05
    noise_of: NoiseOf = "motion"
    prior: bool = True
    rest: bool = False
    fixed: Mapping[str, Family] | None = None
    goals: Mapping[str, float] | None = None
    parameters: tuple[str, ...] = ()


PLAN = Plan()


def check_plan(plan: Plan, seed: int) -> None:
    """Refuse what makes no plan.

    Raises
    ------
    DataError
    """
    for what, value in (("frequency", plan.frequency), ("noise", plan.noise)):
        if not 0 < value < np.inf:
            raise DataError(f"the {what} is {value:g}", remedy="give a positive number")
    if plan.harmonics < 1:
        raise DataError(f"{plan.harmonics} harmonics are no motion", remedy="give one or more")
    if plan.noise_of not in get_args(NoiseOf):
        raise DataError(
            f"noise cannot be relative to {plan.noise_of} forces",
            remedy=f"use one of {', '.join(get_args(NoiseOf))}",
        )
    if plan.criterion == "prediction" and plan.parameters:
        raise DataError(
            "the criterion prediction is about forces and knows no choice of parameters",
            remedy="use a, d or e, or leave the choice out",
        )
    if seed < 0:
        raise DataError(f"the seed is {seed}", remedy="give a number from 0 on")


def objective_of(
    mechanism: Mechanism, base: BaseSet, plan: Plan
) -> Criterion | RelativeNoise | Goals:
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
) -> Criterion | RelativeNoise:
    """Return the criterion of a plan, with the noise of each force and the prior.

    Condition numbers know neither. Criteria differ by orders of magnitude; optimisers take their
    logarithm (`log`).
    """
    name = plan.criterion
    if name not in CRITERIA:
        raise DataError(f"there is no criterion {name}", remedy=f"use one of {', '.join(CRITERIA)}")
    subset = None if name == "prediction" else _subset(base, plan.parameters)
    if name.startswith("condition") or name == "mixture":
        return Criterion(name, Options(subset=subset, log=log))
    states = random_states(mechanism, checked(EVERYTHING, mechanism), _TARGETS, seed + 1)
    forces = rms_forces(inverse_dynamics(states).tau)
    targets = None
    if name == "prediction":
        targets = prediction_factor([base.observation(observation_matrix(states).W)], forces)
    criterion = Criterion(
        name,
        Options(
            sigma=plan.noise * forces,
            prior=_prior(base) if plan.prior else None,
            subset=subset,
            targets=targets,
            log=log,
        ),
    )
    if plan.noise_of == "usual":
        return criterion
    return RelativeNoise(criterion, plan.noise, cad_values(base).values, _FLOOR * forces)


def criteria_of_matrix(
    mechanism: Mechanism, base: BaseSet, W: Floats, known: Floats, plan: Plan, seed: int = 0
) -> dict[str, float]:
    """Return the criteria of W_b (N, n_i, b) and known forces (N, n_i).

    Condition numbers are without noise and prior, the others as the plan says, unless it wants a
    prior that the model does not give.
    """
    names = ["condition", "condition-equilibrated"]
    if not plan.prior or np.any(cad_values(base).covariance):
        names += ["a", "d", "e", "prediction"]
    plans = {name: replace(plan, criterion=name) for name in names}
    return {
        name: criterion_of(mechanism, base, p, seed).look(W, known).value
        for name, p in plans.items()
    }


def _subset(base: BaseSet, names: tuple[str, ...]) -> tuple[int, ...] | None:
    """Return the places of base parameters."""
    for name in names:
        if name in base.base:
            continue
        where = base.null_space.geometry.mechanism.name
        if name in base.dependent:
            column = base.beta[:, base.dependent.index(name)]
            held = ", ".join(n for n, x in zip(base.base, column, strict=True) if x != 0)
            raise DataError(
                f"{name} is no base parameter: it is a part of {held}",
                where=where,
                remedy="want those, or choose other dependent parameters",
            )
        raise DataError(
            f"{name} has no effect on any force"
            if name in base.without_effect
            else f"there is no parameter {name}",
            where=where,
            remedy=f"base parameters are {', '.join(base.base)}",
        )
    return tuple(base.base.index(name) for name in dict.fromkeys(names)) or None


def _prior(base: BaseSet) -> Floats:
    covariance = cad_values(base).covariance
    if not np.any(covariance):
        raise MechidError(
            "the model gives no uncertainties of its CAD values, so that there is no prior",
            where=base.null_space.geometry.mechanism.name,
            remedy="give uncertainty in the model file, or go without prior",
        )
    return covariance
