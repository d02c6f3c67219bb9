"""Integration of ż = f(t, z): SciPy's methods and SUNDIALS behind one call."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from io import TextIOBase
from typing import Any, TextIO

import numpy as np
from scipy.integrate import BDF, DOP853, LSODA, RK23, RK45, Radau
from scipy.optimize import brentq

from mechid.errors import DataError, KinematicsError, MechidError
from mechid.kinematics.tables import Floats

Rate = Callable[[float, Floats], Floats]
Event = Callable[[float, Floats], float]
Inspect = Callable[[float, Floats], None]

SCIPY = {
    "RK23": RK23,
    "RK45": RK45,
    "DOP853": DOP853,
    "Radau": Radau,
    "BDF": BDF,
    "LSODA": LSODA,
}
SUNDIALS = ("CVODE", "CVODE-Adams", "IDA")
METHODS = (*SCIPY, *SUNDIALS)
# After a step of these the state may be moved: they keep no history of earlier steps.
ONE_STEP = ("RK23", "RK45", "DOP853", "Radau")
LEAST_RTOL = 100 * float(np.finfo(float).eps)  # SciPy goes no lower
_STALLED = 1000  # steps below the rounding of time, which LSODA and SUNDIALS would go on with
_ROOT = 2  # status of SUNDIALS: the step ended at a zero of an event
_NO_PROGRESS = "steps are too short to change the time"
_REMEDY = "loosen the tolerances, or look for a singular pose or an impact there"


@dataclass(frozen=True)
class Trace:
    """States (N, n) at the wanted times (N,), as far as the integration came."""

    time: Floats
    z: Floats
    steps: int
    events: tuple[tuple[float, int], ...] = ()


class IntegrationError(MechidError):
    """The integration stopped early, at `time`; `trace` holds what was computed until then."""

    def __init__(self, what: str, trace: Trace, time: float, *, remedy: str = "") -> None:
        self.trace = trace
        self.time = time
        super().__init__(what, where=f"t = {time:g} s", remedy=remedy)


@dataclass
class _Recorder:
    """Collects states at the wanted times."""

    wanted: Floats
    project: Callable[[Floats], Floats] | None
    time: list[float] = field(default_factory=list)
    z: list[Floats] = field(default_factory=list)
    steps: int = 0
    reached: float = -np.inf  # end of the last step that was accepted
    events: list[tuple[float, int]] = field(default_factory=list)

    def take(self, t: float, z: Floats) -> None:
        self.time.append(t)
        self.z.append(z.copy() if self.project is None else self.project(z))

    def due(self, t: float) -> Floats:
        first = len(self.time)
        slack = 1e-12 * max(1.0, abs(t))
        return self.wanted[first:][self.wanted[first:] <= t + slack]

    def trace(self) -> Trace:
        z = np.array(self.z) if self.z else np.zeros((0, 0))
        return Trace(np.array(self.time), z, self.steps, tuple(self.events))


def integrate(
    f: Rate,
    z: Floats,
    times: Floats,
    *,
    method: str = "DOP853",
    rtol: float = 1e-9,
    atol: float | Floats = 1e-12,
    max_step: float = np.inf,
    project: Callable[[Floats], Floats] | None = None,
    events: Sequence[Event] = (),
    inspect: Inspect | None = None,
    watch: Callable[[float], None] | None = None,
) -> Trace:
    """Integrate from times[0] and return the states at all of `times`.

    Parameters
    ----------
    f : callable (t, z) -> ż
    z : array (n,)
        State at times[0].
    times : array (N,), increasing
    method : one of METHODS
    project : callable, optional
        Applied to the state after every accepted step (one-step methods only).
    events : callables (t, z) -> float
        The integration stops at the first zero of any of them.
    inspect : callable (t, z), optional
        Called with the state at the end of every step before anything of the step is kept; a
        `MechidError` in it refuses the step and ends the integration.
    watch : callable (t), optional
        Called after every step, for progress; an exception in it ends the integration.

    Raises
    ------
    IntegrationError
        With the states so far in `trace`.
    """
    if method not in METHODS:
        raise MechidError(
            f"unknown integrator '{method}'", remedy=f"choose one of {', '.join(METHODS)}"
        )
    if project is not None and method not in ONE_STEP:
        raise MechidError(
            f"projection moves the state, which {method} cannot follow",
            remedy=f"use one of {', '.join(ONE_STEP)}, or Baumgarte's stabilisation",
        )
    _check_tolerances(rtol, atol, max_step)
    recorder = _Recorder(np.asarray(times, dtype=float), project)
    recorder.take(float(times[0]), z)
    recorder.reached = float(times[0])
    try:
        if not np.all(np.isfinite(f(float(times[0]), z))):
            raise _lost(method, recorder, float(times[0]))
        if method in SCIPY:
            _scipy(f, z, recorder, method, rtol, atol, max_step, events, inspect, watch)
        else:
            with _silent_sundials():
                _sundials(f, z, recorder, method, rtol, atol, max_step, events, inspect, watch)
    except IntegrationError:
        raise
    except MechidError as error:
        known = error.time if isinstance(error, KinematicsError) else None
        reached = recorder.reached if known is None else known
        raise IntegrationError(
            error.what, recorder.trace(), reached, remedy=error.remedy
        ) from error
    return recorder.trace()


def _check_tolerances(rtol: float, atol: float | Floats, max_step: float) -> None:
    """Refuse what integrators would replace by something else."""
    if not LEAST_RTOL <= rtol < np.inf:
        raise DataError(
            f"rtol must be a number of at least {LEAST_RTOL:.2g}, got {rtol:g}",
            remedy="relative tolerances between 1e-3 and 1e-12 are usual",
        )
    if not np.all((np.asarray(atol) >= 0) & np.isfinite(atol)):
        raise DataError(f"atol must not be negative, got {atol}", remedy="use rtol / 100, say")
    if not max_step > 0:
        raise DataError(f"max_step must be positive, got {max_step:g}")


def _lost(method: str, recorder: _Recorder, t: float) -> IntegrationError:
    return IntegrationError(
        f"{method} gave up: the rates are not finite numbers",
        recorder.trace(),
        t,
        remedy=_REMEDY,
    )


def _scipy(
    f: Rate,
    z: Floats,
    recorder: _Recorder,
    method: str,
    rtol: float,
    atol: float | Floats,
    max_step: float,
    events: Sequence[Event],
    inspect: Inspect | None,
    watch: Callable[[float], None] | None,
) -> None:
    start, end = float(recorder.wanted[0]), float(recorder.wanted[-1])
    if end == start:
        return
    solver = SCIPY[method](f, start, z, end, rtol=rtol, atol=atol, max_step=max_step)
    before = [g(start, z) for g in events]
    stalled = 0
    while solver.status == "running":
        try:
            message = solver.step()
        except ValueError as error:  # implicit methods: not a number in a matrix
            if "NaN" not in str(error):
                raise
            raise _lost(method, recorder, float(solver.t)) from error
        if not np.all(np.isfinite(solver.y)):  # LSODA does not look
            raise _lost(method, recorder, float(solver.t_old))
        stalled = 0 if solver.t > solver.t_old else stalled + 1
        if solver.status == "failed" or stalled > _STALLED:
            why = str(message).rstrip(".") if solver.status == "failed" else _NO_PROGRESS
            raise IntegrationError(
                f"{method} gave up: {why}",
                recorder.trace(),
                float(solver.t),
                remedy=_REMEDY,
            )
        if inspect is not None:
            inspect(float(solver.t), solver.y)
        recorder.steps += 1
        recorder.reached = float(solver.t)
        between = cache(solver.dense_output)  # may take evaluations: made when it is asked for
        stop, before = _first_event(events, before, between, solver.t_old, solver.t, solver.y)
        for t in recorder.due(solver.t if stop is None else stop[0]):
            state = between()(t)
            if not np.all(np.isfinite(state)):  # interpolation may need rates beyond the step
                raise _lost(method, recorder, float(solver.t_old))
            recorder.take(float(t), state)
        if stop is not None:
            recorder.events.append(stop)
            if recorder.time[-1] < stop[0]:
                recorder.take(stop[0], between()(stop[0]))
            return
        if recorder.project is not None and solver.status == "running":
            solver.y = recorder.project(solver.y)
            solver.f = f(solver.t, solver.y)
        if watch is not None:
            watch(float(solver.t))


def _first_event(
    events: Sequence[Event],
    before: list[float],
    between: Callable[[], Callable[[float], Floats]],
    t_old: float,
    t: float,
    z: Floats,
) -> tuple[tuple[float, int] | None, list[float]]:
    """Return the earliest zero of an event in a step, and the values at its end."""
    after = [g(t, z) for g in events]
    found = []
    for i, (g, a, b) in enumerate(zip(events, before, after, strict=True)):
        if a * b < 0 or (b == 0 and a != 0):
            root = t if b == 0 else brentq(lambda s, g=g: g(s, between()(s)), t_old, t, xtol=1e-14)
            found.append((float(root), i))
    return (min(found) if found else None), after


@contextmanager
def _silent_sundials() -> Iterator[None]:
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


def _sundials(
    f: Rate,
    z: Floats,
    recorder: _Recorder,
    method: str,
    rtol: float,
    atol: float | Floats,
    max_step: float,
    events: Sequence[Event],
    inspect: Inspect | None,
    watch: Callable[[float], None] | None,
) -> None:
    from sksundae.cvode import CVODE
    from sksundae.ida import IDA

    def rate(t: float, state: Floats) -> Floats:
        return f(t, np.array(state))  # an error in it passes through to the caller of `step`

    def rhs(t: float, state: Floats, out: Floats) -> None:
        out[:] = rate(t, state)

    def residual(t: float, state: Floats, slope: Floats, out: Floats) -> None:
        out[:] = slope - rate(t, state)

    def events_at(t: float, state: Floats, out: Floats) -> None:
        out[:] = [g(t, np.array(state)) for g in events]

    def events_of_residual(t: float, state: Floats, slope: Floats, out: Floats) -> None:
        events_at(t, state, out)

    options: dict[str, Any] = {
        "rtol": rtol,
        "atol": atol,
        "max_num_steps": 1_000_000,
        "max_step": 0.0 if np.isinf(max_step) else max_step,
    }
    if events:
        read = events_of_residual if method == "IDA" else events_at
        options |= {"eventsfn": read, "num_events": len(events)}
    start = float(recorder.wanted[0])
    if method == "IDA":
        solver = IDA(residual, **options)
        solver.init_step(start, z, rate(start, z))
    else:
        solver = CVODE(rhs, method="Adams" if method == "CVODE-Adams" else "BDF", **options)
        solver.init_step(start, z)
    end = float(recorder.wanted[-1])  # forces may not be known beyond

    def gave_up(why: str) -> IntegrationError:
        what = f"{method} gave up: {why}"
        return IntegrationError(what, recorder.trace(), recorder.reached, remedy=_REMEDY)

    def step(t: float, mode: str) -> Any:
        result = solver.step(t, mode, tstop=end)
        if not result.success:
            raise gave_up(str(result.message).rstrip("."))
        return result

    stalled = 0
    while recorder.reached < end:
        result = step(end, "onestep")
        t, state = float(np.ravel(result.t)[-1]), np.ravel(result.y)
        if t == recorder.reached:  # after times in between the end of the step comes once more
            stalled += 1
            if stalled > _STALLED:
                raise gave_up(_NO_PROGRESS)
            continue
        stalled = 0
        if inspect is not None:
            inspect(t, state)
        recorder.steps += 1
        recorder.reached = t
        for due in recorder.due(t):
            between = state if due >= t else np.ravel(step(float(due), "normal").y)
            recorder.take(float(due), between)
        if result.status == _ROOT:
            values = [abs(g(t, state)) for g in events]
            recorder.events.append((t, int(np.argmin(values))))
            if recorder.time[-1] < t:
                recorder.take(t, state)
            return
        if watch is not None:
            watch(t)
