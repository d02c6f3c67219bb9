"""Diagnosis of a run: what is wrong with its measured forces and its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mechid.errors import DataError
from mechid.estimation.estimate import without_channel_errors
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.estimation.sensed import sensed
from mechid.runs.record import Run
from mechid.runs.verdict_trust import gross
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.stages import EstimationProblem
from mechid.tasks.standstill import own_speeds
from mechid.validation.diagnosis import diagnose, gross_mistakes
from mechid.validation.diagnosis_motion import believed
from mechid.validation.diagnosis_record import Diagnosis

# What to do about samples near standstill if those of some speed were left out already.
_SLOWER = "leave these samples out: ignore_below in the mapping file"
# What to do about differences between logs: each of them may be the wrong one.
_OF_LOG = {
    "offset": "check the zero of the sensor in all logs",
    "gain": "check scale and calibration in all logs, and the geometry of the model",
    "drift": "let the sensor warm up before such a log",
    "delay": "check the clocks of all logs",
    # Of a motion that was not used all samples count.
    "outliers": "leave these samples empty in that log",
    "standstill": "identify with a log that has such phases",
}
_MODEL = "the identified model"


def examined(run: Run, problem: EstimationProblem) -> Run:
    """Return a run with what is wrong with the forces of its logs and with its model there."""
    if run.estimate is None or run.diagnosis:
        return run
    found = diagnose(
        problem.regression,
        run.estimate,
        run.logs,
        added=run.added,
        speeds=np.concatenate([own_speeds(run.mechanism, motion) for motion in run.logs]),
        coordinates=[(c.name, c.unit) for c in run.mechanism.coordinates if not c.held],
    )
    return replace(run, diagnosis=tuple(_untried(d, run) for d in found))


def diagnosed(run: Run, problem: EstimationProblem) -> Run:
    """Return a run whose diagnosis also tells what motions say that were not used."""
    if run.estimate is None:
        return run
    first = run.n_logs
    names = [motion.name for motion in run.motions[first:]]
    cad = believed(run.estimate, _unseen(run, names))
    others = zip(run.motions[first:], problem.others, strict=True)
    found = (d for motion, r in others for d in unused(run, motion, r))
    return replace(run, diagnosis=(*run.diagnosis, *cad, *found))


def unused(run: Run, motion: PreparedMeasurement, regression: Regression) -> tuple[Diagnosis, ...]:
    """Return what is wrong with a motion that was not used, or with the model there.

    What is known before is the model of the run with its covariance: parameters cannot imitate
    errors of this motion as they can those of the identification.

    Parameters
    ----------
    run : Run
        With an estimate.
    motion : PreparedMeasurement
    regression : Regression
        Of the motion, with the parameters of the run.
    """
    if gross(run):
        return ()  # the model is meaningless
    final = run.final
    r = sensed(regression, None if run.estimate is None else run.estimate.errors)
    r = without_channel_errors(final, r, identification=False).select(final.parameters)
    names, same = final.parameters, np.eye(len(final.parameters))
    covariance = final.covariance
    if final.doubted is not None:  # of this machine, whose forces do not have it
        covariance = covariance - final.doubted @ final.doubted.T
    prior = Prior(names, names, same, final.values, covariance, estimated=True)
    found = gross_mistakes(r, prior, _MODEL)
    if not found:
        try:
            estimate = JointPosterior()(r, prior)
        except DataError:
            return ()  # too few samples to tell
        # The model of the run leaves more than one that adapts to this motion.
        model = replace(
            final,
            errors=None,
            resting=(),
            found=estimate.found,
            residuals=np.where(r.valid, r.target - r.W @ final.values, np.nan),
        )
        found = diagnose(r, model, [motion], speeds=own_speeds(run.mechanism, motion))
    return tuple(
        replace(
            d,
            motion=motion.name,
            text=f"on {motion.name} {d.text}",
            remedy=_OF_LOG.get(d.kind, d.remedy),
        )
        for d in found
    )


def _untried(found: Diagnosis, run: Run) -> Diagnosis:
    """Return a finding that does not advise what was done."""
    if found.kind == "standstill" and run.about.options.standstill != "keep":
        return replace(found, remedy=_SLOWER)
    return found


def renewed(run: Run, motions: Mapping[str, Regression]) -> Run:
    """Return a run with the diagnosis of motions that were added to it."""
    by_name = {motion.name: motion for motion in run.motions}
    for name, regression in motions.items():
        # Whether CAD values and data disagree is said once.
        said = any(d.kind == "cad" for d in run.diagnosis)
        model = replace(run.final, agreement=None) if said else run.final
        cad = [replace(d, motion=name) for d in believed(model, _unseen(run, [name]))]
        found = (*run.diagnosis, *cad, *unused(run, by_name[name], regression))
        run = replace(run, diagnosis=found)
    return run


def _unseen(run: Run, names: Sequence[str]) -> list[tuple[str, float, float]]:
    """Return the errors of CAD values and final model on motions that were not used."""
    model = "reduced" if run.reduction is not None else "estimate"
    error = {(row.motion, row.model): row.error for row in run.validation}
    return [
        (name, error[name, "cad"], error[name, model]) for name in names if (name, "cad") in error
    ]
