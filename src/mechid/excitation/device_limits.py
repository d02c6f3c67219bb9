"""Limits of many motions at once, on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.device import THREADS, DeviceSamples
from mechid.dynamics.parameters import parameter_values
from mechid.excitation.bounds import MotionLimit, limited_joint
from mechid.excitation.limits import scale_of
from mechid.excitation.problem import DesignProblem
from mechid.kinematics.engine.record import RecordedPose
from mechid.kinematics.tables import Floats
from mechid.tape.cuda import cuda, loaded
from mechid.tape.number import known_zero
from mechid.tape.smallest_source import KERNEL, smallest_source

_ORDER = {"position": 0, "speed": 1, "acceleration": 2}
# Values of a limited quantity (motions, N): from y, ẏ, ÿ (motions, n_i, N) and results.
_Values: TypeAlias = Callable[[tuple[Any, ...], Any], Any]


def limit_known(limit: MotionLimit, model: DynamicModel) -> bool:
    """Tell whether a limit can be checked on a GPU."""
    if limit.quantity == "joint":
        return limited_joint(limit, model.mechanism) in model.kinematics.compiled.coordinate
    return limit.quantity != "distance"


@dataclass(frozen=True, eq=False)
class DeviceLimits:
    """Code for limited quantities that y, ẏ, ÿ do not give, and how the others are read."""

    limits: tuple[MotionLimit, ...]
    code: DeviceSamples
    values: tuple[_Values, ...]

    @staticmethod
    def of(problem: DesignProblem, pitches: list[int], device: str) -> DeviceLimits:
        """Record the quantities of the limits of a problem."""
        model, limits = problem.model, problem.limits
        names = [c.name for c in model.mechanism.coordinates]
        forces = [c.force for c in model.mechanism.coordinates]
        forced = any(limit.quantity == "force" for limit in limits)
        phi = parameter_values(model).tolist() if forced else []
        values: list[_Values] = []

        def wanted(pose: RecordedPose, W: np.ndarray, known: np.ndarray) -> list[Any]:
            results: list[Any] = []
            for limit in limits:
                if limit.quantity in _ORDER:
                    values.append(_rate(_ORDER[limit.quantity], names.index(limit.name)))
                    continue
                first = len(results)
                if limit.quantity == "joint":
                    joint = limited_joint(limit, model.mechanism)
                    results.append(pose.q[model.kinematics.compiled.coordinate[joint].q])
                    values.append(_result(first))
                elif limit.quantity == "force":
                    j = forces.index(limit.name)
                    results.append(sum((W[j] * phi).tolist(), known[j]))
                    values.append(_result(first))
                else:
                    J = pose.jacobian()
                    filled = ~np.vectorize(known_zero, otypes=[bool])(J)
                    results += [*J[filled]]
                    values.append(_margin(first, filled, device))
            return [*results, *pose.q[pitches]]

        code = DeviceSamples.of(model, wanted, device)
        return DeviceLimits(limits, code, tuple(values))

    def least(self, rates: tuple[Any, ...], out: Any) -> Floats:
        """Return the least slack of each limit, (motions, limits).

        Margins are not looked at where another limit is broken already, as by `least_slacks`.
        """
        cp = cuda(self.code.device)
        found = np.full((len(out), len(self.limits)), np.inf)
        pairs = list(enumerate(zip(self.limits, self.values, strict=True)))
        for k, (limit, values_of) in sorted(pairs, key=lambda p: p[1][0].quantity == "margin"):
            some: slice | np.ndarray = slice(None)
            if limit.quantity == "margin":
                some = np.flatnonzero((found >= 0).all(axis=1))
            values = values_of(rates, out[some])
            room = []
            if limit.upper is not None:
                room.append(limit.upper - values.max(axis=1))
            if limit.lower is not None:
                room.append(values.min(axis=1) - limit.lower)
            found[some, k] = cp.asnumpy(cp.stack(room).min(axis=0)) / scale_of(limit)
        return found


def _rate(order: int, place: int) -> _Values:
    return lambda rates, out: rates[order][:, place]


def _result(place: int) -> _Values:
    return lambda rates, out: out[:, place]


def _margin(first: int, filled: np.ndarray, device: str) -> _Values:
    """Return the smallest singular value of a matrix whose entries are results from `first` on."""
    row, column = (np.ascontiguousarray(x, dtype=np.int32) for x in np.nonzero(filled))
    n = filled.shape[1]

    def values(rates: tuple[Any, ...], out: Any) -> Any:
        cp = cuda(device)
        motions, n_results, block = out.shape
        found = cp.full((motions, block), np.inf)
        if n and motions:
            kernel = loaded(smallest_source(n), device).get_function(KERNEL)
            sizes = [np.int64(x) for x in (found.size, block, n_results * block)]
            tables = (cp.asarray(row), cp.asarray(column))
            given = (*sizes, np.int32(row.size), *tables, out[:, first:], found)
            kernel((-(-found.size // THREADS),), (THREADS,), given)
        return found

    return values
