"""CVODE and IDA of SUNDIALS, step by step."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from io import TextIOBase
from typing import Any, TextIO

import numpy as np

from mechid.dynamics.integrators.task import NO_PROGRESS, STALLED, Recorder, Task
from mechid.kinematics.tables import Floats

SUNDIALS = ("CVODE", "CVODE-Adams", "IDA")
_ROOT = 2  # status of SUNDIALS: the step ended at a zero of an event
_MOST_STEPS = 1_000_000


def has_sundials() -> bool:
    """Tell whether scikit-sundae is installed; it has no ready builds for every processor."""
    return find_spec("sksundae") is not None


def integrate_with_sundials(task: Task, recorder: Recorder) -> None:
    """Carry out a task; states go to the recorder."""
    with _silent():
        solver = _ida(task) if task.method == "IDA" else _cvode(task)
        _follow(solver, task, recorder)


def _follow(solver: Any, task: Task, recorder: Recorder) -> None:
    end = task.end  # forces may not be known beyond

    def step(t: float, mode: str) -> Any:
        result = solver.step(t, mode, tstop=end)
        if not result.success:
            raise recorder.gave_up(str(result.message).rstrip("."), recorder.reached)
        return result

    stalled = 0
    while recorder.reached < end:
        result = step(end, "onestep")
        t, state = float(np.ravel(result.t)[-1]), np.ravel(result.y)
        if t == recorder.reached:  # after times in between the end of the step comes once more
            stalled += 1
            if stalled > STALLED:
                raise recorder.gave_up(NO_PROGRESS, recorder.reached)
            continue
        stalled = 0
        recorder.step_to(t, state)
        for due in recorder.due(t):
            between = state if due >= t else np.ravel(step(float(due), "normal").y)
            recorder.take([float(due)], [between])
        if result.status == _ROOT:
            nearest = int(np.argmin([abs(g(t, state)) for g in task.events]))
            recorder.stop_at((t, nearest), state)
            return
        if task.watch is not None:
            task.watch(t)


def _cvode(task: Task) -> Any:
    from sksundae.cvode import CVODE

    def rhs(t: float, state: Floats, out: Floats) -> None:
        out[:] = task.f(t, np.array(state))  # an error in it passes through to `step`

    def events(t: float, state: Floats, out: Floats) -> None:
        out[:] = [g(t, np.array(state)) for g in task.events]

    method = "Adams" if task.method == "CVODE-Adams" else "BDF"
    solver = CVODE(rhs, method=method, **_options(task, events))
    solver.init_step(task.start, task.z)
    return solver


def _ida(task: Task) -> Any:
    from sksundae.ida import IDA

    def residual(t: float, state: Floats, slope: Floats, out: Floats) -> None:
        out[:] = slope - task.f(t, np.array(state))

    def events(t: float, state: Floats, slope: Floats, out: Floats) -> None:
        out[:] = [g(t, np.array(state)) for g in task.events]

    solver = IDA(residual, **_options(task, events))
    solver.init_step(task.start, task.z, task.f(task.start, task.z))
    return solver


def _options(task: Task, events: Any) -> dict[str, Any]:
    options: dict[str, Any] = {
        "rtol": task.rtol,
        "atol": task.atol,
        "max_num_steps": _MOST_STEPS,
        "max_step": 0.0 if np.isinf(task.max_step) else task.max_step,
    }
    return options | ({"eventsfn": events, "num_events": len(task.events)} if task.events else {})


@contextmanager
def _silent() -> Iterator[None]:
    """Keep SUNDIALS from telling of troubles besides the errors that are raised for them.

    Its library logs warnings to the standard error, unless a variable names a file when a solver
    is made; scikit-sundae prints errors, and has no option against it.
    """
    variable = "SUNLOGGER_WARNING_FILENAME"
    given = os.environ.get(variable)
    os.environ.setdefault(variable, os.devnull)
    try:
        with redirect_stdout(_WithoutReports(sys.stdout)):
            yield
    finally:
        if given is None:
            del os.environ[variable]


class _WithoutReports(TextIOBase):
    """Passes on what is printed, by functions of the user, say, but for reports of SUNDIALS."""

    _report = re.compile(r"\n\[\w+, Error: -?\d+\] ")

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._ended = True

    def write(self, text: str) -> int:
        if self._report.match(text):
            self._ended = False
            return len(text)
        if not self._ended and text == "\n":  # `print` writes the end of its line apart
            self._ended = True
            return len(text)
        return self._out.write(text)

    def flush(self) -> None:
        self._out.flush()
