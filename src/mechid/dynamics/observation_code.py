"""Generated code for the observation matrix along a path."""

from __future__ import annotations

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.kernels import adjoint, measures, observe
from mechid.dynamics.kernels.adjoint_links import make_pull
from mechid.kinematics.engine.batch import BatchCode
from mechid.kinematics.engine.path import PathCode
from mechid.kinematics.engine.record import RecordedKernels, RecordedPose, largest, numbers
from mechid.kinematics.engine.stages import Placed, Results, Stages, record_stages
from mechid.tape.lanes_math import LARGEST_ANGLE
from mechid.tape.number import NOT_RECORDED, select
from mechid.tape.plain import plain_tables
from mechid.tape.program import Slots, Tape

BRANCHING = (measures.law_value, measures.law_slope)


def record_observation(model: DynamicModel) -> Stages:
    """Record the stages of a path that leave W and `known` of every sample."""
    return record_stages(model.kinematics, _observed(model), BRANCHING)


def _observed(model: DynamicModel) -> Results:
    """Return how W and `known` of a sample are recorded."""
    d = plain_tables(model.tables)

    def results(
        pose: RecordedPose, R: np.ndarray, v: np.ndarray, vd: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        n = R.shape[0]
        W, known = numbers(n, len(model.columns)), numbers(n)
        sight = pose.run(observe.make_sight, pose.t, d, n, pose.q)
        pose.run(observe.observe_sample, pose.t, d, pose.q, v, vd, R, pose.work, sight, W, known)
        return W, known

    return results


def observation_code(model: DynamicModel) -> PathCode | None:
    """Return code that leaves W and `known` of every sample, or None if it cannot be recorded."""
    try:
        return PathCode.compile(record_observation(model))
    except NOT_RECORDED:
        return None


def state_code(model: DynamicModel, lanes: int | None = None) -> BatchCode | None:
    """Return code from q, v, v̇ of closed poses to W, `known` and the ratio of pivots.

    None where the kernels cannot be recorded.
    """
    try:
        return _recorded_state(model, lanes)
    except NOT_RECORDED:
        return None


def _recorded_state(model: DynamicModel, lanes: int | None) -> BatchCode:
    k, tape, slots = model.kinematics, Tape(), Slots()
    given = [slots.take(n) for n in (k.compiled.n_q, k.compiled.n_v, k.compiled.n_v)]
    lively = np.random.default_rng(0).uniform(0.5, 1.5, (2, k.compiled.n_v))  # none is special
    q, v, vd = (tape.input(s, x) for s, x in zip(given, (k.home_q, *lively), strict=True))
    pose = RecordedPose.closed(k, RecordedKernels(tape.recorder, BRANCHING), q)
    # beyond this angle its sine is a matter for the kernels
    ratio = select(largest(q, [1.0] * q.size) <= LARGEST_ANGLE, pose.ratio, 0.0)
    found = (*_observed(model)(pose, pose.admissible(), v, vd), np.array([ratio], object))
    placed = [Placed.of(x, slots) for x in found]
    for where, values in zip(placed, found, strict=True):
        tape.output(where.slots, values)
    return BatchCode.compile(
        tape.program(),
        slots.count,
        given,
        [x.slots for x in placed],
        lanes,
        fixed=[x.constants for x in placed],
    )


def gradient_code(model: DynamicModel, lanes: int | None = None) -> BatchCode | None:
    """Return code from q, v, v̇, ẏ, G, g to the gradients by y, ẏ, ÿ and the ratio of pivots.

    None where the kernels cannot be recorded.
    """
    try:
        return _recorded(model, lanes)
    except NOT_RECORDED:
        return None


def _recorded(model: DynamicModel, lanes: int | None) -> BatchCode:
    k, d = model.kinematics, plain_tables(model.tables)
    n, n_v, p = k.n_independent, k.compiled.n_v, len(model.columns)
    slots, tape = Slots(), Tape()
    shapes = ((k.compiled.n_q,), (n_v,), (n_v,), (n,), (n, p), (n,))
    given = [slots.take(*shape) for shape in shapes]
    q, v, vd, yd, G, g = (
        tape.input(s, k.home_q if i == 0 else np.ones(s.shape)) for i, s in enumerate(given)
    )
    run = RecordedKernels(tape.recorder, BRANCHING)
    pose = RecordedPose.closed(k, run, q)
    R = pose.admissible()
    sight = run(observe.make_sight, pose.t, d, n, q)
    pull = run(make_pull, pose.t, d, n)
    pull = type(pull)(*(x.astype(object) for x in pull))
    found = [numbers(n) for _ in range(3)]
    run(
        adjoint.adjoint_sample,
        pose.t, pose.order, d, q, v, vd, yd, R, G, g, pose.work, sight, pull, *found,
    )  # fmt: skip
    wanted = [slots.take(n) for _ in range(3)]
    for where, values in zip(wanted, found, strict=True):
        tape.output(where, values)
    ratio = slots.take(1)
    tape.output(ratio, [pose.ratio])
    return BatchCode.compile(tape.program(), slots.count, given, [*wanted, ratio], lanes)
