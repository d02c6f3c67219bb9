"""Generated code for the gradient of a sum over the observation matrix (see `adjoint.py`)."""

from __future__ import annotations

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.kernels import adjoint, observe
from mechid.dynamics.kernels.adjoint_links import make_pull
from mechid.dynamics.observation_code import BRANCHING
from mechid.kinematics.engine.batch import BatchCode
from mechid.kinematics.engine.record import RecordedKernels, RecordedPose, numbers
from mechid.tape.number import NOT_RECORDED
from mechid.tape.plain import plain_tables
from mechid.tape.program import Slots, Tape


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
