"""Random search, then sequential quadratic programming from the best starts; the best is kept."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mechid.errors import KinematicsError, MechidError
from mechid.excitation.finer import ROUNDING, finer, within
from mechid.excitation.many_starts import draw_many
from mechid.excitation.problem import DesignProblem
from mechid.excitation.starts import Starts, blocked
from mechid.excitation.trajectory import Trajectory
from mechid.kinematics.tables import Floats
from mechid.shown import Shown

Watch = Callable[[str, int, float], None]

_OUT_OF_REACH = 1e3  # added to the value of a motion that does not close: the step is rejected
# Times the largest coefficient that a step starts from: no motion within limits is so large, and to
# follow a mechanism there takes minutes.
_FAR = 100.0
_HOPELESS = 10  # random motions, none of which keeps the limits however small it is made
_MENDED = 1e-3  # the same: violations at samples that the last check takes away at little cost
_KEPT = 8  # best motions that are remembered for the last check
_AT_ONCE = 8192  # random motions that a judge gets at a time


@dataclass(frozen=True)
class Effort:
    """How long to search.

    Attributes
    ----------
    random : int
        Random motions that are tried first.
    starts : int
        Of the best of them, how many are improved.
    iterations : int
        Steps of the gradient stage per start.
    max_seconds : float
        For all of it.
    """

    random: int
    starts: int
    iterations: int
    max_seconds: float = np.inf


@dataclass(frozen=True, eq=False, repr=False)
class Excitation(Shown):
    """A designed motion.

    Attributes
    ----------
    trajectory : Trajectory
    x : array (n_x,)
    value : float
        Of the criterion.
    random_values : array
        Criterion of all feasible random motions.
    history : tuple of (float, float)
        (seconds, best value) whenever it got better; the last check of the limits may cost a
        little of it.
    evaluations, gradients : int
    seconds : float
    complete : bool
        False if time ran out or the user stopped it.
    """

    trajectory: Trajectory
    x: Floats
    value: float
    random_values: Floats
    history: tuple[tuple[float, float], ...]
    evaluations: int
    gradients: int
    seconds: float
    complete: bool


class Judge(Protocol):
    """Limits and criterion of many motions x (n, n_x) at once, as `DeviceJudge`."""

    def slacks(self, x: Floats) -> Floats:
        """Return the least slack of each limit, (n, limits); nan where a motion does not close."""

    def values(self, x: Floats) -> Floats:
        """Return the criterion, (n,); inf where a motion does not close."""


class _EnoughError(Exception):
    """Time is up, or the user stopped the search."""


@dataclass
class _Search:
    problem: DesignProblem
    effort: Effort
    watch: Watch | None
    stop: Callable[[], bool]
    began: float = field(default_factory=clock.perf_counter)
    best: list[tuple[float, Floats]] = field(default_factory=list)
    random: list[tuple[float, Floats]] = field(default_factory=list)
    history: list[tuple[float, float]] = field(default_factory=list)
    evaluations: int = 0
    gradients: int = 0

    def check(self) -> None:
        if self.stop() or clock.perf_counter() - self.began > self.effort.max_seconds:
            raise _EnoughError

    def offer(self, value: float, x: Floats) -> None:
        """Remember a motion within limits, or nearly so, if it is one of the best so far."""
        if not self.best or value < self.best[0][0]:
            self.history.append((clock.perf_counter() - self.began, value))
        self.best.append((value, x.copy()))
        self.best.sort(key=lambda found: found[0])
        del self.best[_KEPT:]

    def say(self, what: str, step: int) -> None:
        if self.watch is not None:
            self.watch(what, step, self.best[0][0] if self.best else np.inf)


def optimise(
    problem: DesignProblem,
    effort: Effort,
    *,
    seed: int = 0,
    start: Floats | None = None,
    watch: Watch | None = None,
    stop: Callable[[], bool] = lambda: False,
    judge: Judge | None = None,
) -> Excitation:
    """Design a motion.

    Parameters
    ----------
    problem : DesignProblem
    effort : Effort
    seed : int
    start : array (n_x,), optional
        A motion to go on from, instead of the home pose.
    watch : callable (stage, step, best value), optional
    stop : callable, optional
        Called between evaluations; True ends with the best motion so far.
    judge : Judge, optional
        Who looks at the random motions, many at a time; those it finds best are looked at again.

    Raises
    ------
    MechidError
        Naming the limit that blocks it, if no motion is found that keeps all limits.
    """
    search = _Search(problem, effort, watch, stop)
    rng = np.random.default_rng(seed)
    fine = finer(problem)
    found: list[tuple[float, Floats]] = []
    complete = True
    first = None if start is None else within(problem, fine, start, problem.design.start)
    try:
        if first is not None:
            found.append((_value(search, first), first))
        if judge is None:
            found += _random(search, rng, hopeful=bool(found))
        else:
            found += _judged(search, rng, judge, hopeful=bool(found))
        found.sort(key=lambda f: f[0])
        for k, (_, x) in enumerate(found[: effort.starts]):
            _improve(search, x, k)
    except _EnoughError:
        complete = False
    value, x = _checked(search, fine, first, complete)
    return Excitation(
        trajectory=problem.design.at(x),
        x=x,
        value=value,
        random_values=np.array([v for v, _ in search.random]),
        history=tuple(search.history),
        evaluations=search.evaluations,
        gradients=search.gradients,
        seconds=clock.perf_counter() - search.began,
        complete=complete,
    )


def _checked(
    search: _Search, fine: DesignProblem, first: Floats | None, complete: bool
) -> tuple[float, Floats]:
    """Return the best motion that keeps the limits between the samples too, and its value."""
    problem = search.problem
    best: tuple[float, Floats] | None = None
    if first is not None:  # it has been looked at already, and nothing worse is returned
        best = (problem.value(problem.motion(first)), first)
    inside = _inside(search, fine, first)
    for value, found in sorted([*search.best, *search.random], key=lambda f: f[0]):
        if best is not None and value >= best[0]:
            break
        x = within(problem, fine, found, inside)
        if x is not None:
            value = problem.value(problem.motion(x))
            if best is None or value < best[0]:
                best = (value, x)
    if best is not None:
        return best
    if not complete:
        raise MechidError(
            "stopped before a motion within the limits was found",
            where=problem.mechanism.name,
            remedy="allow more time",
        )
    if search.best:
        raise MechidError(
            "no motion was found that also keeps the limits between the samples",
            where=problem.mechanism.name,
            remedy="use more samples",
        )
    raise blocked(problem)


def _value(search: _Search, x: Floats) -> float:
    search.check()
    search.evaluations += 1
    value = search.problem.value(search.problem.motion(x))
    search.offer(value, x)
    return value


def _random(search: _Search, rng: np.random.Generator, hopeful: bool) -> list[tuple[float, Floats]]:
    """Draw motions within limits, and take their values.

    `hopeful`: there is a motion to improve, whether or not one of these is found.
    """
    found: list[tuple[float, Floats]] = []
    starts = Starts(search.problem)
    for k in range(search.effort.random):
        x = starts.draw(rng, search.check)
        if x is not None:
            found.append((_value(search, x), x))
            search.random.append(found[-1])
        elif not found and k + 1 >= _HOPELESS:
            if hopeful:
                break
            raise blocked(search.problem)
        search.say("random", k + 1)
    return found


def _judged(
    search: _Search, rng: np.random.Generator, judge: Judge, hopeful: bool
) -> list[tuple[float, Floats]]:
    """Do what `_random` does, many motions at a time."""
    found: list[tuple[float, Floats]] = []
    starts, count = Starts(search.problem), search.effort.random
    for first in range(0, count, _AT_ONCE):
        search.check()
        n = min(_AT_ONCE, count - first)
        x = draw_many(starts, rng, n, judge.slacks)
        values = judge.values(x)
        search.evaluations += len(x)
        order = np.argsort(values, kind="stable")
        best = [(_value(search, x[i]), x[i]) for i in order[:_KEPT] if np.isfinite(values[i])]
        found += best + [(float(values[i]), x[i]) for i in order[_KEPT:]]
        if not found and first + n >= _HOPELESS:
            if hopeful:
                break
            raise blocked(search.problem)
        search.say("random", first + n)
    search.random += found
    return found


def _improve(search: _Search, x0: Floats, number: int) -> None:
    """Improve a feasible motion by sequential quadratic programming."""
    from scipy.optimize import minimize

    problem = search.problem
    cache: dict[bytes, tuple[float, Floats, Floats, Floats]] = {}
    scale = np.maximum(np.abs(x0), 0.1 * max(float(np.abs(x0).max(initial=0.0)), 1e-9))

    def look(z: Floats) -> tuple[float, Floats, Floats, Floats]:
        key = z.tobytes()
        if key not in cache:
            search.check()
            x = z * scale
            search.evaluations += 1
            search.gradients += 1
            try:
                if np.abs(z).max(initial=0.0) > _FAR:
                    raise KinematicsError("the motion is far out of reach")
                motion = problem.motion(x)
                value, gradient = problem.value_and_gradient(motion)
                slack, rows = problem.constraints(motion)
            except KinematicsError:
                assert cache, "the motion it starts from has been solved before"
                last = next(reversed(cache.values()))
                return (abs(last[0]) + _OUT_OF_REACH, last[1], last[2] - 1.0, last[3])
            if slack.min(initial=np.inf) >= -_MENDED:
                search.offer(value, x)
            cache[key] = (value, gradient * scale, slack, rows * scale)
        return cache[key]

    steps = 0

    def report(_: Floats) -> None:
        nonlocal steps
        steps += 1
        search.say(f"start {number + 1}", steps)

    # Start inside, so that the first look has something to go back to.
    minimize(
        lambda z: look(z)[0],
        x0 / scale,
        jac=lambda z: look(z)[1],
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": lambda z: look(z)[2], "jac": lambda z: look(z)[3]}]
        if problem.limits
        else (),
        callback=report,
        options={"maxiter": search.effort.iterations, "ftol": 1e-9},
    )


def _inside(search: _Search, fine: DesignProblem, first: Floats | None) -> Floats:
    """Return a motion that keeps the limits, to shrink others towards it: home, if it does."""
    home = fine.design.start
    known = [home, *([] if first is None else [first]), *(x for _, x in search.random[:_KEPT])]
    return next((x for x in known if fine.feasible(x, tolerance=ROUNDING)), home)
