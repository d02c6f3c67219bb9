"""Integration of ż = f(t, z): SciPy's methods and SUNDIALS behind one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mechid.dynamics.integrators.task import (
    Event,
    Inspect,
    IntegrationError,
    Project,
    Rate,
    Recorder,
    Stages,
    Task,
    Trace,
)
from mechid.dynamics.integrators.with_scipy import SCIPY, integrate_with_scipy
from mechid.dynamics.integrators.with_sundials import (
    SUNDIALS,
    has_sundials,
    integrate_with_sundials,
)
from mechid.errors import DataError, KinematicsError, MechidError
from mechid.kinematics.tables import Floats

METHODS = (*SCIPY, *SUNDIALS)
# After a step of these the state may be moved: they keep no history of earlier steps.
ONE_STEP = ("RK23", "RK45", "DOP853", "Radau")
LEAST_RTOL = 100 * float(np.finfo(float).eps)  # SciPy goes no lower


def integrate(
    f: Rate,
    z: Floats,
    times: Floats,
    *,
    method: str = "DOP853",
    rtol: float = 1e-9,
    atol: float | Floats = 1e-12,
    max_step: float = np.inf,
    project: Project | None = None,
    events: Sequence[Event] = (),
    inspect: Inspect | None = None,
    watch: Callable[[float], None] | None = None,
    stages: Stages | None = None,
) -> Trace:
    """Integrate from times[0] and return the states at all of `times`.

    Parameters
    ----------
    f : callable (t, z) -> ż
    z : array (n,)
        State at times[0].
    times : array (N,), increasing
    method : one of METHODS
    project : callable (t, z) -> z, optional
        Applied to the state after every accepted step (one-step methods only).
    events : callables (t, z) -> float
        The integration stops at the first zero of any of them.
    inspect : callable (t, z), optional
        Called with the state at the end of every step before anything of the step is kept; a
        `MechidError` in it rejects the step and ends the integration.
    watch : callable (t), optional
        Called after every step, for progress; an exception in it ends the integration.
    stages : Stages, optional
        The same f for several stages of an explicit Runge-Kutta method at once.

    Raises
    ------
    IntegrationError
        With the states so far in `trace`.
    """
    wanted = np.asarray(times, dtype=float)
    task = Task(f, z, wanted, method, rtol, atol, max_step, project, events, inspect, watch, stages)
    _check(task)
    recorder = Recorder(task)
    try:
        if not np.all(np.isfinite(f(task.start, z))):
            raise recorder.lost(task.start)
        (integrate_with_scipy if method in SCIPY else integrate_with_sundials)(task, recorder)
    except IntegrationError:
        raise
    except MechidError as error:
        known = error.time if isinstance(error, KinematicsError) else None
        reached = recorder.reached if known is None else known
        raise IntegrationError(
            error.what, recorder.trace(), reached, remedy=error.remedy
        ) from error
    return recorder.trace()


def _check(task: Task) -> None:
    """Reject what integrators do not know, or would replace by something else."""
    if task.method not in METHODS:
        raise MechidError(
            f"unknown integrator '{task.method}'", remedy=f"choose one of {', '.join(METHODS)}"
        )
    if task.method in SUNDIALS and not has_sundials():
        raise MechidError(
            f"{task.method} needs SUNDIALS, and scikit-sundae is not installed",
            remedy=f"choose one of {', '.join(SCIPY)}; or pip install scikit-sundae (on Linux with "
            "an ARM processor, install SUNDIALS itself first)",
        )
    if task.project is not None and task.method not in ONE_STEP:
        raise MechidError(
            f"projection moves the state, which {task.method} cannot follow",
            remedy=f"use one of {', '.join(ONE_STEP)}, or Baumgarte's stabilisation",
        )
    if not LEAST_RTOL <= task.rtol < np.inf:
        raise DataError(
            f"rtol must be a number of at least {LEAST_RTOL:.2g}, got {task.rtol:g}",
            remedy="relative tolerances between 1e-3 and 1e-12 are usual",
        )
    if not np.all((np.asarray(task.atol) >= 0) & np.isfinite(task.atol)):
        raise DataError(f"atol must be ≥ 0, got {task.atol}", remedy="rtol / 100 is usual")
    if not task.max_step > 0:
        raise DataError(f"max_step must be > 0, got {task.max_step:g}")
