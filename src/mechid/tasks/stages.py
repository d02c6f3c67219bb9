"""The stages of an identification, each from records to records: problem, estimate, and so on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.errors import DataError, MechidError, ModelError
from mechid.estimation.completion import complete
from mechid.estimation.estimate import Estimate
from mechid.estimation.implausible import unlike_cad
from mechid.estimation.prior import Prior
from mechid.estimation.recover import recover
from mechid.estimation.regression import Floats, Regression, joined
from mechid.mechanism.plausible import impossible_bodies
from mechid.mechanism.records import Mechanism
from mechid.options import ExciteOptions, IdentifyOptions
from mechid.reduction.contribution import contribution
from mechid.runs.record import FullSet, ParameterTable, Run, ValidationRow
from mechid.runs.truth import Truth
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.assess import as_measured, force_history, validation_rows
from mechid.tasks.cad_prior import cad_covariance, left_open
from mechid.tasks.clipped import without_clipped, without_dead
from mechid.tasks.estimators import estimator_of, uses_cad
from mechid.tasks.identification_prior import cad_or_none
from mechid.tasks.reduction import reduce_regression
from mechid.tasks.regress import declared, regression_of, with_instruments
from mechid.validation.crossvalidate import Stop, Watch

if TYPE_CHECKING:
    from mechid.base.analyse import Rule
    from mechid.base.baseset import BaseSet


# Of the terms of a base parameter and of its standard deviation: a smaller difference is none.
_ROUNDING = 1e-9
_LISTED = 3  # base parameters in a warning


def full_set(run: Run, prior: Prior | None) -> FullSet | None:
    """Return bodies that can exist and have the base values of a run; None if there are none near.

    Among those with the same base values it is nearest to the CAD values. An estimate with the
    constraints of physics brings its own.
    """
    if prior is None:
        return None
    final, values = run.final, run.values()
    whole = set(final.parameters) == set(prior.base)
    phi, distance, border = final.full, 0.0, tuple[str, ...]()
    order = [final.parameters.index(name) for name in prior.base] if whole else []
    if phi is None or not whole:
        fit = final.covariance[np.ix_(order, order)] if whole else None
        try:
            found = recover(prior, values, fit)
        except MechidError:
            return None
        phi, distance, border = found.phi, found.distance, found.border
    B = prior.matrix
    spread = np.sqrt(np.maximum(np.diag(prior.base_covariance), 0.0))
    terms = np.abs(B) @ np.abs(phi) + np.abs(values) + spread
    misses = B @ phi - values
    off = np.abs(misses) / np.where(terms > 0, terms, 1.0)
    return FullSet(
        parameters=prior.parameters,
        values=phi,
        difference=float(off.max(initial=0.0)),
        distance=distance,
        border=border,
        missed={prior.base[i]: float(misses[i]) for i in np.flatnonzero(off > _ROUNDING)},
        covariance=_covariances(run, prior),
    )


def _covariances(run: Run, prior: Prior) -> dict[str, Floats]:
    """Return the covariance (10, 10) of each body: data, and CAD for what they do not determine.

    From the estimate of all base parameters: a reduced model ignores correlations of those that
    it leaves out. Where the data show that CAD values are worse than declared, so is the rest.
    """
    if run.estimate is None or set(run.estimate.parameters) != set(prior.base):
        return {}
    order = [run.estimate.parameters.index(name) for name in prior.base]
    agreement = run.estimate.agreement
    scale = 1.0 if agreement is None else max(1.0, agreement.scale)
    try:
        found = complete(prior, run.estimate.values[order])
        root = found.root(run.estimate.covariance[np.ix_(order, order)], scale)
    except MechidError:
        return {}
    parts = {name: root[first : first + 10] for name, first in prior.bodies}
    return {name: T @ T.T for name, T in parts.items()}


def missed_words(run: Run, full: FullSet | None) -> tuple[str, ...]:
    """Return a warning that names the base values which all parameters together do not have."""
    if full is None or not full.missed:
        return ()
    units = dict(zip(run.parameters.names, run.parameters.units, strict=True))
    sigma = dict(zip(run.final.parameters, run.final.sigma.tolist(), strict=True))

    def deviations(name: str) -> float:
        return abs(full.missed[name]) / sigma[name] if sigma.get(name) else np.inf

    worst = sorted(full.missed, key=deviations, reverse=True)
    listed = [
        f"{name} by {full.missed[name]:.2g} {units[name]}"
        + (f" ({deviations(name):.2g} standard deviations)" if sigma.get(name) else "")
        for name in worst[:_LISTED]
    ]
    return (
        "no physically consistent bodies have all identified base values; those of full.json "
        f"differ in {len(worst)} of {len(units)}: {', '.join(listed)}"
        + (", …" if len(worst) > _LISTED else ""),
    )


def too_few(regression: Regression) -> tuple[str, ...]:
    """Warn of fewer measured forces than parameters."""
    n, b = int(np.count_nonzero(regression.valid)), len(regression.parameters)
    if n >= b:
        return ()
    return (f"{n} measured values of forces are too few for {b} parameters; measure more samples",)


def wrong_order(regression: Regression, prior: Prior) -> tuple[str, ...]:
    """Warn of forces of another order than those of the CAD values: a unit may be wrong."""
    return tuple(
        f"the force {name} is {ratio:.2g} times what the CAD values predict: check its unit and "
        "scale, those of time and positions, and whether the model has the friction of its joint"
        for name, ratio in unlike_cad(regression, prior).items()
    )


_FIGURES = re.compile(r"[-+]?\d[\d.]*(e[-+]?\d+)?")


@dataclass(frozen=True, eq=False)
class EstimationProblem:
    """What an estimator takes: the linear problem, and the prior.

    Attributes
    ----------
    regression : Regression
        Of the identification motion, or of all logs.
    prior : Prior or None
    missing : ModelError or None
        Why there is no prior.
    others : tuple of Regression
        Of the motions for validation.
    warnings : tuple of str
        About data and prior.
    """

    regression: Regression
    prior: Prior | None
    missing: ModelError | None
    others: tuple[Regression, ...]
    warnings: tuple[str, ...]

    @property
    def logs(self) -> tuple[Regression, ...]:
        """The linear problem of each log."""
        r = self.regression
        return (r,) if r.log is None else tuple(r.of_log(k) for k in range(r.log[-1] + 1))


def base_of(mechanism: Mechanism, rule: Rule | None = None) -> BaseSet:
    """Return the base set of a mechanism that a rule chooses (balanced), from all transfers."""
    from mechid.base.analyse import base_parameters
    from mechid.base.exchange import balanced

    return base_parameters(mechanism, rule=rule or balanced).chosen


def chosen_base(mechanism: Mechanism, options: IdentifyOptions | ExciteOptions) -> BaseSet:
    """Return the base set that options ask for.

    Estimators without CAD values need one without dependencies that no transfer explains. With CAD
    values these decide, and a stiffness that cannot be told from a weight stays one.
    """
    from mechid.base.complete import complete_base
    from mechid.base.rules import rule_of

    rule = rule_of(mechanism, options.base, options.converge_on, options.seed)
    if isinstance(options, IdentifyOptions):
        estimator = estimator_of(options.estimator, options.settings)
        if not uses_cad(estimator):
            return complete_base(mechanism, rule)
    return base_of(mechanism, rule)


def problem_of(
    mechanism: Mechanism,
    chosen: BaseSet,
    motions: Sequence[PreparedMeasurement],
    options: IdentifyOptions,
    n_logs: int = 1,
    instruments: Sequence[PreparedMeasurement] = (),
) -> EstimationProblem:
    """Return the linear problems of all motions with what is known; the first are the logs."""
    model = dynamic_model(mechanism)
    for motion in motions[1:]:
        same_forces(motion, motions[0].forces)
    # Of the other columns only those count that a prior cannot be made without.
    open_ = [c.name for c, missing in zip(model.columns, left_open(model), strict=True) if missing]
    names = [c.name for c in model.columns if c.name in {*chosen.base, *open_}]
    logs = [regression_of(model, motion, names) for motion in motions[:n_logs]]
    prior, assumed, missing = cad_or_none(mechanism, chosen, joined(logs), options)
    logs = [r.select(chosen.base) for r in logs]
    others = [regression_of(model, motion, chosen.base) for motion in motions[n_logs:]]
    clipped: list[str] = []
    if prior is not None:
        numbers = [f" of log {k + 1}" if n_logs > 1 else "" for k in range(n_logs)]
        places = [*numbers, *(f" of {motion.name}" for motion in motions[n_logs:])]
        found = []
        for r, motion, place in zip((*logs, *others), motions, places, strict=True):
            alive, dead = without_dead(r, motion, prior, place)
            clean, words = without_clipped(alive, motion, r.W @ prior.mean + r.known, place)
            found.append(clean)
            clipped += [*dead, *words]
        logs, others = found[:n_logs], found[n_logs:]
    # What noise in percent means is told by the forces of each log.
    parts = [
        declared(r, options.noise, motion.force_sigma)
        for r, motion in zip(logs, motions, strict=False)
    ]
    second = [regression_of(model, motion, chosen.base) for motion in instruments]
    if second:
        parts = [with_instruments(r, s) for r, s in zip(parts, second, strict=True)]
    regression = joined(parts)
    used = uses_cad(estimator_of(options.estimator, options.settings))
    data_warnings = too_few(regression)
    if prior is not None:
        data_warnings += wrong_order(regression, prior)
    return EstimationProblem(
        regression=regression,
        prior=prior,
        missing=missing,
        others=tuple(others),
        warnings=(*(assumed if used else ()), *data_warnings, *clipped),
    )


def same_forces(motion: PreparedMeasurement, expected: Sequence[str]) -> None:
    """Reject a motion with other measured forces than those of the identification.

    Raises
    ------
    DataError
    """
    if motion.forces != tuple(expected):
        raise DataError(
            "the forces must be those of the identification motion, "
            f"{', '.join(expected)}, got {', '.join(motion.forces)}",
            where=motion.source or motion.name,
            remedy="give motions with the same measured forces",
        )


def with_estimate(run: Run, problem: EstimationProblem, estimate: Estimate) -> Run:
    """Return a run with the estimate of all base parameters, and their contributions by CAD."""
    shares = None
    if problem.prior is not None:
        shares = contribution((*problem.logs, *problem.others), problem.prior.mean)
    prepared = (word for motion in run.motions for word in motion.warnings)
    before = (*prepared, *impossible_bodies(run.mechanism), *problem.warnings, *estimate.warnings)
    warnings = tuple(dict.fromkeys((*before, *run.warnings)))
    return replace(run, estimate=estimate, contribution=shares, warnings=warnings)


def reduced(
    run: Run,
    problem: EstimationProblem,
    options: IdentifyOptions,
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Run:
    """Return a run with its model reduced, if requested."""
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
    return replace(
        run, reduction=found, warnings=(*run.warnings, *_news(run, found.estimate), *early)
    )


def _news(run: Run, small: Estimate) -> list[str]:
    """Return the warnings about a reduced model that were not given about the whole one.

    What differs in figures only is no news.
    """
    said = {_gist(word) for word in run.warnings}
    return [f"reduced model: {w}" for w in small.warnings if _gist(w) not in said]


def _gist(warning: str) -> str:
    return _FIGURES.sub("", warning.partition(": ")[0])


def validated(run: Run, problem: EstimationProblem) -> Run:
    """Return a run with all parameters, and predicted forces and errors of all its motions."""
    names = [motion.name for motion in run.motions]
    regressions = dict(zip(names, (*problem.logs, *problem.others), strict=True))
    rows = validation_rows(run, regressions)
    full = full_set(run, problem.prior)
    return replace(
        run,
        forces=tuple(
            force_history(run, name, as_measured(run, r)) for name, r in regressions.items()
        ),
        validation=rows,
        warnings=(*run.warnings, *_worse_than_cad(rows), *missed_words(run, full)),
        full=full,
    )


def parameter_table(
    mechanism: Mechanism,
    chosen: BaseSet,
    truth: Truth | None = None,
    cad_error: float | None = None,
) -> ParameterTable:
    """Return names, units, expressions, CAD values and true values of base parameters."""
    from mechid.base.expressions import readable

    model = dynamic_model(mechanism)
    B = chosen.matrix
    columns = {c.name: c for c in model.columns}
    covariance = B @ cad_covariance(mechanism, cad_error) @ B.T
    words = readable(chosen)
    return ParameterTable(
        names=chosen.base,
        units=tuple(columns[name].unit for name in chosen.base),
        text=tuple(text for text, _ in words.values()),
        latex=tuple(latex for _, latex in words.values()),
        dependent=chosen.dependent,
        cad=_base_cad(model, B),
        cad_sigma=np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        truth=None if truth is None else B @ truth.of(tuple(columns)),
    )


def _base_cad(model: DynamicModel, B: Floats) -> Floats:
    """Return the CAD values of base parameters B φ, (b,); NaN where one is missing."""
    phi = cad_parameters(model)
    known = np.isfinite(phi)
    values = B[:, known] @ phi[known]
    return np.where(np.any(B[:, ~known] != 0, axis=1), np.nan, values)


def _worse_than_cad(rows: Sequence[ValidationRow]) -> tuple[str, ...]:
    """Say where the CAD values predict better than what was identified."""
    by = {(row.motion, row.model): row for row in rows}
    final = rows[-1].model
    return tuple(
        f"on {motion} the CAD values predict better (error {cad.words}) than the identified "
        f"model ({by[motion, final].words}): do not use it for such motions"
        for (motion, model), cad in by.items()
        if model == "cad" and cad.error < by[motion, final].error
    )
