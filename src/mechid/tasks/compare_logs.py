"""Logs of one identification against each other: the natural validation of several logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import gammaincinv

from mechid.errors import DataError
from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.regression import joined
from mechid.estimation.sensed import sensed
from mechid.options import IdentifyOptions
from mechid.runs.record import ALL_LOGS, Run, ValidationRow
from mechid.tasks.assess import cad_row, error_row, has_cad
from mechid.tasks.estimators import estimator_of
from mechid.tasks.stages import EstimationProblem
from mechid.validation.logs import LogSpread, between_logs, without_each_log

# Estimates of single logs that differ by less, in standard deviations, are not worth a warning.
_DIFFER = 1.5
# Probability that differences of a complete model with white noise stay below the other limit.
_CERTAIN = 0.999


def compared(run: Run, problem: EstimationProblem, options: IdentifyOptions) -> Run:
    """Return a run with its logs compared: each predicted from the others, estimates of each.

    With a single log there is nothing to compare. If the data do not suffice without one of the
    logs, a warning says so.
    """
    if run.n_logs < 2:
        return run
    estimator = estimator_of(options.estimator, options.settings)
    try:
        alone, spread = between_logs(estimator, problem.regression, problem.prior)
        run = _warned(replace(run, spread=spread), *_far_apart(spread))
    except DataError as error:
        run = _warned(run, f"single logs do not suffice for estimates to compare: {error}")
        if run.n_logs == 2:
            return run
    try:
        without = (
            alone[::-1]  # without one of two logs is with the other
            if run.n_logs == 2
            else without_each_log(estimator, problem.regression, problem.prior)
        )
    except DataError as error:
        return _warned(run, f"a log cannot be predicted from the others, without {error}")
    rows = left_out_rows(run, problem, without)
    return _warned(replace(run, left_out=rows), *_worse_than_cad(rows))


def left_out_rows(
    run: Run, problem: EstimationProblem, without: Sequence[Estimate]
) -> tuple[ValidationRow, ...]:
    """Return the errors on each log of the model from the others, and of all logs together.

    Parameters
    ----------
    run : Run
    problem : EstimationProblem
    without : sequence of Estimate
        Identified without log 1, without log 2, …
    """
    # Each log as its sensors show it by what the others tell.
    shown = [sensed(r, e.errors) for e, r in zip(without, problem.logs, strict=True)]
    names = [*(m.name for m in run.logs), ALL_LOGS]
    forces = [predict(e, r).forces for e, r in zip(without, shown, strict=True)]
    predicted = [*forces, np.concatenate(forces)]
    pairs = zip((*problem.logs, problem.regression), (*shown, joined(shown)), strict=True)
    rows = []
    for k, (name, (own, r)) in enumerate(zip(names, pairs, strict=True)):
        if has_cad(run):
            rows.append(cad_row(name, run.parameters.cad, own, r))
        estimate = without[k] if k < len(without) else None
        size = len(without[0].parameters)
        rows.append(error_row(name, "estimate", size, predicted[k], r, estimate))
    return tuple(rows)


def _warned(run: Run, *words: str) -> Run:
    return replace(run, warnings=(*run.warnings, *words))


def _far_apart(spread: LogSpread) -> list[str]:
    """Warn if estimates from single logs differ by more than chance explains."""
    n = len(spread.determined)
    if not n or spread.rms < _DIFFER or spread.whitened**2 < 2.0 * gammaincinv(n / 2, _CERTAIN) / n:
        return []
    name, most = spread.largest or ("", 0.0)
    return [
        f"estimates from single logs differ by {spread.rms:.2g} standard deviations (root mean "
        f"square over {n} parameters; {name} by {most:.2g}): the standard deviations are too small "
        "by about that factor, because the model lacks something or the noise is correlated"
    ]


def _worse_than_cad(rows: Sequence[ValidationRow]) -> list[str]:
    """Name the logs that CAD values predict better than the model from the other logs does."""
    by = {(row.motion, row.model): row for row in rows}
    return [
        f"the CAD values predict {motion} better (error {cad.words}) than the model identified "
        f"from the other logs ({by[motion, 'estimate'].words})"
        for (motion, model), cad in by.items()
        if model == "cad" and motion != ALL_LOGS and cad.error < by[motion, "estimate"].error
    ]
