"""Parts of samples shared out among threads: each once, whatever happens to the threads."""

from __future__ import annotations

import _thread
import time
import weakref
from collections.abc import Callable, Iterator

import numba
import numpy as np
import pytest

from mechid.kinematics.threads import PARTS_PER_THREAD, spread


@pytest.fixture(autouse=True)
def _three_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(numba, "get_num_threads", lambda: 3)
    before = _thread._count()  # tests before this one may have left some
    yield
    assert threads_left(before) <= before


def threads_left(before: int) -> int:
    """Return how many threads are alive after a moment, if more than before."""
    for _ in range(100):
        if _thread._count() <= before:
            break
        time.sleep(0.01)
    return _thread._count()


def counted(n: int, least: int, also: Callable[[int], None] = lambda first: None) -> list[int]:
    """Spread, check that each sample had its turn once, and return the threads that worked."""
    seen, by = np.zeros(n, dtype=int), []

    def run(first: int, last: int) -> None:
        also(first)
        by.append(_thread.get_ident())
        seen[first:last] += 1
        time.sleep(0.002)

    spread(run, n, least)
    assert (seen == 1).all()
    return by


@pytest.mark.parametrize("n", [0, 1, 9, 20, 21, 1000])
def test_each_sample_has_its_turn_once(n: int) -> None:
    by = counted(n, 10)
    assert len(by) == (min(3 * PARTS_PER_THREAD, n // 10) if n >= 20 else 1)


def test_several_threads_work() -> None:
    assert len(set(counted(1000, 10))) > 1


def test_without_memory_to_begin_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """As CPython does it: the thread is there, and ends before its function was called."""
    monkeypatch.setattr(_thread, "start_new_thread", lambda work, given: 0)
    assert set(counted(1000, 10)) == {_thread.get_ident()}


def test_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(work: object, given: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    assert set(counted(1000, 10)) == {_thread.get_ident()}


def test_a_thread_that_begins_late_finds_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    late: list[tuple[Callable[..., None], tuple[object, ...]]] = []
    monkeypatch.setattr(_thread, "start_new_thread", lambda *call: late.append(call))
    counted(1000, 10)
    monkeypatch.undo()
    assert len(late) == 2
    for work, given in late:
        work(*given)


def test_the_error_of_the_first_part_is_raised() -> None:
    def fail(first: int) -> None:
        if first >= 500:
            time.sleep(0.02 if first < 600 else 0.0)
            raise ValueError(f"sample {first}")

    for _ in range(5):
        with pytest.raises(ValueError, match="sample 500"):
            counted(1200, 10, fail)


def test_memory_that_ends_on_the_way() -> None:
    def fail(first: int) -> None:
        if first >= 500:
            raise MemoryError

    with pytest.raises(MemoryError):
        counted(1200, 10, fail)


def test_a_thread_that_has_not_ended_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was worked on can be given back at once."""
    held: list[object] = []
    start = _thread.start_new_thread

    def keep(work: Callable[..., None], given: tuple[object, ...]) -> int:
        held.append(work)
        return start(work, given)

    monkeypatch.setattr(_thread, "start_new_thread", keep)
    seen = np.zeros(1000)
    gone = weakref.ref(seen)
    spread(lambda first, last, x=seen: x[first:last].fill(1.0), len(seen), 10)
    assert seen.all()
    del seen
    assert len(held) == 2
    assert gone() is None
