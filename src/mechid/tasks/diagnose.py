"""Diagnosis of a run: what is wrong with its measured forces and its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.estimation.regression import Floats
from mechid.mechanism.records import Mechanism
from mechid.runs.record import Run
from mechid.signals.filters import Decimation
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.friction import friction_shapes, shape_columns
from mechid.tasks.regress import measured_rows
from mechid.tasks.stages import EstimationProblem
from mechid.validation.diagnosis import diagnose
from mechid.validation.diagnosis_linear import Candidate


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
        friction=_friction(mechanism, logs),
        coordinates=[(c.name, c.unit) for c in mechanism.coordinates if not c.held],
        unseen=_unseen(run, len(logs)),
    )
    return replace(run, diagnosis=found)


def own_speeds(mechanism: Mechanism, motion: PreparedMeasurement) -> Floats:
    """Return the speed of the coordinate of each force, (N, n_d), as the parallel filter leaves
    it."""
    yd = motion.yd[:, measured_rows(mechanism, motion.forces)]
    return yd if motion.decimation == 1 else Decimation(motion.decimation).apply(yd)


def _friction(mechanism: Mechanism, logs: Sequence[PreparedMeasurement]) -> list[Candidate]:
    shapes = friction_shapes(mechanism, logs)
    if not shapes:
        return []
    columns = shape_columns(mechanism, logs, shapes)
    return [
        Candidate("friction", shape.joint, columns[..., k], "", shape.words)
        for k, shape in enumerate(shapes)
        # A force that differs with the direction cannot be told from an offset.
        if shape.shape != "asymmetric"
    ]


def _unseen(run: Run, logs: int) -> list[tuple[str, float, float]]:
    """Return the errors of CAD values and final model on motions that were not used."""
    model = "reduced" if run.reduction is not None else "estimate"
    total = {(row.motion, row.model): row.total for row in run.validation}
    names = [motion.name for motion in run.motions[logs:]]
    return [
        (name, total[name, "cad"], total[name, model]) for name in names if (name, "cad") in total
    ]
