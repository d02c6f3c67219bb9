"""Identify a mechanism: from measured motions and forces to a validated model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from mechid.base.analyse import Rule, base_parameters
from mechid.base.baseset import BaseSet
from mechid.base.cad import parameter_covariance
from mechid.base.choose import last
from mechid.base.expressions import latex, text
from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.errors import DataError, ModelError
from mechid.estimation.estimate import Estimate
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.mechanism.records import Mechanism
from mechid.reduction.contribution import Contribution, contribution
from mechid.runs.record import About, MotionData, ParameterTable, Run
from mechid.runs.truth import Truth
from mechid.tasks.assess import force_course, validation_rows
from mechid.tasks.complete import full_set
from mechid.tasks.data_warnings import too_few, unlike_cad
from mechid.tasks.estimators import DEFAULT, estimator_of, uses_cad
from mechid.tasks.identification_prior import cad_or_none
from mechid.tasks.measured_constraints import NO_CONSTRAINTS, MeasuredConstraints
from mechid.tasks.reduce import ReduceOptions, reduce_regression
from mechid.tasks.regress import (
    NO_NOISE,
    DeclaredNoise,
    declared,
    regression_of,
    with_instruments,
)
from mechid.validation.crossvalidate import Stop, Watch

Keep: TypeAlias = Callable[[str, Run], None]
_LONGEST = 400  # characters of an expression in symbols


@dataclass(frozen=True)
class Options:
    """How to identify.

    Attributes
    ----------
    estimator : str
        One of `mechid.estimation.registry.ESTIMATORS`.
    settings : mapping
        Of the estimator; see `estimator_of`.
    cad_error : float, optional
        Relative error of the CAD values, instead of the declared deviations.
    noise : DeclaredNoise
        What is known of the noise of the forces.
    reduce : ReduceOptions, optional
        Whether and how the model is reduced.
    measured : MeasuredConstraints
        What is known of the bodies besides their CAD values.
    """

    estimator: str = DEFAULT
    settings: Mapping[str, Any] = field(default_factory=dict)
    cad_error: float | None = None
    noise: DeclaredNoise = NO_NOISE
    reduce: ReduceOptions | None = None
    measured: MeasuredConstraints = NO_CONSTRAINTS


@dataclass(frozen=True, eq=False)
class Problem:
    """What an estimator takes: the linear problem, and what is known beforehand.

    Attributes
    ----------
    regression : Regression
        Of the identification motion.
    prior : Prior or None
    missing : ModelError or None
        Why there is no prior.
    others : tuple of Regression
        Of the motions for validation.
    """

    regression: Regression
    prior: Prior | None
    missing: ModelError | None
    others: tuple[Regression, ...]


def identify(
    mechanism: Mechanism,
    motions: Sequence[MotionData],
    options: Options = Options(),  # noqa: B008 - frozen
    *,
    rule: Rule = last,
    instruments: MotionData | None = None,
    truth: Truth | None = None,
    about: About = About(),  # noqa: B008 - frozen
    keep: Keep = lambda stage, run: None,
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Run:
    """Identify a mechanism from the first motion, and try the model on all of them.

    Parameters
    ----------
    mechanism : Mechanism
    motions : sequence of MotionData
        The identification motion, then those for validation.
    options : Options
    rule : callable
        Choice of the dependent parameters.
    instruments : MotionData, optional
        A second measurement of the identification motion, for instrumental variables.
    truth : Truth, optional
        Of synthetic data, for comparison; nothing depends on it.
    about : About
        Where all this comes from.
    keep : callable (stage, run)
        Told when a stage is complete; `RunFolder.keep` writes it.
    watch : callable (stage, step, value), optional
        Told how the reduction goes on.
    stop : callable, optional
        Asked whether to end the reduction with what is there.

    Raises
    ------
    DataError
        If the data do not suffice.
    """
    model = dynamic_model(mechanism)
    chosen = base_of(mechanism, rule)
    run = Run(about, mechanism, parameter_table(model, chosen, truth), tuple(motions))
    run = _kept(run, "data", keep)
    problem, notes = problem_of(model, chosen, motions, options, instruments)
    estimate, contributions = estimated(problem, options)
    run = replace(
        run,
        estimate=estimate,
        contribution=contributions,
        warnings=(*_preparation(motions), *notes, *estimate.warnings),
    )
    run = _kept(run, "estimate", keep)
    run = reduced(run, problem, options, watch, stop)
    run = _kept(run, "reduction", keep)
    return _kept(judged(run, problem), "validation", keep)


def problem_of(
    model: DynamicModel,
    chosen: BaseSet,
    motions: Sequence[MotionData],
    options: Options,
    instruments: MotionData | None = None,
) -> tuple[Problem, tuple[str, ...]]:
    """Return the linear problems of all motions with what is known, and warnings."""
    whole = regression_of(model, motions[0])
    regression = declared(whole.select(chosen.base), options.noise)
    if instruments is not None:
        regression = with_instruments(regression, regression_of(model, instruments, chosen.base))
    others = tuple(regression_of(model, motion, chosen.base) for motion in motions[1:])
    for r, motion in zip(others, motions[1:], strict=True):
        if r.channels != regression.channels:
            raise DataError(
                f"the forces {', '.join(r.channels)} were measured, and "
                f"{', '.join(regression.channels)} on the identification motion",
                where=motion.source,
                remedy="give motions with the same measured forces",
            )
    prior, notes, missing = cad_or_none(
        model.mechanism, chosen, whole, options.cad_error, options.measured
    )
    used = uses_cad(estimator_of(options.estimator, options.settings))
    data_warnings = too_few(regression)
    # Where a coefficient is not known, nothing is known of the size of the forces.
    if prior is not None and np.isfinite(cad_parameters(model)).all():
        data_warnings += unlike_cad(regression, prior)
    return Problem(regression, prior, missing, others), (*(notes if used else ()), *data_warnings)


def estimated(problem: Problem, options: Options) -> tuple[Estimate, Contribution | None]:
    """Return the estimate of all base parameters, and their contributions by CAD values."""
    estimator = estimator_of(options.estimator, options.settings)
    try:
        found = estimator(problem.regression, problem.prior)
    except DataError:
        if problem.missing is not None and uses_cad(estimator):
            raise problem.missing from None
        raise
    if problem.prior is None:
        return found, None
    motions = (problem.regression, *problem.others)
    return found, contribution(motions, problem.prior.mean)


def reduced(
    run: Run, problem: Problem, options: Options, watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Run:  # fmt: skip
    """Return a run with its model reduced, if that is asked for."""
    if options.reduce is None:
        return run
    found = reduce_regression(
        problem.regression,
        estimator_of(options.estimator, options.settings),
        problem.prior,
        options.reduce,
        whole=run.estimate,
        validation=problem.others,
        watch=watch,
        stop=stop,
    )
    early = () if found.complete else ("the reduction was stopped before all sizes were tried",)
    news = [w for w in found.estimate.warnings if w not in run.warnings]
    return replace(run, reduction=found, warnings=(*run.warnings, *news, *early))


def judged(run: Run, problem: Problem) -> Run:
    """Return a run with all parameters, and predicted forces and errors of all its motions."""
    names = [motion.name for motion in run.motions]
    regressions = dict(zip(names, (problem.regression, *problem.others), strict=True))
    courses = tuple(force_course(run, name, r) for name, r in regressions.items())
    rows = validation_rows(run, regressions)
    return replace(
        run,
        courses=courses,
        validation=rows,
        warnings=(*run.warnings, *_worse_than_cad(rows)),
        full=full_set(run, problem.prior),
    )


def _kept(run: Run, stage: str, keep: Keep) -> Run:
    run = replace(run, stages=(*run.stages, stage))
    keep(stage, run)
    return run


def base_of(mechanism: Mechanism, rule: Rule = last) -> BaseSet:
    """Return the base set of a mechanism that a rule chooses."""
    return base_parameters(mechanism, rule=rule).chosen


def parameter_table(
    model: DynamicModel, chosen: BaseSet, truth: Truth | None = None
) -> ParameterTable:
    """Return names, units, expressions, CAD values and true values of base parameters."""
    B = chosen.matrix
    columns = {c.name: c for c in model.columns}
    covariance = B @ parameter_covariance(model.mechanism) @ B.T
    # Expressions that would fill pages say more in decimals.
    words = {name: text(chosen, name) for name in chosen.base}
    short = {name: len(word) <= _LONGEST for name, word in words.items()}
    return ParameterTable(
        chosen.base,
        tuple(columns[name].unit for name in chosen.base),
        tuple(w if short[n] else text(chosen, n, symbols=False) for n, w in words.items()),
        tuple(latex(chosen, n, symbols=short[n]) for n in chosen.base),
        chosen.dependent,
        base_cad(model, B),
        np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        None if truth is None else B @ truth.of(tuple(columns)),
    )


def base_cad(model: DynamicModel, B: Floats) -> Floats:
    """Return the CAD values of base parameters B φ, (b,); not a number where one is missing."""
    phi = cad_parameters(model)
    known = np.isfinite(phi)
    values = B[:, known] @ phi[known]
    return np.where(np.any(B[:, ~known] != 0, axis=1), np.nan, values)


def _preparation(motions: Sequence[MotionData]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for motion in motions for word in motion.warnings))


def _worse_than_cad(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Say where the CAD values predict better than what was identified."""
    total = {(row["motion"], row["model"]): row["total"] for row in rows}
    final = rows[-1]["model"]
    return tuple(
        f"on {motion} the CAD values predict better (E_p {100 * cad:.3g} %) than the identified "
        f"model ({100 * total[motion, final]:.3g} %): do not use it for such motions"
        for (motion, model), cad in total.items()
        if model == "cad" and cad < total[motion, final]
    )
