"""What motion is to be designed, and the criterion that follows from it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import DataError
from mechid.estimation.bodies import USUAL_CAD_ERROR
from mechid.excitation.criteria.criterion import Criterion, CriterionOptions
from mechid.excitation.criteria.goals import Goals
from mechid.excitation.criteria.prediction import prediction_factor
from mechid.excitation.criteria.relative import RelativeNoise
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.options.excite import CRITERIA, DEFAULT_CRITERION, OF_PARAMETERS, ExciteOptions
from mechid.tasks.cad_prior import left_open, prior_from_cad, widened
from mechid.tasks.usual_motions import UsualMotions, usual_motions

if TYPE_CHECKING:
    from mechid.base.baseset import BaseSet

_LEAST = 0.1  # of the usual force: one that is smaller in a motion need not be that exact


def checked_options(options: ExciteOptions) -> ExciteOptions:
    """Return options with their criterion, or reject those that make no sense.

    Raises
    ------
    DataError
    """
    if not 0 < options.noise < np.inf:
        raise DataError(f"noise must be > 0, got {options.noise:g}")
    for name, least in (("harmonics", 1), ("random", 1), ("starts", 0), ("iterations", 1)):
        value = getattr(options, name)
        if value < least:
            raise DataError(f"{name} must be ≥ {least}, got {value}")
    criterion = options.criterion or (OF_PARAMETERS if options.parameters else DEFAULT_CRITERION)
    for name in options.goals if criterion == "goals" else (criterion,):
        if name not in CRITERIA:
            known = ", ".join((*CRITERIA, "goals"))
            raise DataError(f"unknown criterion '{name}'", remedy=f"choose one of: {known}")
    if criterion == "prediction" and options.parameters:
        raise DataError(
            "the criterion prediction is about forces and takes no choice of parameters",
            remedy="use a, d or e, or omit the choice",
        )
    return replace(options, criterion=criterion)


def objective_of(
    mechanism: Mechanism, base: BaseSet, options: ExciteOptions, usual: UsualMotions | None = None
) -> Criterion | RelativeNoise | Goals:
    """Return what the optimiser makes small: the logarithm of a criterion, or goals."""
    if options.criterion != "goals":
        return criterion_of(mechanism, base, options, usual, log=True)
    if not options.goals:
        raise DataError("the criterion goals needs goals", remedy="give goals, as d=-170")
    criteria = tuple(
        criterion_of(mechanism, base, replace(options, criterion=name), usual, log=True)
        for name in options.goals
    )
    values = []
    for name, goal in options.goals.items():
        if name != "d" and not goal > 0:
            raise DataError(f"the goal of {name} must be > 0, got {goal:g}")
        values.append(goal if name == "d" else float(np.log(goal)))
    return Goals(criteria, tuple(values))


def criterion_of(
    mechanism: Mechanism,
    base: BaseSet,
    options: ExciteOptions,
    usual: UsualMotions | None = None,
    *,
    log: bool = False,
) -> Criterion | RelativeNoise:
    """Return the criterion of a plan, with the noise of each force and the prior.

    Condition numbers know neither. Noise and predicted forces refer to the usual motions, by
    default those within the usual limits. Criteria differ by orders of magnitude; optimisers take
    their logarithm (`log`).
    """
    from mechid.base.cad import cad_values

    name = options.criterion or DEFAULT_CRITERION
    subset = None if name == "prediction" else _subset(base, options.parameters)
    if name.startswith("condition") or name == "mixture":
        return Criterion(name, CriterionOptions(subset=subset, log=log))
    usual = usual or usual_motions(mechanism)
    forces = usual.forces
    of = [observation_matrix(motion).W for motion in usual.motions]
    W = np.concatenate(of)
    targets = None
    if name == "prediction":
        # Each motion by its own forces, as prediction errors are: slow motions count like fast
        # ones, whose forces may be ten times as large.
        own = [np.sqrt(np.mean(tau**2, axis=0)) for tau in usual.tau]
        references = [np.maximum(size, _LEAST * forces) for size in own]
        targets = prediction_factor([base.observation(w) for w in of], references)
    criterion = Criterion(
        name,
        CriterionOptions(
            sigma=options.noise * forces,
            prior=_prior(mechanism, base, options.cad_error, W, np.concatenate(usual.tau))
            if options.prior
            else None,
            subset=subset,
            targets=targets,
            log=log,
        ),
    )
    if options.noise_of == "usual":
        return criterion
    # Without the usual forces as floor, a force near zero would look perfectly measured, and
    # designs would silence it.
    return RelativeNoise(criterion, options.noise, cad_values(base).values, forces)


def criteria_of_matrix(
    mechanism: Mechanism,
    base: BaseSet,
    W: Floats,
    known: Floats,
    options: ExciteOptions,
    usual: UsualMotions,
) -> dict[str, float]:
    """Return the criteria of W_b (N, n_i, b) and known forces (N, n_i).

    Condition numbers are without noise and prior, the others as the options say.
    """
    names = ("condition", "condition-equilibrated", "a", "d", "e", "prediction")
    return {
        name: criterion_of(mechanism, base, replace(options, criterion=name), usual)
        .look(W, known)
        .value
        for name in names
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
                f"{name} is not a base parameter: it is part of {held}",
                where=where,
                remedy="choose those, or other dependent parameters",
            )
        raise DataError(
            f"{name} has no effect on any force"
            if name in base.without_effect
            else f"there is no parameter {name}",
            where=where,
            remedy=f"choose one of: {', '.join(base.base)}",
        )
    return tuple(base.base.index(name) for name in dict.fromkeys(names)) or None


def _prior(
    mechanism: Mechanism, base: BaseSet, cad_error: float | None, W: Floats, tau: Floats
) -> Floats:
    """Return the covariance of the base parameters before the experiment, (b, b).

    Declared errors are often too small, and a design that counts on them shows little of what they
    declare as known. So standard deviations are at least the usual ones, except of what is known
    exactly. Coefficients of which the model says nothing are as wide as usual motions (W, τ) make
    them.
    """
    known = prior_from_cad(mechanism, base, cad_error=cad_error)
    covariance = known.covariance
    if cad_error is None:
        usual = prior_from_cad(mechanism, base, cad_error=USUAL_CAD_ERROR).covariance
        declared, least = np.sqrt(np.diag(covariance)), np.sqrt(np.diag(usual))
        wider = np.maximum(least / np.where(declared > 0, declared, np.inf), 1.0)
        known = replace(known, covariance=wider[:, None] * covariance * wider)
    covariance = widened(known, left_open(dynamic_model(mechanism)), W, tau).covariance
    return np.asarray(base.matrix @ covariance @ base.matrix.T)
