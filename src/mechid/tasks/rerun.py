"""Go on with a run that is there: reduce its model, validate it, predict with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mechid.base.choose import as_listed
from mechid.dynamics.compile import dynamic_model
from mechid.errors import DataError
from mechid.estimation.estimate import Prediction, predict
from mechid.runs.record import STAGES, About, MotionData, Run
from mechid.tables.motion import MotionTable
from mechid.tasks.assess import force_course, validation_rows
from mechid.tasks.identify import Options, base_of, judged, problem_of, reduced
from mechid.tasks.measured_constraints import NO_CONSTRAINTS, MeasuredConstraints, Weighing
from mechid.tasks.reduce import ReduceOptions
from mechid.tasks.regress import DeclaredNoise, regression_of
from mechid.validation.crossvalidate import Stop, Watch


def options_of_run(words: Mapping[str, Any]) -> Options:
    """Return the options of a run as they stand in its record."""
    noise, reduction = words["noise"], words["reduce"]
    return Options(
        words["estimator"],
        words["settings"],
        words["cad_error"],
        DeclaredNoise(noise["share"], noise["channels"]),
        None if reduction is None else ReduceOptions(**reduction),
        _constraints_of_run(words.get("measured")),
    )


def _constraints_of_run(words: Mapping[str, Any] | None) -> MeasuredConstraints:
    """Return the measured constraints of a run."""
    if words is None:
        return NO_CONSTRAINTS
    weighed = (Weighing(tuple(w["bodies"]), w["mass"], w["sigma"]) for w in words["weighed"])
    return MeasuredConstraints(tuple(weighed), words["symmetric"])


def reduce_run(
    run: Run,
    how: ReduceOptions,
    about: About,
    *,
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Run:
    """Return a run with its model reduced; a reduction that it has is replaced."""
    options = replace(options_of_run(run.about.options), reduce=how)
    model = dynamic_model(run.mechanism)
    chosen = base_of(run.mechanism, partial(as_listed, names=run.parameters.dependent))
    problem, notes = problem_of(model, chosen, run.motions, options)
    _ = run.final  # a run without an estimate is refused
    assert run.estimate is not None
    before = tuple(w for motion in run.motions for w in motion.warnings)
    fresh = replace(
        run,
        about=about,
        reduction=None,
        warnings=tuple(dict.fromkeys((*before, *notes, *run.estimate.warnings))),
        stages=STAGES,
    )
    return judged(reduced(fresh, problem, options, watch, stop), problem)


def validate_run(run: Run, motions: Sequence[MotionData]) -> Run:
    """Return a run with further motions, their forces and what its models are worth on them."""
    taken = {motion.name for motion in run.motions}
    if twice := [motion.name for motion in motions if motion.name in taken]:
        raise DataError(f"the run has a motion {twice[0]} already", remedy="give it another name")
    final = run.final
    model = dynamic_model(run.mechanism)
    regressions = {}
    for motion in motions:
        if motion.forces != final.channels:
            raise DataError(
                f"{', '.join(motion.forces)} were measured, and the model predicts "
                f"{', '.join(final.channels)}",
                where=motion.source,
                remedy="give a motion with the same measured forces",
            )
        regressions[motion.name] = regression_of(model, motion, run.parameters.names)
    courses = tuple(force_course(run, name, r) for name, r in regressions.items())
    return replace(
        run,
        motions=(*run.motions, *motions),
        courses=(*run.courses, *courses),
        validation=(*run.validation, *validation_rows(run, regressions)),
    )


def predict_run(run: Run, table: MotionTable, source: str) -> Prediction:
    """Return the forces that the model of a run predicts for a motion, with their deviations."""
    channels = run.final.channels
    nothing = np.zeros((len(table.time), len(channels)))
    motion = MotionData(
        "prediction", source, table.time, table.y, table.yd, table.ydd, channels, nothing
    )
    regression = regression_of(dynamic_model(run.mechanism), motion, run.parameters.names)
    return predict(run.final, regression)
