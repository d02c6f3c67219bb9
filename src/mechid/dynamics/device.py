"""Samples of the observation matrix on a GPU: one thread closes the loops and fills a row.

Every sample is reached from the home pose along a straight line (`kinematics.engine.reach`), as
those of `solve_motion(…, ordered=False)`. Where the code is not sure of a sample, it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.kernels import observe
from mechid.dynamics.load_friction import load_friction
from mechid.dynamics.observation_code import BRANCHING
from mechid.dynamics.regressor import Observation, observe_path
from mechid.dynamics.timed_loads import timed_loads
from mechid.errors import KinematicsError
from mechid.kinematics.engine.reach import Reach, record_reach
from mechid.kinematics.engine.reach_source import KERNEL, reach_source
from mechid.kinematics.engine.record import RecordedPose, numbers
from mechid.kinematics.motion import checked_prescription
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.tape.cuda import cuda, loaded
from mechid.tape.plain import plain_tables

# Threads of a block: each needs all the registers it can get, and a multiprocessor has no more.
THREADS = 256
# Numbers of results that are computed at a time, some gigabytes.
_MOST_NUMBERS = 2**28

# What is wanted of a sample: from its pose, W (n_i, p) and known (n_i,), all recorded numbers.
Wanted: TypeAlias = Callable[[RecordedPose, np.ndarray, np.ndarray], Sequence[Any] | np.ndarray]


def record_samples(model: DynamicModel, wanted: Wanted) -> Reach:
    """Record how samples of a model are reached, and what is wanted of them."""
    d = plain_tables(model.tables)

    def results(
        pose: RecordedPose, R: np.ndarray, v: np.ndarray, vd: np.ndarray
    ) -> Sequence[Any] | np.ndarray:
        n = R.shape[0]
        W, known = numbers(n, len(model.columns)), numbers(n)
        sight = pose.run(observe.make_sight, pose.t, d, n, pose.q)
        pose.run(observe.observe_sample, pose.t, d, pose.q, v, vd, R, pose.work, sight, W, known)
        return wanted(pose, W, known)

    return record_reach(model.kinematics, results, BRANCHING)


@dataclass(frozen=True)
class DeviceSamples:
    """Code on a GPU that fills the results of many samples."""

    device: str
    source: str
    n_results: int

    @staticmethod
    def of(model: DynamicModel, wanted: Wanted, device: str) -> DeviceSamples:
        """Return the code for what is wanted of a model.

        Raises
        ------
        RecordingError
            If the model cannot be recorded.
        """
        reach = record_samples(model, wanted)
        return DeviceSamples(device, reach_source(reach), reach.slots.out.size)

    def run(self, y: Any, yd: Any, ydd: Any) -> tuple[Any, Any]:
        """Return results (motions, n_results, N) and whether each is fine (motions, N).

        Parameters
        ----------
        y, yd, ydd : CuPy arrays (motions, n_i, N)
        """
        cp = cuda(self.device)
        motions, _, block = y.shape
        n = motions * block
        y, yd, ydd = (cp.ascontiguousarray(x, dtype=float) for x in (y, yd, ydd))
        out = cp.empty((motions, self.n_results, block))
        fine = cp.empty((motions, block), dtype=cp.uint8)
        kernel = loaded(self.source, self.device).get_function(KERNEL)
        given = (np.int64(n), np.int64(block), y, yd, ydd, out, fine)
        if n:
            kernel((-(-n // THREADS),), (THREADS,), given)
        return out, fine


def observe_samples(
    mechanism: Mechanism | DynamicModel,
    y: Floats,
    yd: Floats | None = None,
    ydd: Floats | None = None,
    *,
    time: Floats | None = None,
    device: str = "cuda:0",
) -> Observation:
    """Return W of unrelated samples, computed on a GPU.

    The same as `observe_path(…, ordered=False)` to rounding. Samples that the GPU is not sure of
    are done again by the processor.

    Parameters
    ----------
    mechanism : Mechanism or DynamicModel
    y, yd, ydd, time
        As for `observe_path`.
    device : str
        "cuda:0", or that of another GPU.

    Raises
    ------
    UnreachablePoseError, SingularPoseError
        With the sample, and the time if known.
    MechidError
        Without a GPU.
    """
    cp = cuda(device)
    model = mechanism if isinstance(mechanism, DynamicModel) else dynamic_model(mechanism)
    given = checked_prescription(model.kinematics, y, yd, ydd, time, None)
    rubbing = load_friction(model.mechanism)
    if rubbing is not None:
        seen = observe_samples(rubbing.model, y, yd, ydd, time=time, device=device)
        rubbing.apply(seen.W, seen.known, given.yd)
        return Observation(seen.W, seen.known, model.columns)
    timed = timed_loads(model.mechanism)
    own = model if timed is None else timed.model
    n, n_i = given.y.shape
    p = len(own.columns)
    code = DeviceSamples.of(own, lambda _, W, known: [*W.ravel(), *known], device)
    W, known, fine = np.empty((n, n_i, p)), np.empty((n, n_i)), np.empty(n, dtype=bool)
    size = max(1, _MOST_NUMBERS // max(code.n_results, 1))
    for first in range(0, n, size):
        part = slice(first, first + size)
        arrays = (cp.asarray(x[part].T[None]) for x in (given.y, given.yd, given.ydd))
        out, ok = (x[0] for x in code.run(*arrays))
        rows = cp.asnumpy(cp.ascontiguousarray(out.T))
        W[part], known[part] = rows[:, : n_i * p].reshape(-1, n_i, p), rows[:, n_i * p :]
        fine[part] = cp.asnumpy(ok) == 1
    rest = np.flatnonzero(~fine)
    if rest.size:
        inputs = (x[rest] for x in (given.y, given.yd, given.ydd))
        try:
            again = observe_path(own, *inputs, ordered=False)
        except KinematicsError:  # all of them, for an error that names the right sample
            return observe_path(model, y, yd, ydd, time=time, ordered=False)
        W[rest], known[rest] = again.W, again.known
    if timed is not None:
        W, known = timed.folded(W, known, given.time)
    return Observation(W, known, model.columns)
