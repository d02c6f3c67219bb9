"""Identify a mechanism: from measured motions and forces to a validated model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from mechid.base.analyse import Rule
from mechid.base.baseset import BaseSet, base_set
from mechid.base.bounds import all_transfers
from mechid.base.cad import parameter_covariance
from mechid.base.choose import last
from mechid.base.experiment import EVERYTHING
from mechid.base.expressions import latex, text
from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.ols import OrdinaryLeastSquares
from mechid.exact.geometry import exact_geometry
from mechid.mechanism.records import Mechanism
from mechid.runs.record import About, ForceCourse, MotionData, ParameterTable, Run
from mechid.runs.truth import Truth
from mechid.tasks.regress import base_cad, regression_of

Keep: TypeAlias = Callable[[str, Run], None]
_LOOSE = 100.0  # percent: a deviation as large as the value itself


@dataclass(frozen=True)
class Options:
    """How to identify.

    Attributes
    ----------
    estimator : str
    seed : int
    """

    estimator: str = "ols"
    seed: int = 0


def identify(
    mechanism: Mechanism,
    motions: Sequence[MotionData],
    options: Options = Options(),  # noqa: B008 - frozen
    *,
    rule: Rule = last,
    truth: Truth | None = None,
    about: About = About(),  # noqa: B008 - frozen
    keep: Keep = lambda stage, run: None,
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
    truth : Truth, optional
        Of synthetic data, for comparison; nothing depends on it.
    about : About
        Where all this comes from.
    keep : callable (stage, run)
        Told when a stage is complete; `RunFolder.keep` writes it.

    Raises
    ------
    DataError
        If the data do not suffice.
    """
    model = dynamic_model(mechanism)
    chosen = base_of(mechanism, rule)
    run = Run(about, mechanism, parameter_table(model, chosen, truth), tuple(motions))
    run = _kept(run, "data", keep)
    regression = regression_of(model, motions[0], chosen.base)
    estimate = OrdinaryLeastSquares()(regression)
    run = replace(run, estimate=estimate, warnings=(*run.warnings, *warnings_of(estimate)))
    run = _kept(run, "estimate", keep)
    run = _kept(run, "reduction", keep)
    courses = tuple(force_course(model, run, motion) for motion in motions)
    return _kept(replace(run, courses=courses), "validation", keep)


def _kept(run: Run, stage: str, keep: Keep) -> Run:
    run = replace(run, stages=(*run.stages, stage))
    keep(stage, run)
    return run


def base_of(mechanism: Mechanism, rule: Rule = last) -> BaseSet:
    """Return the base set of a mechanism that a rule chooses."""
    null, _, _ = all_transfers(exact_geometry(mechanism), EVERYTHING)
    return base_set(null, rule(null))


def parameter_table(
    model: DynamicModel, chosen: BaseSet, truth: Truth | None = None
) -> ParameterTable:
    """Return names, units, expressions, CAD values and true values of base parameters."""
    B = chosen.matrix
    columns = {c.name: c for c in model.columns}
    covariance = B @ parameter_covariance(model.mechanism) @ B.T
    return ParameterTable(
        chosen.base,
        tuple(columns[name].unit for name in chosen.base),
        tuple(text(chosen, name) for name in chosen.base),
        tuple(latex(chosen, name) for name in chosen.base),
        chosen.dependent,
        base_cad(model, B),
        np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        None if truth is None else B @ truth.of(tuple(columns)),
    )


def force_course(model: DynamicModel, run: Run, motion: MotionData) -> ForceCourse:
    """Return measured and predicted forces of a motion, by the model of a run."""
    regression = regression_of(model, motion, run.parameters.names)
    found = predict(run.final, regression)
    cad = regression.W @ run.parameters.cad + regression.known
    return ForceCourse(
        motion.name,
        regression.time,
        regression.channels,
        np.where(regression.valid, regression.tau, np.nan),
        found.forces,
        found.sigma,
        found.total,
        cad,
    )


def warnings_of(estimate: Estimate) -> tuple[str, ...]:
    """Say in plain words what forbids to trust single values."""
    n = len(estimate.parameters)
    loose = int(np.count_nonzero(estimate.relative > _LOOSE))
    if not loose:
        return estimate.warnings
    return (
        *estimate.warnings,
        f"{loose} of {n} parameters have a relative deviation above {_LOOSE:.0f} %; do not use "
        "them singly; try --estimator map or --reduce",
    )
