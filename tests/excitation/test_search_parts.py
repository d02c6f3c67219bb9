"""Parts of the search for motions, with problems made up of a few numbers: all by hand."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mechid.errors import KinematicsError, MechidError
from mechid.excitation.many_starts import draw_many
from mechid.excitation.optimise import (
    Effort,
    _checked,
    _EnoughError,
    _improve,
    _inside,
    _judged,
    _Search,
)

MODULE: Any = sys.modules[_judged.__module__]
EFFORT = Effort(random=1, starts=1, iterations=20)
Array = np.ndarray


def searching(problem: Any, effort: Effort = EFFORT, **options: Any) -> _Search:
    told = {"watch": None, "stop": lambda: False} | options
    return _Search(problem, effort, **told)


def plain(**more: Any) -> SimpleNamespace:
    """Return a problem whose motion is x itself and whose value is its first number."""
    return SimpleNamespace(
        motion=lambda x: x,
        value=lambda x: float(x[0]),
        mechanism=SimpleNamespace(name="thing"),
        **more,
    )


def one(value: float) -> Array:
    return np.array([value])


# --------------------------------------------------------------------------- what is remembered


def test_the_eight_best_are_remembered_and_progress_is_noted() -> None:
    search = searching(plain())
    for value in (5.0, 7.0, 5.0, 4.0, 9.0, 8.0, 6.0, 10.0, 11.0, 3.0):
        search.offer(value, one(value))
    assert [v for v, _ in search.best] == [3.0, 4.0, 5.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    # Equal values are no progress.
    assert [v for _, v in search.history] == [5.0, 4.0, 3.0]
    times = [t for t, _ in search.history]
    assert times == sorted(times)
    assert 0 <= times[0] <= times[-1] < 60.0


def test_what_is_offered_is_copied() -> None:
    search = searching(plain())
    x = one(1.0)
    search.offer(1.0, x)
    x[0] = 2.0
    assert search.best[0][1] == [1.0]


def test_what_is_said_on_the_way() -> None:
    said: list[tuple[str, int, float]] = []
    search = searching(plain(), watch=lambda *x: said.append(x))
    search.say("random", 1)
    search.offer(4.0, one(4.0))
    search.offer(2.0, one(2.0))
    search.say("start 1", 7)
    assert said == [("random", 1, np.inf), ("start 1", 7, 2.0)]
    searching(plain()).say("random", 1)  # nobody listens


def test_when_it_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(MODULE.clock, "perf_counter", lambda: now[0])
    search = searching(plain(), Effort(1, 1, 1, max_seconds=5.0), began=100.0)
    now[0] = 105.0
    search.check()
    now[0] = 105.1
    with pytest.raises(_EnoughError):
        search.check()
    with pytest.raises(_EnoughError):
        searching(plain(), stop=lambda: True).check()


# ------------------------------------------------------------------------------- the last check


def checking(
    best: list[float], random: list[float], keeps: Callable[[float], float | None],
    monkeypatch: pytest.MonkeyPatch, tried: list[float] | None = None,
) -> tuple[_Search, Any]:  # fmt: skip
    """Return a search with motions that are found to keep the limits as `keeps` makes them."""
    fine = SimpleNamespace(
        design=SimpleNamespace(start=one(0.0)), feasible=lambda x, tolerance: True
    )

    def within(problem: Any, fine: Any, x: Array, inside: Array) -> Array | None:
        if tried is not None:
            tried.append(float(x[0]))
        left = keeps(float(x[0]))
        return None if left is None else one(left)

    monkeypatch.setattr(MODULE, "within", within)
    monkeypatch.setattr(MODULE, "blocked", lambda _: MechidError("blocked"))
    search = searching(plain())
    search.best = [(v, one(v)) for v in best]
    search.random = [(v, one(v)) for v in random]
    return search, fine


def test_the_best_that_is_left_after_shrinking_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    # 1 keeps the limits nowhere, 2 becomes 2.8, 2.5 stays; what is worse than that is not tried.
    tried: list[float] = []
    kept = {1.0: None, 2.0: 2.8, 2.5: 2.5, 2.6: 2.6, 3.0: 3.0}
    search, fine = checking([2.0, 3.0], [2.6, 1.0, 2.5], kept.get, monkeypatch, tried)
    value, x = _checked(search, fine, None, complete=True)
    assert (value, x) == (2.5, [2.5])
    assert tried == [1.0, 2.0, 2.5]


def test_nothing_worse_than_the_start_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[float] = []
    search, fine = checking([1.0, 2.0, 3.0], [], lambda v: v + 5, monkeypatch, tried)
    value, x = _checked(search, fine, one(2.0), complete=True)
    assert (value, x) == (2.0, [2.0])
    assert tried == [1.0]  # one that is as good as the start is not better
    search, fine = checking([1.0], [], lambda v: v + 0.5, monkeypatch)
    assert _checked(search, fine, one(2.0), complete=False)[0] == 1.5


def test_words_where_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    search, fine = checking([1.0], [2.0], lambda _: None, monkeypatch)
    with pytest.raises(MechidError, match=r"thing: no motion was found that also keeps .* between"):
        _checked(search, fine, None, complete=True)
    with pytest.raises(MechidError, match="thing: stopped before a motion within the limits"):
        _checked(search, fine, None, complete=False)
    search, fine = checking([], [], lambda _: None, monkeypatch)
    with pytest.raises(MechidError, match="blocked"):
        _checked(search, fine, None, complete=True)


def test_what_motions_are_shrunk_towards() -> None:
    asked: list[tuple[float, float]] = []

    def fine(*keeping: float) -> Any:
        def feasible(x: Array, tolerance: float) -> bool:
            asked.append((float(x[0]), tolerance))
            return float(x[0]) in keeping

        return SimpleNamespace(design=SimpleNamespace(start=one(0.0)), feasible=feasible)

    search = searching(plain())
    search.random = [(float(v), one(v)) for v in range(10, 20)]
    assert _inside(search, fine(0.0, 3.0), one(3.0)) == [0.0]
    assert _inside(search, fine(3.0, 10.0), one(3.0)) == [3.0]
    assert _inside(search, fine(17.0), None) == [17.0]
    asked.clear()
    # The first eight random motions, and home if nothing keeps the limits.
    assert _inside(search, fine(18.0), None) == [0.0]
    assert asked == [(x, 1e-9) for x in (0.0, *range(10, 18))]


# ----------------------------------------------------------------------------- many at a time


def judging(
    counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, list[int]]:  # fmt: skip
    """Return a judge, who overrates each value by 0.25, and how many motions were asked for."""
    asked: list[int] = []

    def draw(starts: Any, rng: Any, n: int, slacks: Any) -> Array:
        asked.append(n)
        found = counts[len(asked) - 1]
        return 100.0 * len(asked) + np.arange(found, 0.0, -1)[:, None]

    def values(x: Array) -> Array:
        return np.where(x[:, 0] == 105, np.inf, x[:, 0] + 0.25)

    monkeypatch.setattr(MODULE, "Starts", lambda _: None)
    monkeypatch.setattr(MODULE, "draw_many", draw)
    monkeypatch.setattr(MODULE, "blocked", lambda _: MechidError("blocked"))
    return SimpleNamespace(slacks=None, values=values), asked


def test_the_best_of_many_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    judge, asked = judging([10, 2], monkeypatch)
    said: list[int] = []
    effort = Effort(8192 + 100, 1, 1)
    search = searching(plain(), effort, watch=lambda what, k, best: said.append(k))
    found = _judged(search, np.random.default_rng(0), judge, hopeful=False)
    assert asked == [8192, 100]
    assert said == [8192, 8292]
    # Of ten motions 101 … 110 the one of 105 does not close: it is the last. The first eight are
    # looked at again, the others are believed; of the second part both are looked at.
    again = [101.0, 102.0, 103.0, 104.0, 106.0, 107.0, 108.0, 109.0]
    assert [v for v, _ in found] == [*again, 110.25, np.inf, 201.0, 202.0]
    assert [float(x[0]) for _, x in found] == [*again, 110.0, 105.0, 201.0, 202.0]
    assert search.random == found
    # All that the judge saw, and those looked at again.
    assert search.evaluations == 10 + 8 + 2 + 2
    assert [v for v, _ in search.best] == again


@pytest.mark.parametrize(("random", "gives_up"), [(9, False), (10, True)])
def test_when_many_motions_are_hopeless(
    random: int, gives_up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hopeful in (False, True):
        said: list[int] = []
        judge, _ = judging([0], monkeypatch)
        search = searching(plain(), Effort(random, 1, 1), watch=lambda w, k, b, s=said: s.append(k))
        if gives_up and not hopeful:
            with pytest.raises(MechidError, match="blocked"):
                _judged(search, np.random.default_rng(0), judge, hopeful)
        else:
            assert _judged(search, np.random.default_rng(0), judge, hopeful) == []
            assert said == ([] if gives_up else [random])


def test_many_motions_one_by_one_where_the_start_keeps_no_limits() -> None:
    drawn = iter([one(1.0), None, one(3.0)])
    starts = SimpleNamespace(
        room=None,
        problem=SimpleNamespace(design=SimpleNamespace(start=one(0.0), sizes=(1,))),
        draw=lambda rng: next(drawn),
    )
    found = draw_many(starts, np.random.default_rng(0), 3, lambda x: x)
    np.testing.assert_array_equal(found, [[1.0], [3.0]])
    starts.draw = lambda rng: None
    assert draw_many(starts, np.random.default_rng(0), 3, lambda x: x).shape == (0, 1)


def test_a_slack_of_zero_keeps_a_limit_and_nan_does_not() -> None:
    drawn = iter([[0.5, 0.5], [1.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    starts = SimpleNamespace(
        room=np.array([1.0, 1.0]),
        problem=SimpleNamespace(design=SimpleNamespace(start=np.zeros(2), sizes=(1, 1))),
        drawn=lambda rng: np.array(next(drawn)),
    )

    def slacks(x: Array) -> Array:
        slack = 1.0 - np.abs(x)
        slack[np.all(x == 0.0, axis=1)] = np.nan  # home does not close, if it is drawn
        return slack

    found = draw_many(starts, np.random.default_rng(0), 4, slacks)
    # The first two keep the limits as they are; the third is cut down to its limit, nearly; the
    # last cannot be made smaller.
    assert len(found) == 3
    np.testing.assert_array_equal(found[:2], [[0.5, 0.5], [1.0, 0.0]])
    assert 0.8 <= found[2, 0] <= 1.0
    assert found[2, 1] == 0.0


# ------------------------------------------------------------------------------- improvement


def quadratic(
    centre: Array, seen: list[Array], limits: Any = (), size: float = 1.0
) -> SimpleNamespace:
    """Return the problem |x - centre|²/size², with the limit x0 ≤ 1 if there are limits."""

    def motion(x: Array) -> Array:
        seen.append(np.array(x))
        return x

    return SimpleNamespace(
        motion=motion,
        value_and_gradient=lambda x: (
            float(np.sum(((x - centre) / size) ** 2)),
            2 * (x - centre) / size**2,
        ),
        constraints=lambda x: (
            (np.array([1.0 - x[0]]), -np.eye(len(x))[:1])
            if limits
            else (np.zeros(0), np.zeros((0, len(x))))
        ),
        limits=limits,
    )


@pytest.mark.parametrize("start", [[0.5, 100.0, 0.0], [0.0, 0.0, 0.0], [-1e-3, 2e-3, 1e-3]])
def test_improvement_reaches_the_minimum(start: list[float]) -> None:
    seen: list[Array] = []
    x0 = np.array(start)
    size = max(float(np.abs(x0).max()), 1e-9)
    centre = x0 + np.array([0.4, -0.2, 0.3]) * size
    search = searching(quadratic(centre, seen, size=size))
    _improve(search, x0, 0)
    assert search.best[0][0] < 1e-6 < search.history[0][1]
    np.testing.assert_allclose(seen[0], x0, rtol=1e-15)  # as it is given
    # Each look counts as one evaluation with its gradient, and the same place is looked at once.
    assert search.evaluations == search.gradients == len(seen)
    assert len({x.tobytes() for x in seen}) == len(seen)


def test_improvement_keeps_the_limits_and_says_its_steps() -> None:
    seen: list[Array] = []
    said: list[tuple[str, int, float]] = []
    search = searching(
        quadratic(np.array([3.0, 0.5]), seen, ["x0"]), watch=lambda *x: said.append(x)
    )
    _improve(search, np.array([0.5, 0.1]), 4)
    # At the bound, 2 away from the centre: those beyond it by more than 1e-3 are not remembered.
    assert search.best[0][0] == pytest.approx(4.0, abs=5e-3)
    assert all(x[0] <= 1.0 + 1e-3 for _, x in search.best)
    assert [x[:2] for x in said] == [("start 5", k + 1) for k in range(len(said))]
    assert said[-1][2] == search.best[0][0]


def test_violations_up_to_a_thousandth_are_remembered() -> None:
    for slack, kept in ((-1e-3, True), (-1.1e-3, False), (0.0, True)):
        problem = SimpleNamespace(
            motion=lambda x: x,
            value_and_gradient=lambda x: (1.0, np.zeros(1)),
            constraints=lambda x, slack=slack: (np.array([slack]), np.zeros((1, 1))),
            limits=["one"],
        )
        search = searching(problem)
        _improve(search, one(1.0), 0)
        assert bool(search.best) is kept


def test_a_step_that_does_not_close_is_taken_back() -> None:
    """Loops open beyond 1, short of the minimum at 3: the last place before that is found."""
    seen: list[Array] = []
    problem = quadratic(np.array([3.0]), seen)
    inner = problem.motion

    def motion(x: Array) -> Array:
        if x[0] > 1.0:
            raise KinematicsError("does not close")
        return np.asarray(inner(x))

    problem.motion = motion
    search = searching(problem)
    _improve(search, one(0.5), 0)
    assert search.best[0][1][0] <= 1.0
    assert search.best[0][0] <= 2.5**2
    assert search.evaluations > len(seen)  # those that did not close count, too
