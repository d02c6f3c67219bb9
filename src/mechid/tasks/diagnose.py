"""Diagnosis of a run: what is wrong with its measured forces and its model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.estimation.estimate import Estimate, without_channel_errors
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.sensed import sensed
from mechid.mechanism.records import JointCoordinate, Mechanism
from mechid.runs.record import Run
from mechid.runs.verdict_trust import gross
from mechid.signals.filters import Decimation
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.friction import SHAPES, friction_shapes, friction_terms, shape_columns
from mechid.tasks.load_shapes import drives, rubbed
from mechid.tasks.regress import measured_rows
from mechid.tasks.stages import EstimationProblem
from mechid.validation.diagnosis import diagnose
from mechid.validation.diagnosis_linear import Candidate
from mechid.validation.diagnosis_motion import believed
from mechid.validation.diagnosis_record import Diagnosis
from mechid.validation.friction_columns import load_column

# What to do about differences between logs: each of them may be the wrong one.
_OF_LOG = {
    "offset": "check the zero of the sensor in all logs",
    "gain": "check scale and calibration in all logs, and the geometry of the model",
    "drift": "let the sensor warm up before such a log",
}
# What looks like friction of another kind: a delay moves reversals, a hum may come again at each.
_LIKE_FRICTION = ("delay", "hum")
_ADD = "try --friction auto, which adds what predicts held-out blocks better"
# Friction that grows with the load, where it cannot be added.
_NO_JOINT = (
    "--friction auto can add it to coordinates of joints that turn or slide, and to no other"
)
_GIVEN = "correct its coefficient in the model, or leave it out there and try --friction auto"


def diagnosed(run: Run, problem: EstimationProblem) -> Run:
    """Return a run with what is wrong with its measured forces and its model."""
    if run.estimate is None:
        return run
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
        friction=friction_candidates(run.estimate, mechanism, regression, logs),
        coordinates=[(c.name, c.unit) for c in mechanism.coordinates if not c.held],
        unseen=_unseen(run, [motion.name for motion in run.motions[len(logs) :]]),
    )
    words = friction_words(mechanism, run.estimate.parameters, found)
    run = replace(run, diagnosis=found, warnings=(*run.warnings, *words))
    others = zip(run.motions[len(logs) :], problem.others, strict=True)
    return replace(
        run, diagnosis=(*found, *(d for motion, r in others for d in unused(run, motion, r)))
    )


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
    model = replace(
        final,
        agreement=None,
        errors=None,
        resting=(),
        residuals=np.where(r.valid, r.target - r.W @ final.values, np.nan),
    )
    b = len(model.parameters)
    known = Prior(model.parameters, model.parameters, np.eye(b), model.values, model.covariance)
    found = diagnose(
        r,
        model,
        [motion],
        prior=known,
        speeds=own_speeds(run.mechanism, motion),
        friction=friction_candidates(model, run.mechanism, r, [motion]),
        source="the identified model",
    )
    return tuple(
        replace(
            d,
            motion=motion.name,
            text=f"on {motion.name} {d.text}",
            remedy=_OF_LOG.get(d.kind, d.remedy),
        )
        for d in found
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


def own_speeds(mechanism: Mechanism, motion: PreparedMeasurement) -> Floats:
    """Return the speed of the coordinate of each force, (N, n_d), as the parallel filter leaves
    it."""
    yd = motion.yd[:, measured_rows(mechanism, motion.forces)]
    return _filtered(motion, yd)


def friction_words(
    mechanism: Mechanism, parameters: Sequence[str], found: Sequence[Diagnosis]
) -> tuple[str, ...]:
    """Return a warning about parameters of friction that take up friction of another kind.

    Friction that turns over a distance after a reversal differs from Coulomb's only there: hardly
    anything of it is left in the residuals, and nothing in standard deviations.

    Parameters
    ----------
    mechanism : Mechanism
    parameters : sequence of str
        Those that were estimated.
    found : sequence of Diagnosis
        Of the identification.
    """
    misfit = [d.channel for d in found if d.kind == "friction"]
    if any(d.kind in _LIKE_FRICTION for d in found):
        return ()
    names = []
    for c in mechanism.coordinates:
        if isinstance(c, JointCoordinate) and {c.name, c.joint} & {*misfit}:
            terms = friction_terms(mechanism, (c.joint, c.index))
            names += [term.name for term in terms if term.name in parameters]
    if not names:
        return ()
    return (
        f"friction of {', '.join(dict.fromkeys(misfit))} is not what the model says (see the "
        f"diagnosis): {', '.join(names)} take up what they can of it, which their standard "
        "deviations do not contain",
    )


def friction_candidates(
    estimate: Estimate,
    mechanism: Mechanism,
    regression: Regression,
    logs: Sequence[PreparedMeasurement],
) -> list[Candidate]:
    """Return shapes of friction that the model does not have, as forces at all samples."""
    return [*_friction(mechanism, logs), *_loads(estimate, mechanism, regression, logs)]


def _friction(mechanism: Mechanism, logs: Sequence[PreparedMeasurement]) -> list[Candidate]:
    shapes = friction_shapes(mechanism, logs)
    if not shapes:
        return []
    columns = shape_columns(mechanism, logs, shapes)
    return [
        Candidate("friction", shape.joint, columns[..., k], "", shape.words, _ADD)
        for k, shape in enumerate(shapes)
        # A force that differs with the direction cannot be told from an offset.
        if shape.shape != "asymmetric"
    ]


def _loads(
    estimate: Estimate,
    mechanism: Mechanism,
    regression: Regression,
    logs: Sequence[PreparedMeasurement],
) -> Iterator[Candidate]:
    """Yield friction of actuated coordinates that grows with the load."""
    speeds = np.concatenate([own_speeds(mechanism, motion) for motion in logs])
    r = regression.select(estimate.parameters)
    forces = r.W @ estimate.values + r.known
    addable, given = drives(mechanism, r.channels).values(), rubbed(mechanism)
    for j, i in enumerate(measured_rows(mechanism, r.channels)):
        column = np.zeros_like(forces)
        column[:, j] = load_column(forces[:, j], speeds[:, j])
        c = mechanism.coordinates[i]
        remedy = _ADD if c.force in addable else _NO_JOINT
        if isinstance(c, JointCoordinate) and (c.joint, c.index) in given:
            remedy = _GIVEN
        yield Candidate("friction", c.name, column, "", SHAPES["load"], remedy)


def _filtered(motion: PreparedMeasurement, values: Floats) -> Floats:
    """Return values (N, …) at the samples of the regression."""
    return values if motion.decimation == 1 else Decimation(motion.decimation).apply(values)


def _unseen(run: Run, names: Sequence[str]) -> list[tuple[str, float, float]]:
    """Return the errors of CAD values and final model on motions that were not used."""
    model = "reduced" if run.reduction is not None else "estimate"
    error = {(row.motion, row.model): row.error for row in run.validation}
    return [
        (name, error[name, "cad"], error[name, model]) for name in names if (name, "cad") in error
    ]
