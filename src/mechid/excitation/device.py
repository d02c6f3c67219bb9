"""Judging many motions of a design at once on a GPU: limits and criterion.

Trajectories, closures, W, base columns, triangular factors and criteria stay on the GPU; free
numbers of trajectories go in, a slack per limit and a value per motion come out. Motions that the
GPU is not sure of are judged by the processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from mechid.dynamics.device import DeviceSamples
from mechid.dynamics.hysteresis import remembered
from mechid.dynamics.load_friction import load_friction
from mechid.dynamics.timed_loads import timed_loads
from mechid.errors import DataError, KinematicsError
from mechid.excitation.criteria.batch import Arrays, criterion_values
from mechid.excitation.criteria.criterion import Criterion, Objective
from mechid.excitation.criteria.goals import Goals
from mechid.excitation.criteria.relative import RelativeNoise
from mechid.excitation.device_limits import DeviceLimits, limit_known
from mechid.excitation.problem import DesignProblem
from mechid.kinematics.engine.record import RecordedPose
from mechid.kinematics.kernels.closure import OK
from mechid.kinematics.refusals import LOCKED
from mechid.kinematics.samples import Samples, solve_each
from mechid.kinematics.tables import Floats, Ints
from mechid.tape.cuda import CPU, cuda, loaded, usable_device
from mechid.tape.factor_source import FACTOR_SOURCE, KERNEL, shared_numbers
from mechid.tape.number import known_zero

_WARP = 32  # threads that run together
_USUAL_SHARED = 48 * 1024  # bytes of shared memory that every kernel may have


def on_device(device: str) -> Arrays:
    """Return CuPy, with factors by `device_factor`."""
    cp = cuda(device)

    def factor(A: Any) -> Any:
        columns = cp.ascontiguousarray(cp.swapaxes(A, 1, 2))[:, None]
        return device_factor(columns, cp.ones((len(A), 1)), device)

    return Arrays(cp, factor)


def device_factor(A: Any, weights: Any, device: str) -> Any:
    """Return R (n, b, b), upper triangular, with Rᵀ R = Aᵀ A of weighted rows.

    Parameters
    ----------
    A : CuPy array (n, groups, b, rows)
        May be part of a larger array along its second and third axis.
    weights : CuPy array (n, groups)
        Of the rows of each group.
    """
    cp = cuda(device)
    n, groups, b, rows = A.shape
    R = cp.zeros((n, b, b))
    if not R.size:
        return R
    kernel = loaded(FACTOR_SOURCE, device).get_function(KERNEL)
    shared = 8 * shared_numbers(b)
    if shared > _USUAL_SHARED:
        kernel.max_dynamic_shared_size_bytes = shared
    threads = -(-b // _WARP) * _WARP
    pitch = np.int64(A.strides[0] // A.itemsize)
    sizes = (np.int32(groups), np.int32(b), np.int32(rows), pitch)
    kernel((n,), (threads,), (*sizes, A, cp.ascontiguousarray(weights), R), shared_mem=shared)
    return R


_MOST_NUMBERS = 2**27  # results that are held at a time: a gigabyte


@dataclass(frozen=True, eq=False)
class DeviceJudge:
    """Limits and criterion of many motions of a problem.

    Attributes
    ----------
    problem : DesignProblem
    device : str
        "cuda:0", or that of another GPU.
    """

    problem: DesignProblem
    device: str

    def slacks(self, x: Floats) -> Floats:
        """Return the least slack of each limit, (n, limits), of x (n, n_x).

        Rows of nan are motions that do not close.
        """
        found = np.full((len(x), len(self.problem.limits)), np.nan)
        for part, rates in self._sampled(x, self._limited.code.n_results):
            out, fine = self._results(self._limited.code, rates)
            found[part] = self._limited.least(rates, out)
            unsure, closed = self._again(rates[0], fine)
            found[part][unsure] = np.nan
            for i in unsure[closed]:
                slack = self.problem.slack(x[part][i])
                found[part][i] = np.nan if slack is None else slack
        return found

    def values(self, x: Floats) -> Floats:
        """Return the criterion of x (n, n_x), (n,); inf where a motion does not close."""
        found = np.full(len(x), np.inf)
        for part, rates in self._sampled(x, self._observed.code.n_results):
            out, fine = self._results(self._observed.code, rates)
            unsure, closed = self._again(rates[0], fine)
            sure = np.delete(np.arange(len(out)), unsure)
            found[part][sure] = self._valued(out[sure] if unsure.size else out)
            for i in unsure[closed]:
                found[part][i] = self._by_processor(x[part][i])
        return found

    def _again(self, y: Any, fine: Any) -> tuple[Ints, np.ndarray]:
        """Return motions that the GPU is not sure of, and whether it may be that they close.

        The kernels try the first sample of each that is not fine: most of these motions leave what
        can be reached, and following them until they fail would take long.
        """
        cp = self._cp
        unsure = cp.flatnonzero(~fine.all(axis=1))
        first = fine[unsure].argmin(axis=1)
        samples = cp.asnumpy(y[unsure, :, first])
        model = self.problem.model.kinematics
        still = np.zeros_like(samples)
        trial = Samples.empty(model, samples, still, still, None)
        solve_each(trial, model.home_q, model.home_y)
        return cp.asnumpy(unsure), trial.status == OK

    def _by_processor(self, x: Floats) -> float:
        try:
            return self.problem.value(self.problem.motion(x))
        except KinematicsError:
            return np.inf

    @cached_property
    def _cp(self) -> Any:
        return cuda(self.device)

    @cached_property
    def _arrays(self) -> Arrays:
        return on_device(self.device)

    @cached_property
    def _bases(self) -> list[tuple[Any, ...]]:
        """Bᵀ of y, ẏ, ÿ per coordinate, and what they are at x = 0, on the GPU."""
        d = self.problem.design
        still = (d.still.y, d.still.yd, d.still.ydd)
        return [
            tuple(
                (self._cp.asarray(B.T), self._cp.asarray(rows[:, j]))
                for B, rows in zip(basis, still, strict=True)
            )
            for j, basis in enumerate(d.bases)
        ]

    def _sampled(self, x: Floats, n_results: int) -> Iterator[tuple[slice, tuple[Any, Any, Any]]]:
        """Yield y, ẏ, ÿ (motions, n_i, N) in parts that fit into memory."""
        cp, d = self._cp, self.problem.design
        n, n_i = len(d.time), len(d.bases)
        size = max(1, _MOST_NUMBERS // ((n_results + 3 * n_i) * max(n, 1)))
        ends = np.cumsum([0, *d.sizes])
        for first in range(0, len(x), size):
            part = slice(first, first + size)
            numbers = cp.asarray(x[part])
            rates = tuple(cp.empty((len(numbers), n_i, n)) for _ in range(3))
            for j, basis in enumerate(self._bases):
                own = numbers[:, ends[j] : ends[j + 1]]
                for rows, (B, still) in zip(rates, basis, strict=True):
                    rows[:, j] = own @ B + still
            yield part, (rates[0], rates[1], rates[2])

    def _results(self, code: DeviceSamples, rates: tuple[Any, ...]) -> tuple[Any, Any]:
        """Return results, and whether each sample is fine, (motions, N)."""
        out, found = code.run(*rates)
        fine = found == 1
        if self._pitches:  # a singular pose of roll, pitch and yaw is a matter for the kernels
            pitch = self._cp.abs(out[:, -len(self._pitches) :])
            fine &= (pitch <= np.pi / 2 - LOCKED).all(axis=1)
        return out, fine

    @cached_property
    def _pitches(self) -> list[int]:
        """Places in q of the pitch of orientations that are independent coordinates."""
        model = self.problem.model.kinematics
        return [
            model.compiled.coordinate[name, model.mechanism.joint(name).kind.n_scalars + 1].q
            for name in sorted(model.compiled.angles)
        ]

    @cached_property
    def _limited(self) -> DeviceLimits:
        return DeviceLimits.of(self.problem, self._pitches, self.device)

    @cached_property
    def _observed(self) -> DeviceObservation:
        return DeviceObservation.of(self.problem, self._pitches, self.device)

    def _valued(self, out: Any) -> Floats:
        """Return the criterion of W_b and known forces, as the kernel leaves them."""
        seen = self._observed.seen(out)
        return objective_values(self.problem.criterion, seen, self.device, self._arrays)


@dataclass(frozen=True, eq=False)
class DeviceObservation:
    """Code for W_b and known forces; only entries that are not always zero are filled.

    Attributes
    ----------
    code : DeviceSamples
    columns : tuple of arrays of int
        Columns of W_b that each force has.
    """

    code: DeviceSamples
    columns: tuple[np.ndarray, ...]
    n_columns: int

    @staticmethod
    def of(problem: DesignProblem, pitches: list[int], device: str) -> DeviceObservation:
        """Record the base columns of a problem."""
        found: list[np.ndarray] = []

        def wanted(pose: RecordedPose, W: np.ndarray, known: np.ndarray) -> list[Any]:
            W_b = W[:, problem.places]
            filled = ~np.vectorize(known_zero, otypes=[bool])(W_b)
            found.extend(np.flatnonzero(row) for row in filled)
            return [*W_b[filled], *known, *pose.q[pitches]]

        code = DeviceSamples.of(problem.model, wanted, device)
        return DeviceObservation(code, tuple(found), len(problem.places))

    def seen(self, out: Any) -> Seen:
        """Return results of the code as blocks of W_b and known forces."""
        ends = np.cumsum([0, *(c.size for c in self.columns)])
        blocks = tuple(out[:, a:b] for a, b in pairwise(ends))
        known = out[:, ends[-1] : ends[-1] + len(blocks)]
        return Seen(blocks, self.columns, self.n_columns, known)


@dataclass(frozen=True, eq=False)
class Seen:
    """W_b of n motions, a block (n, columns, N) per force, and known forces (n, n_i, N)."""

    blocks: tuple[Any, ...]
    columns: tuple[np.ndarray, ...]
    n_columns: int
    known: Any

    def mean_squares(self, values: Floats, xp: Any) -> Any:
        """Return the mean square of each force τ = W_b θ + known, (n, n_i)."""
        tau = [
            xp.asarray(values[c]) @ block + self.known[:, j]
            for j, (block, c) in enumerate(zip(self.blocks, self.columns, strict=True))
        ]
        return (xp.stack(tau, axis=1) ** 2).mean(axis=2)

    def factor(self, weights: Any, device: str, arrays: Arrays) -> Any:
        """Return R (n, b, b) of the stacked matrix, rows of each force times its weight.

        Each force by itself first, with the columns that it has, then all of them together.
        """
        xp, n = arrays.xp, len(self.known)
        one = xp.ones((n, 1))
        height = sum(c.size for c in self.columns)
        stacked = xp.zeros((n, 1, self.n_columns, height))
        first = 0
        for j, (block, c) in enumerate(zip(self.blocks, self.columns, strict=True)):
            R = device_factor(block[:, None], one, device) * weights[:, j, None, None]
            stacked[:, 0, c, first : first + c.size] = xp.swapaxes(R, 1, 2)
            first += c.size
        return device_factor(stacked, one, device)


def objective_values(objective: Objective, seen: Seen, device: str, arrays: Arrays) -> Floats:
    """Return a criterion, one with the noise of each motion, or goals, of n motions, (n,)."""
    xp = arrays.xp
    match objective:
        case Goals():
            values = [objective_values(c, seen, device, arrays) for c in objective.criteria]
            return objective.combined(np.stack(values))[0]
        case RelativeNoise():
            sigma = objective.sigma_of(seen.mean_squares(objective.values, xp), xp)
            return _weighted(objective.criterion, seen, sigma, device, arrays)
        case Criterion():
            given = objective.options.sigma
            noise = np.ones(len(seen.blocks)) if given is None else np.asarray(given)
            sigma = xp.broadcast_to(xp.asarray(noise), (len(seen.known), noise.size))
            return _weighted(objective, seen, sigma, device, arrays)
    raise TypeError(f"unknown objective {type(objective).__name__}")


def _weighted(criterion: Criterion, seen: Seen, sigma: Any, device: str, arrays: Arrays) -> Floats:
    R = seen.factor(np.sqrt(criterion.options.repeats) / sigma, device, arrays)
    if criterion.options.scales is not None:
        R = R * arrays.xp.asarray(criterion.options.scales)
    return criterion_values(criterion, R, arrays)


def judge_of(problem: DesignProblem, device: str | None) -> DeviceJudge | None:
    """Return who judges the motions of a problem on a GPU; None: the processor does.

    Raises
    ------
    DataError
        If the GPU does not know a limit, a load over time, hysteresis, or friction that depends on
        the load.
    MechidError
        Without a GPU.
    """
    chosen = usable_device(device)
    if chosen == CPU:
        return None
    unknown = [limit.words for limit in problem.limits if not limit_known(limit, problem.model)]
    if timed_loads(problem.mechanism) is not None:
        unknown.append("loads over time")
    if remembered(problem.mechanism) is not None:
        unknown.append("hysteresis")
    if load_friction(problem.mechanism) is not None:
        unknown.append("friction that depends on the load")
    if unknown:
        raise DataError(
            f"the device {chosen} cannot judge motions with {', '.join(unknown)}",
            where=problem.mechanism.name,
            remedy="leave out the device to use the processor",
        )
    return DeviceJudge(problem, chosen)
