"""Generated code for the observation matrix along a path."""

from __future__ import annotations

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.kernels import measures, observe
from mechid.kinematics.engine.path import PathCode
from mechid.kinematics.engine.record import RecordedPose, numbers
from mechid.kinematics.engine.stages import Stages, record_stages
from mechid.tape.number import NOT_RECORDED
from mechid.tape.plain import plain_tables

BRANCHING = (measures.law_value, measures.law_slope)


def record_observation(model: DynamicModel) -> Stages:
    """Record the stages of a path that leave W and `known` of every sample."""
    d = plain_tables(model.tables)

    def results(
        pose: RecordedPose, R: np.ndarray, v: np.ndarray, vd: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        n = R.shape[0]
        W, known = numbers(n, len(model.columns)), numbers(n)
        sight = pose.run(observe.make_sight, pose.t, d, n, pose.q)
        pose.run(observe.observe_sample, pose.t, d, pose.q, v, vd, R, pose.work, sight, W, known)
        return W, known

    return record_stages(model.kinematics, results, BRANCHING)


def observation_code(model: DynamicModel) -> PathCode | None:
    """Return code that leaves W and `known` of every sample, or None if it cannot be recorded."""
    try:
        return PathCode.compile(record_observation(model))
    except NOT_RECORDED:
        return None
