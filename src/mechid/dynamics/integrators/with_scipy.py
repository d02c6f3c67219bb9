"""SciPy's integrators, step by step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from mechid.dynamics.integrators.task import NO_PROGRESS, STALLED, Recorder, Task
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
    if task.stages is not None:
        from mechid.dynamics.integrators.in_stages import IN_STAGES

        if task.method in IN_STAGES:
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
