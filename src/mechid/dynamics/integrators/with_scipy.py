"""SciPy's integrators, step by step."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from scipy.integrate import DOP853, RK23, RK45

from mechid.dynamics.integrators.task import NO_PROGRESS, STALLED, Recorder, Stages, Tableau, Task
from mechid.dynamics.kernels.runge_kutta import error_norm, interpolate
from mechid.kinematics.tables import Floats

# SciPy makes the difference that a column of the Jacobian is taken by ever longer where nothing
# changes with it, as with a cyclic coordinate: after some 300 Jacobians it would be infinite.
_LONGEST_DIFFERENCE = 1e-3
SCIPY = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")


def integrate_with_scipy(task: Task, recorder: Recorder) -> None:
    """Carry out a task; states go to the recorder."""
    import scipy.integrate

    start, end = task.start, task.end
    if end == start:
        return
    make: Any = getattr(scipy.integrate, task.method)
    if task.stages is not None and task.method in IN_STAGES:
        make = partial(IN_STAGES[task.method], stages=task.stages)
    solver = make(
        task.f, start, task.z, end, rtol=task.rtol, atol=task.atol, max_step=task.max_step
    )
    before = [g(start, task.z) for g in task.events]
    stalled = 0
    while solver.status == "running":
        stalled = _step(solver, recorder, stalled)
        recorder.step_to(float(solver.t), solver.y)
        # Interpolation may take evaluations: it is made when it is asked for, and once.
        between = cache(solver.dense_output) if task.events else solver.dense_output
        stop, before = _first_event(task, before, between, solver)
        due = recorder.due(solver.t if stop is None else stop[0])
        if due.size:
            states = between()(due).T
            known = np.isfinite(states)
            n = len(due) if known.all() else int(known.all(axis=1).argmin())
            recorder.take(due[:n].tolist(), states[:n])
            if n < len(due):  # interpolation may need rates beyond the step
                raise recorder.lost(float(solver.t_old))
        if stop is not None:
            recorder.stop_at(stop, between()(stop[0]))
            return
        if task.project is not None and solver.status == "running":
            solver.y = task.project(solver.t, solver.y)
            solver.f = task.f(solver.t, solver.y)
        if task.watch is not None:
            task.watch(float(solver.t))


def _step(solver: Any, recorder: Recorder, stalled: int) -> int:
    """Take a step; return how many steps in a row did not change the time."""
    factor = getattr(solver, "jac_factor", None)  # of implicit methods, once it is known
    if factor is not None:
        np.minimum(factor, _LONGEST_DIFFERENCE, out=factor)
    try:
        message = solver.step()
    except ValueError as error:  # implicit methods: NaN in a matrix
        if "NaN" not in str(error):
            raise
        raise recorder.lost(float(solver.t)) from error
    if not np.isfinite(solver.y).all():  # LSODA does not look
        raise recorder.lost(float(solver.t_old))
    if solver.status == "failed":
        raise recorder.gave_up(str(message).rstrip("."), float(solver.t))
    stalled = 0 if solver.t > solver.t_old else stalled + 1
    if stalled > STALLED:
        raise recorder.gave_up(NO_PROGRESS, float(solver.t))
    return stalled


def _first_event(
    task: Task,
    before: list[float],
    between: Callable[[], Callable[[float], Floats]],
    solver: Any,
) -> tuple[tuple[float, int] | None, list[float]]:
    """Return the earliest zero of an event in a step, and the values at its end."""
    if not task.events:
        return None, before
    from scipy.optimize import brentq

    t_old, t = solver.t_old, solver.t
    after = [g(t, solver.y) for g in task.events]
    found = []
    for i, (g, a, b) in enumerate(zip(task.events, before, after, strict=True)):
        if a * b < 0 or (b == 0 and a != 0):
            root = t if b == 0 else brentq(lambda s, g=g: g(s, between()(s)), t_old, t, xtol=1e-14)
            found.append((float(root), i))
    return (min(found) if found else None), after


# Control of the step, as SciPy does it: the next one is this part of what the error allows, and
# changes by these factors at most.
_SAFETY = 0.9
_LEAST, _MOST = 0.2, 10.0


class _InStages:
    """Steps of a `scipy.integrate` class, which is the other base.

    Where the stages cannot be evaluated together, the step is SciPy's.
    """

    TOO_SMALL_STEP: str

    def __init__(self: Any, *arguments: Any, stages: Stages, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._stages = stages
        self._plain = type(self).__mro__[2]
        self._table = tableau(self._plain)
        self._K = np.zeros((len(self._table.A), self.n))
        self._tolerances = float(self.rtol), np.broadcast_to(self.atol, self.n).copy()

    def _step_impl(self: Any) -> Any:
        t, z, K, table = float(self.t), self.y, self._K, self._table
        shortest = 10 * (math.nextafter(t, math.inf) - t)
        length = min(max(float(self.h_abs), shortest), self.max_step)
        most = _MOST
        K[0] = self.f
        while length >= shortest:
            end = min(t + length, float(self.t_bound))
            h = end - t
            state = self._stages.run(table, 1, table.last + 1, t, h, z, K)
            if state is None:
                self.h_abs, self._together = length, False
                return self._plain._step_impl(self)
            error = error_norm(K, table.E5, table.E3, h, z, state, *self._tolerances)
            factor = _SAFETY * error**self.error_exponent if error else _MOST
            if error < 1:
                self.h_previous, self.y_old, self._together = h, z, True
                self.t, self.y, self.f = end, state, K[table.last].copy()
                self.h_abs = h * min(most, factor)
                return True, None
            most = 1.0  # not longer again after a step that was too long
            length = h * (factor if factor > _LEAST else _LEAST)  # nan: the least
        return False, self.TOO_SMALL_STEP

    def _dense_output_impl(self: Any) -> Any:
        table, h, z, K = self._table, self.h_previous, self.y_old, self._K
        if self._together:
            first, last = table.last + 1, len(K)
            if (
                first == last
                or self._stages.run(table, first, last, self.t_old, h, z, K) is not None
            ):
                return _Interpolant(self.t_old, self.t, table.P, z, K)
            self.K[:] = K[: len(self.K)]
        return self._plain._dense_output_impl(self)


class _Interpolant:
    """The polynomial of a step, called as a `DenseOutput`; valid until the next one."""

    def __init__(self, t_old: float, t: float, P: Floats, z: Floats, K: Floats) -> None:
        self.t_old = t_old
        self._step = K, P, t - t_old, z

    def __call__(self, t: Floats | float) -> Floats:
        part = np.asarray((t - self.t_old) / self._step[2])
        out = np.empty((part.size, self._step[3].size))
        interpolate(*self._step, part.reshape(-1), out)
        return out.T if part.ndim else out[0]


class _RK23(_InStages, RK23):  # type: ignore[misc]
    pass


class _RK45(_InStages, RK45):  # type: ignore[misc]
    pass


class _DOP853(_InStages, DOP853):  # type: ignore[misc]
    pass


IN_STAGES: dict[str, Any] = {"RK23": _RK23, "RK45": _RK45, "DOP853": _DOP853}


@cache
def tableau(method: Any) -> Tableau:
    """Return the coefficients of an explicit Runge-Kutta method of SciPy."""
    n = method.n_stages
    extra = getattr(method, "A_EXTRA", np.zeros((0, n + 1)))
    A = np.zeros((n + 1 + len(extra), n + 1 + len(extra)))
    A[:n, : method.A.shape[1]] = method.A
    A[n, :n] = method.B
    A[n + 1 :, : extra.shape[1]] = extra
    C = np.concatenate([method.C, [1.0], getattr(method, "C_EXTRA", [])])
    if method is not DOP853:
        return Tableau(A, C, n, method.P.copy(), method.E.copy(), np.zeros(n + 1))
    # SciPy nests: x (F_0 + (1 - x) (F_1 + x (F_2 + (1 - x) …))), each F linear in the stages
    B, first, last = A[n], np.eye(len(A))[0], np.eye(len(A))[n]
    F = [B, first - B, 2 * B - last - first, *method.D]
    x, factor = Polynomial([0, 1]), Polynomial([1])
    P = np.zeros((len(A), len(F)))
    for i, row in enumerate(F):
        factor = factor * ((1 - x) if i % 2 else x)
        P[:, : i + 1] += np.outer(row, factor.coef[1:])
    return Tableau(A, C, n, P, method.E5.copy(), method.E3.copy())
