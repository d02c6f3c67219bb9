"""What is to be integrated, and what was computed so far."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mechid.errors import MechidError
from mechid.kinematics.tables import Floats

Rate = Callable[[float, Floats], Floats]
Event = Callable[[float, Floats], float]
Project = Callable[[float, Floats], Floats]
Inspect = Callable[[float, Floats], None]

STALLED = 1000  # steps below the rounding of time, which LSODA and SUNDIALS would go on with
NO_PROGRESS = "steps are too short to change the time"
# So many steps within this part of the whole time do not come to an end.
CREEPING, CREEPING_PART = 3000, 1e-5
TOO_SHORT = "steps have become too short to come to an end"
_REMEDY = "loosen the tolerances, or look for a singular pose or an impact there"


@dataclass(frozen=True, eq=False)
class Tableau:
    """Coefficients of an explicit Runge-Kutta method.

    Attributes
    ----------
    A, C : arrays
        Stage s is at t + h C[s], z + h Σ_j A[s, j] K[j].
    last : int
        The stage at the end of the step; those after it only serve the interpolant.
    P : array (n_stages, n_powers)
        Interpolant z + h Σ_sk P[s, k] x^(k+1) K[s] at the part x of the step.
    E5, E3 : arrays (last + 1,)
        Of the estimated error, see `kernels.runge_kutta.error_norm`.
    """

    A: Floats
    C: Floats
    last: int
    P: Floats
    E5: Floats
    E3: Floats


class Stages(Protocol):
    """Evaluates several stages of a step at once, faster than one by one."""

    def run(
        self, table: Tableau, first: int, last: int, t: float, h: float, z: Floats, K: Floats
    ) -> Floats | None:
        """Fill rows first … last - 1 of K with ż at the stages of a step from z at t.

        Returns the state at the last of them; None where they have to be evaluated one by one.
        """


@dataclass(frozen=True, eq=False)
class Task:
    """An integration of ż = f(t, z) from z at times[0]; see `integrate` for the meaning."""

    f: Rate
    z: Floats
    times: Floats
    method: str
    rtol: float
    atol: float | Floats
    max_step: float
    project: Project | None = None
    events: Sequence[Event] = ()
    inspect: Inspect | None = None
    watch: Callable[[float], None] | None = None
    stages: Stages | None = None

    @property
    def start(self) -> float:
        """First time, s."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Last time, s."""
        return float(self.times[-1])


@dataclass(frozen=True)
class Trace:
    """States (N, n) at the wanted times (N,), as far as the integration came."""

    time: Floats
    z: Floats
    steps: int
    events: tuple[tuple[float, int], ...] = ()


class IntegrationError(MechidError):
    """The integration stopped early, at `time`; `trace` holds what was computed until then.

    `last` is the state after the last step, if there was one.
    """

    def __init__(
        self, what: str, trace: Trace, time: float, *, last: Floats | None = None, remedy: str = ""
    ) -> None:
        self.trace = trace
        self.time = time
        self.last = last
        super().__init__(what, where=f"t = {time:g} s", remedy=remedy)


@dataclass
class Recorder:
    """Collects the states of a task at the wanted times."""

    task: Task
    time: list[float] = field(default_factory=list)
    z: list[Floats] = field(default_factory=list)
    steps: int = 0
    reached: float = -np.inf  # end of the last step that was accepted
    last: Floats | None = None  # state there
    events: list[tuple[float, int]] = field(default_factory=list)
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=CREEPING))

    def __post_init__(self) -> None:
        """Take the start."""
        self.take([self.task.start], [self.task.z])
        self.reached = self.task.start

    def take(self, times: Sequence[float], states: Iterable[Floats]) -> None:
        """Keep states."""
        project = self.task.project
        for t, z in zip(times, states, strict=True):
            self.z.append(z.copy() if project is None else project(t, z))
            self.time.append(t)

    def due(self, t: float) -> Floats:
        """Return the wanted times up to t that were not taken yet."""
        times, slack = self.task.times, 1e-12 * max(1.0, abs(t))
        return times[len(self.time) : times.searchsorted(t + slack, "right")]

    def step_to(self, t: float, z: Floats) -> None:
        """Accept a step that ends at t, unless the inspection of the task rejects it."""
        if self.task.inspect is not None:
            self.task.inspect(t, z)
        self.steps += 1
        self.reached, self.last = t, z.copy()
        self.recent.append(t)
        full = len(self.recent) == CREEPING
        if full and t - self.recent[0] < CREEPING_PART * (self.task.end - self.task.start):
            raise self.gave_up(TOO_SHORT, t)

    def stop_at(self, event: tuple[float, int], z: Floats) -> None:
        """End at an event, with the state there."""
        self.events.append(event)
        if self.time[-1] < event[0]:
            self.take([event[0]], [z])

    def trace(self) -> Trace:
        """Return what was computed."""
        return Trace(np.array(self.time), np.array(self.z), self.steps, tuple(self.events))

    def gave_up(self, why: str, t: float) -> IntegrationError:
        """Return the error of an integrator that cannot go on."""
        what = f"{self.task.method} gave up: {why}"
        return IntegrationError(what, self.trace(), t, last=self.last, remedy=_REMEDY)

    def lost(self, t: float) -> IntegrationError:
        """Return the error for rates that are not numbers."""
        return self.gave_up("the rates are not finite numbers", t)
