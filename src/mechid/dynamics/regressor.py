"""The observation matrix W of a motion: W φ + known = τ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from mechid.dynamics.columns import Column
from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.hysteresis import Memory, Remembered, is_path, remembered
from mechid.dynamics.kernels.observe import observe_batch, observe_chunks
from mechid.dynamics.load_friction import load_friction
from mechid.dynamics.timed_loads import TimedLoads, timed_loads
from mechid.errors import DataError, MechidError
from mechid.kinematics.engine.choice import chosen, engine, wanted
from mechid.kinematics.engine.path import PathCode
from mechid.kinematics.engine.stages import PIVOT_RATIO
from mechid.kinematics.frames import Values
from mechid.kinematics.kernels.closure import SINGULAR_RATIO
from mechid.kinematics.kernels.held import Held
from mechid.kinematics.memory import empty
from mechid.kinematics.motion import (
    Motion,
    PrescribedMotion,
    checked_motion,
    checked_prescription,
    perform,
)
from mechid.kinematics.samples import Samples, time_steps
from mechid.kinematics.tables import Floats, Ints
from mechid.kinematics.threads import spread
from mechid.mechanism.records import Mechanism
from mechid.shown import Tabular

# Samples that are worth a thread: about a millisecond.
_SHORTEST_PART = 128


@dataclass(frozen=True, repr=False)
class Observation(Tabular):
    """Observation matrix of a motion.

    Attributes
    ----------
    W : array (N, n_i, p)
        Rows keep sample and independent coordinate; `W.reshape(-1, p)` stacks them.
    known : array (N, n_i)
        What known coefficients and loads contribute: W φ + known = τ.
    columns : tuple of Column
        Names, units and CAD values of the p parameters.
    """

    W: Floats
    known: Floats
    columns: tuple[Column, ...]


def observation_matrix(
    motion: Motion, model: DynamicModel | None = None, *, out: Observation | None = None
) -> Observation:
    """Return W for all samples of a solved motion.

    Parameters
    ----------
    motion : Motion
        N solved samples.
    model : DynamicModel, optional
        Of the same mechanism; compiled if it is not given.
    out : Observation, optional
        Of as many samples of the same mechanism: its arrays are overwritten and returned. Where W
        is computed again and again, this saves asking the system for memory every time.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> motion = mechid.tour(mechid.load("pendulum"))
    >>> seen = mechid.observation_matrix(motion)
    >>> phi = [column.value for column in seen.columns]  # CAD values
    >>> np.allclose(seen.W @ phi + seen.known, mechid.inverse_dynamics(motion).tau)
    True
    >>> mechid.observation_matrix(motion, out=seen).W is seen.W
    True
    """
    motion = checked_motion(motion)
    d = dynamic_model(motion.model.mechanism) if model is None else model
    inputs = (motion.y, motion.q, motion.v, motion.vd)
    seen = _memory(d, motion.y.shape, out, inputs)
    rubbing = load_friction(d.mechanism)
    if rubbing is not None:
        observation_matrix(motion, rubbing.model, out=seen)
        rubbing.apply(seen.W, seen.known, motion.yd)
        return seen
    past = remembered(d.mechanism) if is_path(motion) else None
    if past is not None:
        h, _ = past.along(past.path(motion))
        return _turned(past, observation_matrix(motion, past.model), h, seen)
    timed = timed_loads(d.mechanism)
    if timed is not None:
        return _folded(timed, observation_matrix(motion, timed.model), motion.time, seen)
    fill_observation(d, inputs[1:], seen.W, seen.known)
    _refuse_overflow(d, seen.W, seen.known)
    return seen


def _memory(
    model: DynamicModel,
    shape: tuple[int, ...],
    out: Observation | None,
    inputs: Iterable[Floats | None],
) -> Observation:
    """Return arrays for W and known of samples y (N, n_i), their numbers undefined: those of `out`.

    Raises
    ------
    DataError
        If they do not fit.
    """
    shapes = {"W": (*shape, len(model.columns)), "known": shape}
    if out is None:
        return Observation(empty(shapes["W"]), empty(shapes["known"]), model.columns)
    if not isinstance(out, Observation):
        raise DataError(
            f"out must be an Observation, got {type(out).__name__}",
            remedy="give the result of an earlier call, or leave it out",
        )
    for name, expected in shapes.items():
        array = getattr(out, name)
        fault = _fault(array, expected)
        if not fault and any(np.may_share_memory(array, x) for x in inputs if x is not None):
            fault = "must not share memory with the motion"
        if fault:
            raise DataError(
                f"{name} of out {fault}",
                where=model.mechanism.name,
                remedy="give the result of an earlier call with as many samples, or leave it out",
            )
    if np.may_share_memory(out.W, out.known):
        raise DataError(
            "W and known of out must not share memory",
            where=model.mechanism.name,
            remedy="give the result of an earlier call",
        )
    return Observation(out.W, out.known, model.columns)


def _fault(array: object, shape: tuple[int, ...]) -> str:
    """Return why an array cannot be filled, or nothing."""
    if not isinstance(array, np.ndarray):
        return f"must be an array, got {type(array).__name__}"
    if array.shape != shape:
        return f"must have shape {shape}, got {array.shape}"
    if array.dtype != np.float64 or not array.dtype.isnative:
        return f"must hold numbers of type float64, got {array.dtype}"
    if not array.flags.c_contiguous or not array.flags.aligned:
        return "must be contiguous in memory"
    return "" if array.flags.writeable else "must be writeable"


def _folded(
    timed: TimedLoads, whole: Observation, time: Floats | None, out: Observation
) -> Observation:
    """Fill `out` with what is seen of a model with columns for loads over time, without these."""
    out.W[...], out.known[...] = timed.folded(whole.W, whole.known, time)
    return out


def _turned(past: Remembered, whole: Observation, h: Floats, out: Observation) -> Observation:
    """Fill `out` with what is seen of a model with plain forces in place of hysteresis."""
    out.W[...], out.known[...] = past.folded(whole.W, whole.known, h)
    return out


def _refuse_overflow(model: DynamicModel, W: Floats, known: Floats) -> None:
    """Raise where a law of a force element left the range of numbers."""
    first = 10 * len(model.mechanism.bodies)
    finite = np.asarray(np.isfinite(W[..., first:]).all(axis=(0, 1)))
    if finite.all() and np.isfinite(known).all():
        return
    names = [c.name for c, fine in zip(model.columns[first:], finite, strict=True) if not fine]
    raise MechidError(
        f"the force of {', '.join(names) or 'a known element'} is not a finite number",
        where=model.mechanism.name,
        remedy="check the numbers of its law, or give a motion within its range",
    )


def observation_blocks(motion: Motion, size: int = 4096) -> Iterator[tuple[slice, Observation]]:
    """Yield W in blocks of samples, for motions whose whole W would not fit in memory."""
    yield from _blocks_of(dynamic_model(motion.model.mechanism), motion, size)


def _blocks_of(d: DynamicModel, motion: Motion, size: int) -> Iterator[tuple[slice, Observation]]:
    rubbing = load_friction(d.mechanism)
    if rubbing is not None:
        for part, seen in _blocks_of(rubbing.model, motion, size):
            rubbing.apply(seen.W, seen.known, motion.yd[part])
            yield part, seen
        return
    past = remembered(d.mechanism) if is_path(motion) else None
    h = None if past is None else past.along(past.path(motion))[0]
    for first in range(0, motion.y.shape[0], size):
        part = slice(first, min(first + size, motion.y.shape[0]))
        if past is None or h is None:
            yield part, observation_matrix(motion.part(part), d)
            continue
        block = motion.part(part)
        seen = _memory(d, block.y.shape, None, ())
        yield part, _turned(past, observation_matrix(block, past.model), h[part], seen)


def fill_observation(
    model: DynamicModel, motion: tuple[Values, Values, Values], W: Values, known: Values
) -> None:
    """Fill W and known for closed poses: q, v, v̇ of N samples.

    Where the order of solution is weak, all rows together: as when the motion was solved.
    """
    k, d = model.kinematics, model.tables
    n = W.shape[0]
    if not n:
        return
    ratio = np.ones(n)

    def run(first: int, last: int) -> None:
        observe_batch(k.tables, k.order, d, first, last, *motion, W, known, ratio)

    code = model.state_code if wanted(n) and W.dtype == float else None
    if code is None:
        spread(run, n, _SHORTEST_PART)
    else:
        code.run(motion, (W, known, ratio))
        for s in np.flatnonzero(~(ratio > PIVOT_RATIO)).tolist():  # pivots of the code do not fit
            run(s, s + 1)
    for s in np.flatnonzero(~(ratio > SINGULAR_RATIO)).tolist():
        observe_batch(k.tables, k.one_piece, d, s, s + 1, *motion, W, known, ratio)


def observe_path(
    mechanism: Mechanism | DynamicModel,
    y: Floats,
    yd: Floats | None = None,
    ydd: Floats | None = None,
    *,
    time: Floats | None = None,
    ordered: bool = True,
    start: Floats | None = None,
    out: Observation | None = None,
) -> Observation:
    """Return W straight from independent coordinates, with the parameters of `solve_motion`.

    The same as `observation_matrix(solve_motion(…))` in one pass: what the closure has placed and
    factored is not computed again, and the motion is not kept. `out` is that of
    `observation_matrix`; after an error its numbers are undefined.

    Raises
    ------
    UnreachablePoseError, SingularPoseError, BranchJumpError
        With the sample, and the time if known.
    DataError
        If `out` does not fit.
    """
    model = mechanism if isinstance(mechanism, DynamicModel) else dynamic_model(mechanism)
    wanted = checked_prescription(model.kinematics, y, yd, ydd, time, start)
    return _perform(model, wanted, ordered, 0, out, _beginning_of(wanted, ordered))[0]


def observe_path_blocks(
    mechanism: Mechanism | DynamicModel,
    y: Floats,
    yd: Floats | None = None,
    ydd: Floats | None = None,
    *,
    time: Floats | None = None,
    start: Floats | None = None,
    size: int = 4096,
    reuse: bool = False,
) -> Iterator[tuple[slice, Observation]]:
    """Yield W of an ordered path in blocks of samples; nothing else grows with the path.

    With `reuse` a block is overwritten by the next one. Whether code is generated depends on the
    length of the whole path, as for `observe_path`.
    """
    model = mechanism if isinstance(mechanism, DynamicModel) else dynamic_model(mechanism)
    wanted = checked_prescription(model.kinematics, y, yd, ydd, time, start)
    q, y_last, seen = wanted.start_q, wanted.start_y, None
    choice, memory = chosen(len(wanted.y)), _beginning_of(wanted, True)
    for first in range(0, wanted.y.shape[0], size):
        part = slice(first, min(first + size, wanted.y.shape[0]))
        t = None if wanted.time is None else wanted.time[part]
        block = PrescribedMotion(t, wanted.y[part], wanted.yd[part], wanted.ydd[part], q, y_last)
        out = _beginning(seen, len(block.y)) if reuse else None
        with engine(choice):
            seen, q, memory = _perform(model, block, True, first, out, memory)
        y_last = block.y[-1]
        yield part, seen


def _beginning(seen: Observation | None, n: int) -> Observation | None:
    """Return the memory of n samples of an earlier block, if it had as many."""
    if seen is None or len(seen.W) < n:
        return None
    return Observation(seen.W[:n], seen.known[:n], seen.columns)


def observe_stream(
    model: DynamicModel, blocks: Iterable[tuple[Floats, Floats, Floats, Floats]], n: int
) -> Iterator[Observation]:
    """Yield W of an ordered path of n samples that comes in blocks of (time, y, yd, ydd).

    A block is overwritten by the next one.
    """
    q, first, seen, choice = None, 0, None, chosen(n)
    memory: Past = NO_PAST if n > 1 else ALONE
    for time, y, yd, ydd in blocks:
        wanted = checked_prescription(model.kinematics, y, yd, ydd, time, q)
        with engine(choice):
            out = _beginning(seen, len(y))
            seen, q, memory = _perform(model, wanted, True, first, out, memory)
        first += len(y)
        yield seen


# What came before the samples of a block: nothing yet, or a path; or they are states, each alone.
Past: TypeAlias = Memory | Literal["none", "alone"]
NO_PAST: Literal["none"] = "none"
ALONE: Literal["alone"] = "alone"


def _beginning_of(wanted: PrescribedMotion, ordered: bool) -> Past:
    """Return what the first sample of a motion has behind it."""
    return NO_PAST if ordered and wanted.time is not None and len(wanted.y) > 1 else ALONE


def _perform(
    model: DynamicModel,
    wanted: PrescribedMotion,
    ordered: bool,
    first: int,
    out: Observation | None,
    before: Past,
) -> tuple[Observation, Floats, Past]:
    """Return W along a motion, the last pose and the path; errors count samples from `first` on."""
    rubbing = load_friction(model.mechanism)
    if rubbing is not None:
        seen, last, end = _perform(rubbing.model, wanted, ordered, first, out, before)
        rubbing.apply(seen.W, seen.known, wanted.yd)
        return seen, last, end
    seen = _memory(model, wanted.y.shape, out, (wanted.y, wanted.yd, wanted.ydd, wanted.time))
    past = remembered(model.mechanism) if before != ALONE else None
    whole = seen if past is None else _memory(past.model, wanted.y.shape, None, ())
    q = _seen_along(model if past is None else past.model, wanted, ordered, first, whole)
    last = q[-1].copy() if len(q) else wanted.start_q
    if past is None or not len(q):
        return seen, last, before
    still = np.zeros((len(q), model.kinematics.compiled.n_v))
    speeds = (wanted.yd, wanted.ydd, q, still, still)
    motion = Motion(model.kinematics, wanted.time, wanted.y, *speeds, ordered=True)
    h, end = past.along(past.path(motion), before if isinstance(before, Memory) else None)
    return _turned(past, whole, h, seen), last, end


def _seen_along(
    model: DynamicModel, wanted: PrescribedMotion, ordered: bool, first: int, seen: Observation
) -> Floats:
    """Fill W and known along a motion, each state for itself; return the poses (N, n_q)."""
    timed = timed_loads(model.mechanism)
    if timed is not None:
        whole = _memory(timed.model, wanted.y.shape, None, ())
        q = _seen_along(timed.model, wanted, ordered, first, whole)
        _folded(timed, whole, wanted.time, seen)
        return q
    samples = ObservedSamples.unsolved(model, wanted, seen)
    perform(wanted, samples, ordered, first)
    return samples.q


@dataclass(frozen=True)
class ObservedSamples(Samples):
    """Samples whose speeds are not kept, but W and known are filled as they are solved."""

    dynamics: DynamicModel
    W: Floats
    known: Floats

    @staticmethod
    def unsolved(
        model: DynamicModel, wanted: PrescribedMotion, seen: Observation
    ) -> ObservedSamples:
        """Return the arrays for the samples of a prescribed motion; W and known go to `seen`."""
        n, k = len(wanted.y), model.kinematics
        none = np.zeros((0, k.compiled.n_v))
        return ObservedSamples(
            model=k,
            y=wanted.y,
            yd=wanted.yd,
            ydd=wanted.ydd,
            dt=time_steps(wanted.time, n),
            q=empty((n, k.compiled.n_q)),
            v=none,
            vd=none,
            status=np.zeros(n, dtype=np.int64),
            reach=np.zeros(n),
            dynamics=model,
            W=seen.W,
            known=seen.known,
        )

    def code(self) -> PathCode | None:
        """Return generated code that fills W and known, or None if there is none."""
        return self.dynamics.path_code

    def results(self) -> tuple[Floats, Floats]:
        """Return W and known, a row per sample."""
        return self.W.reshape(len(self.W), -1), self.known

    def run(
        self, way: Held, starts: Ints, first: int, last: int, q_starts: Floats, y_starts: Floats
    ) -> None:
        """Solve and observe chunks first … last - 1 of `starts`."""
        observe_chunks(
            way,
            self.dynamics.tables,
            starts,
            first,
            last,
            self.y,
            self.yd,
            self.ydd,
            self.dt,
            q_starts,
            y_starts,
            self.q,
            self.W,
            self.known,
            self.status,
            self.reach,
        )


def cad_parameters(model: DynamicModel) -> Floats:
    """Return the CAD values of all columns, (p,); nan where there is none."""
    return np.array([np.nan if c.value is None else c.value for c in model.columns])
