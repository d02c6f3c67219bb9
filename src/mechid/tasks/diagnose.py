"""Diagnosis of a run: what is wrong with its measured forces and its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.estimation.doubtful_forces import if_in_place
from mechid.estimation.doubtful_gains import if_calibrated
from mechid.estimation.doubtful_offsets import if_zeroed
from mechid.estimation.estimate import without_channel_errors
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.sensed import sensed
from mechid.runs.record import Run
from mechid.runs.verdict_trust import gross
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.advice import friction_tried
from mechid.tasks.doubtful_elasticity import doubtful_elasticity, elastic_candidate
from mechid.tasks.doubtful_friction import (
    ADD,
    ADD_ROTOR,
    doubtful_friction,
    doubtful_rotors,
    friction_candidates,
    friction_words,
    own_speeds,
)
from mechid.tasks.estimators import estimator_of, uses_cad
from mechid.tasks.stages import EstimationProblem
from mechid.validation.diagnosis import diagnose
from mechid.validation.diagnosis_motion import believed
from mechid.validation.diagnosis_record import Diagnosis

# What to do about friction if shapes of it were tried.
_ADDED = "describe it in the model: no shape that was tried predicts held-out blocks better"
_NO_ROTOR = "give the joint a rotor in the model: with it held-out blocks are predicted no better"
# What to do about samples near standstill if those of some speed were left out already.
_SLOWER = "leave these samples out: ignore_below in the mapping file"
# What to do about differences between logs: each of them may be the wrong one.
_OF_LOG = {
    "offset": "check the zero of the sensor in all logs",
    "gain": "check scale and calibration in all logs, and the geometry of the model",
    "drift": "let the sensor warm up before such a log",
    # Of a motion that was not used all samples count.
    "outliers": "leave these samples empty in that log",
    "standstill": "identify with a log that has such phases, or with other friction",
}


def examined(run: Run, problem: EstimationProblem) -> tuple[Run, EstimationProblem]:
    """Return a run with what is wrong with the forces of its logs and with its model there, and the
    problem with friction and elasticity that the model lacks as doubts."""
    if run.estimate is None:
        return run, problem
    mechanism, regression = run.mechanism, problem.regression
    logs = run.motions[: int(regression.logs.max(initial=0)) + 1]
    # Forces of CAD values that are not all known say nothing about units and signs.
    known = np.isfinite(cad_parameters(dynamic_model(mechanism))).all()
    found = diagnose(
        regression,
        run.estimate,
        logs,
        prior=problem.prior if known else None,
        speeds=np.concatenate([own_speeds(mechanism, motion) for motion in logs]),
        lacking=[
            *friction_candidates(run.estimate, mechanism, regression, logs),
            *elastic_candidate(run.estimate, mechanism, logs),
        ],
        coordinates=[(c.name, c.unit) for c in mechanism.coordinates if not c.held],
    )
    options = run.about.options
    informed = problem.prior is not None and uses_cad(
        estimator_of(options.estimator, options.settings)
    )
    words = friction_words(mechanism, run.estimate.parameters, found.friction, contained=informed)
    diagnosis = tuple(_untried(d, run) for d in found.found)
    run = replace(run, diagnosis=diagnosis, warnings=(*run.warnings, *words))
    for doubts in (
        doubtful_friction(found.friction),
        doubtful_rotors(found.rotors),
        doubtful_elasticity(found.elasticity),
    ):
        if informed and doubts is not None:
            problem = problem.doubting(doubts)
    return run, problem


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
    errors of this motion as they can those of the identification. That the identification may have
    had an offset, or a gain error, is no reason not to name one: then it is there instead.

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
    model = replace(
        if_calibrated(if_in_place(final)),
        agreement=None,
        errors=None,
        resting=(),
        residuals=np.where(r.valid, r.target - r.W @ final.values, np.nan),
    )
    lacking = friction_candidates(model, run.mechanism, r, [motion])
    speeds = own_speeds(run.mechanism, motion)

    def findings(covariance: Floats) -> tuple[Diagnosis, ...]:
        names, same = model.parameters, np.eye(len(model.parameters))
        return diagnose(
            r,
            model,
            [motion],
            prior=Prior(names, names, same, model.values, covariance),
            speeds=speeds,
            lacking=lacking,
            source="the identified model",
        ).found

    found = findings(model.covariance)
    if model.doubted_offsets is not None:
        named = {d.channel for d in found if d.kind == "offset"}
        other = findings(if_zeroed(model))
        found += tuple(d for d in other if d.kind == "offset" and d.channel not in named)
    return tuple(
        replace(
            d,
            motion=motion.name,
            text=f"on {motion.name} {_against(d)}",
            remedy=_of_log(d, run),
        )
        for d in found
    )


def _untried(found: Diagnosis, run: Run) -> Diagnosis:
    """Return a finding that does not advise what was done."""
    options = run.about.options
    if found.remedy in (ADD, ADD_ROTOR) and friction_tried(options):
        return replace(found, remedy=_ADDED if found.remedy == ADD else _NO_ROTOR)
    if found.kind == "standstill" and options.standstill != "keep":
        return replace(found, remedy=_SLOWER)
    return found


def _of_log(found: Diagnosis, run: Run) -> str:
    """Return what to do about a finding in a motion that was not used."""
    remedy = _untried(found, run).remedy if found.kind not in _OF_LOG else _OF_LOG[found.kind]
    add = found.kind == "standstill" and not friction_tried(run.about.options)
    return f"{remedy} (--friction auto)" if add else remedy


def _against(found: Diagnosis) -> str:
    """Return the text of a finding; an offset is one against the identification, which may be the
    log that has it."""
    if found.kind != "offset":
        return found.text
    return found.text.replace(
        "has a constant offset of", "differs from the identification by a constant", 1
    )


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
