"""Diagnosis of a run: what is wrong with its measured forces and its model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.estimation.estimate import Estimate
from mechid.estimation.regression import Floats, Regression
from mechid.mechanism.records import Mechanism
from mechid.runs.record import Run
from mechid.signals.filters import Decimation
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.friction import friction_shapes, shape_columns
from mechid.tasks.regress import measured_rows
from mechid.tasks.stages import EstimationProblem
from mechid.validation.diagnosis import diagnose
from mechid.validation.diagnosis_linear import Candidate
from mechid.validation.friction_columns import hysteresis, load_friction

# Distances over which friction turns after a reversal, relative to the range of the coordinate.
_WIDTHS = (0.01, 0.05)
_ADD = "try --friction auto, which adds what predicts held-out blocks better"
_LIVE = "no force element has this: expect such errors where the joint turns back or is loaded"


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
        friction=[*_friction(mechanism, logs), *_paths(run.estimate, mechanism, regression, logs)],
        coordinates=[(c.name, c.unit) for c in mechanism.coordinates if not c.held],
        unseen=_unseen(run, len(logs)),
    )
    return replace(run, diagnosis=found)


def own_speeds(mechanism: Mechanism, motion: PreparedMeasurement) -> Floats:
    """Return the speed of the coordinate of each force, (N, n_d), as the parallel filter leaves
    it."""
    yd = motion.yd[:, measured_rows(mechanism, motion.forces)]
    return _filtered(motion, yd)


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


def _paths(
    estimate: Estimate,
    mechanism: Mechanism,
    regression: Regression,
    logs: Sequence[PreparedMeasurement],
) -> Iterator[Candidate]:
    """Yield friction of actuated coordinates that grows with the load or has hysteresis."""
    speeds = np.concatenate([own_speeds(mechanism, motion) for motion in logs])
    r = regression.select(estimate.parameters)
    forces = r.W @ estimate.values + r.known
    for j, i in enumerate(measured_rows(mechanism, r.channels)):
        name = mechanism.coordinates[i].name
        span = max(float(np.ptp(motion.y[:, i])) for motion in logs)
        shapes = {"friction that grows with the load": load_friction(forces[:, j], speeds[:, j])}
        for width in _WIDTHS if span > 0 else ():
            parts = [_filtered(motion, hysteresis(motion.y[:, i], width * span)) for motion in logs]
            words = f"hysteresis over {width * span:.2g} {mechanism.coordinates[i].unit}"
            shapes[words] = np.concatenate(parts)
        for words, values in shapes.items():
            column = np.zeros_like(forces)
            column[:, j] = values
            yield Candidate("friction", name, column, "", words, _LIVE)


def _filtered(motion: PreparedMeasurement, values: Floats) -> Floats:
    """Return values (N, …) at the samples of the regression."""
    return values if motion.decimation == 1 else Decimation(motion.decimation).apply(values)


def _unseen(run: Run, logs: int) -> list[tuple[str, float, float]]:
    """Return the errors of CAD values and final model on motions that were not used."""
    model = "reduced" if run.reduction is not None else "estimate"
    error = {(row.motion, row.model): row.error for row in run.validation}
    names = [motion.name for motion in run.motions[logs:]]
    return [
        (name, error[name, "cad"], error[name, model]) for name in names if (name, "cad") in error
    ]
