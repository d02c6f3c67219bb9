"""Judging many motions of a design at once on a GPU: limits and criterion.

Trajectories, closures, W, base columns, triangular factors and criteria stay on the GPU; free
numbers of trajectories go in, a slack per limit and a value per motion come out. Motions that the
GPU is not sure of are judged by the processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.device import DeviceSamples
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.timed_loads import timed_loads
from mechid.errors import DataError, KinematicsError
from mechid.excitation.bounds import MotionLimit, limited_joint
from mechid.excitation.criteria.batch import Arrays, criterion_values
from mechid.excitation.criteria.criterion import Criterion
from mechid.excitation.criteria.goals import Goals
from mechid.excitation.criteria.objective import Objective
from mechid.excitation.criteria.relative import RelativeNoise
from mechid.excitation.device_factor import device_factor, on_device
from mechid.excitation.limits import scale_of
from mechid.excitation.problem import DesignProblem
from mechid.kinematics.refusals import LOCKED
from mechid.kinematics.tables import Floats
from mechid.tape.cuda import CPU, chosen_device, cuda

_MOST_NUMBERS = 2**27  # results that are held at a time: a gigabyte
_ORDER = {"position": 0, "speed": 1, "acceleration": 2}


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
        for part, rates in self._sampled(x, self._limited.n_results):
            out, sure = self._results(self._limited, rates)
            found[part] = self._least(rates, out, sure)
            for i in np.flatnonzero(~sure):
                slack = self.problem.slack(x[part][i])
                found[part][i] = np.nan if slack is None else slack
        return found

    def values(self, x: Floats) -> Floats:
        """Return the criterion of x (n, n_x), (n,); inf where a motion does not close."""
        found = np.full(len(x), np.inf)
        for part, rates in self._sampled(x, self._observed.n_results):
            out, sure = self._results(self._observed, rates)
            found[part] = self._valued(out)
            for i in np.flatnonzero(~sure):
                found[part][i] = self._by_processor(x[part][i])
        return found

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

    def _results(self, code: DeviceSamples, rates: tuple[Any, ...]) -> tuple[Any, np.ndarray]:
        """Return results, and whether all samples of each motion are fine, (motions,)."""
        out, fine = code.run(*rates)
        sure = (fine == 1).all(axis=1)
        if self._pitches:  # a singular pose of roll, pitch and yaw is a matter for the kernels
            pitch = self._cp.abs(out[:, -len(self._pitches) :])
            sure &= (pitch <= np.pi / 2 - LOCKED).all(axis=(1, 2))
        return out, self._cp.asnumpy(sure)

    @cached_property
    def _pitches(self) -> list[int]:
        """Places in q of the pitch of orientations that are independent coordinates."""
        model = self.problem.model.kinematics
        return [
            model.compiled.coordinate[name, model.mechanism.joint(name).kind.n_scalars + 1].q
            for name in sorted(model.compiled.angles)
        ]

    @cached_property
    def _limited(self) -> DeviceSamples:
        """Code for the quantities of limits that y, ẏ, ÿ do not give."""
        model, limits = self.problem.model, self.problem.limits
        places = [_place(x, model) for x in limits if x.quantity == "joint"]
        forces = [_force(x, model) for x in limits if x.quantity == "force"]
        phi = parameter_values(model).tolist() if forces else []

        def wanted(W: np.ndarray, known: np.ndarray, q: np.ndarray) -> list[Any]:
            tau = [sum((W[j] * phi).tolist(), known[j]) for j in forces]
            return [*q[places], *tau, *q[self._pitches]]

        return DeviceSamples.of(model, wanted, self.device)

    def _least(self, rates: tuple[Any, ...], out: Any, sure: np.ndarray) -> Floats:
        """Return the least slack of each limit, (motions, limits)."""
        cp, model, limits = self._cp, self.problem.model, self.problem.limits
        names = [c.name for c in model.mechanism.coordinates]
        found = np.full((len(sure), len(limits)), np.inf)
        joints = sum(x.quantity == "joint" for x in limits)
        next_joint, next_force = iter(range(joints)), iter(range(joints, len(limits)))
        for k, limit in enumerate(limits):
            if limit.quantity in _ORDER:
                values = rates[_ORDER[limit.quantity]][:, names.index(limit.name)]
            else:
                values = out[:, next(next_joint if limit.quantity == "joint" else next_force)]
            room = []
            if limit.upper is not None:
                room.append(limit.upper - values.max(axis=1))
            if limit.lower is not None:
                room.append(values.min(axis=1) - limit.lower)
            found[:, k] = cp.asnumpy(cp.stack(room).min(axis=0)) / scale_of(limit)
        return found

    @cached_property
    def _observed(self) -> DeviceSamples:
        """Code for W_b and known forces."""
        places = self.problem.places

        def wanted(W: np.ndarray, known: np.ndarray, q: np.ndarray) -> list[Any]:
            return [*W[:, places].ravel(), *known, *q[self._pitches]]

        return DeviceSamples.of(self.problem.model, wanted, self.device)

    def _valued(self, out: Any) -> Floats:
        """Return the criterion of W_b and known forces, as the kernel leaves them."""
        n_i, b = self.problem.model.kinematics.n_independent, len(self.problem.places)
        n, _, rows = out.shape
        W = out[:, : n_i * b].reshape(n, n_i, b, rows)
        known = out[:, n_i * b : n_i * (b + 1)]
        return objective_values(self.problem.criterion, W, known, self.device, self._arrays)


def judge_of(problem: DesignProblem, device: str | None) -> DeviceJudge | None:
    """Return who judges the motions of a problem on a GPU; None: the processor does.

    Raises
    ------
    DataError
        If the GPU does not know a limit, or a load over time.
    MechidError
        Without a GPU.
    """
    chosen = chosen_device(device)
    if chosen == CPU:
        return None
    cuda(chosen)
    unknown = [limit.words for limit in problem.limits if not _known(limit, problem.model)]
    if timed_loads(problem.mechanism) is not None:
        unknown.append("loads over time")
    if unknown:
        raise DataError(
            f"the device {chosen} cannot judge motions with {', '.join(unknown)}",
            where=problem.mechanism.name,
            remedy="leave out the device to use the processor",
        )
    return DeviceJudge(problem, chosen)


def objective_values(
    objective: Objective, W: Any, known: Any, device: str, arrays: Arrays
) -> Floats:
    """Return a criterion of n motions, (n,).

    Parameters
    ----------
    objective : Objective
        A criterion, one with the noise of each motion, or goals.
    W : CuPy array (n, n_i, b, N)
    known : CuPy array (n, n_i, N)
    """
    match objective:
        case Goals():
            values = [objective_values(c, W, known, device, arrays) for c in objective.criteria]
            return objective.combined(np.stack(values))[0]
        case RelativeNoise():
            tau = (arrays.xp.asarray(objective.values) @ W) + known
            sigma = objective.sigma_of((tau**2).mean(axis=2), arrays.xp)
            return _weighted(objective.criterion, W, sigma, device, arrays)
        case Criterion():
            sigma = objective.options.sigma
            noise = arrays.xp.asarray(np.ones(W.shape[1]) if sigma is None else sigma)
            return _weighted(objective, W, noise[None], device, arrays)
    raise TypeError(f"unknown objective {type(objective).__name__}")


def _weighted(criterion: Criterion, W: Any, sigma: Any, device: str, arrays: Arrays) -> Floats:
    weights = arrays.xp.broadcast_to(np.sqrt(criterion.options.repeats) / sigma, W.shape[:2])
    R = device_factor(W, weights, device)
    if criterion.options.scales is not None:
        R = R * arrays.xp.asarray(criterion.options.scales)
    return criterion_values(criterion, R, arrays)


def _known(limit: MotionLimit, model: DynamicModel) -> bool:
    if limit.quantity in ("distance", "margin"):
        return False
    if limit.quantity != "joint":
        return True
    return limited_joint(limit, model.mechanism) in model.kinematics.compiled.coordinate


def _place(limit: MotionLimit, model: DynamicModel) -> int:
    """Return the place in q of a limited joint coordinate."""
    return int(model.kinematics.compiled.coordinate[limited_joint(limit, model.mechanism)].q)


def _force(limit: MotionLimit, model: DynamicModel) -> int:
    return [c.force for c in model.mechanism.coordinates].index(limit.name)
