"""Memory that is used again: never while somebody can still see what is in it."""

from __future__ import annotations

import gc
import os
import pickle
import threading
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechid.kinematics import memory
from mechid.kinematics.memory import MOST_IDLE, Pool

KB = 128  # numbers of a kilobyte
View = Callable[[np.ndarray], object]


def taken(pool: Pool, n: int) -> np.ndarray:
    found = pool.empty((n,))
    assert found is not None
    return found


def apart(arrays: list[np.ndarray]) -> bool:
    return not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[i + 1 :])


# Requests of some numbers, and releases (negative) of one of the results that are held.
steps = st.lists(st.integers(-8, 40).filter(bool), max_size=60)


@given(steps)
def test_results_that_are_held_never_share_memory(sequence: list[int]) -> None:
    pool, held = Pool(smallest=8, most=100 * 8), []
    for step in sequence:
        if step < 0:
            if held:
                held.pop(step % len(held))
            continue
        held.append(taken(pool, step))
        held[-1].fill(step)
        assert apart(held)
        assert all((x == x.size).all() for x in held)
        assert pool.kept <= pool.most


def test_memory_is_used_again_when_a_result_is_gone() -> None:
    pool = Pool(smallest=8)
    first = taken(pool, KB)
    begin = first.ctypes.data
    second = taken(pool, KB)
    assert second.ctypes.data != begin
    del first
    third = pool.empty((2, KB // 2))
    assert third is not None
    assert third.ctypes.data == begin
    assert third.flags.c_contiguous
    assert third.flags.writeable
    assert third.flags.aligned
    assert pool.kept == 2 * 8 * KB


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[3:5],
        lambda x: x.reshape(2, -1).T[1:],
        memoryview,
        lambda x: x.view(np.int64),
        lambda x: np.asarray(memoryview(x)[10:]),
        lambda x: x.flat,
        lambda x: np.broadcast_to(x, (3, x.size)),
        lambda x: (lambda: x),
    ],
    ids=["slice", "turned", "buffer", "other type", "buffer of a slice", "iterator", "broadcast",
         "closure"],
)  # fmt: skip
def test_views_keep_the_memory(view: View) -> None:
    pool = Pool(smallest=8)
    whole = taken(pool, KB)
    begin, seen = whole.ctypes.data, view(whole)
    del whole
    assert taken(pool, KB).ctypes.data != begin
    del seen
    again = [taken(pool, KB) for _ in range(2)]
    assert begin in {x.ctypes.data for x in again}


def test_a_result_in_a_cycle_keeps_the_memory_until_it_is_collected() -> None:
    pool = Pool(smallest=8)
    gc.disable()
    try:
        cycle: list[object] = [taken(pool, KB)]
        begin = cycle[0].ctypes.data  # type: ignore[attr-defined]
        cycle.append(cycle)
        del cycle
        assert taken(pool, KB).ctypes.data != begin
        gc.collect()
        assert begin in {x.ctypes.data for x in [taken(pool, KB) for _ in range(2)]}
    finally:
        gc.enable()


def test_only_memory_of_about_the_same_size() -> None:
    n = 1000
    least = round((1.0 - MOST_IDLE) * n)
    for wanted, fits in ((n, True), (least, True), (least - 1, False), (n + 1, False)):
        pool = Pool(smallest=8)
        first = taken(pool, n)
        begin = first.ctypes.data
        del first
        second = taken(pool, wanted)
        assert second.size == wanted
        assert (second.ctypes.data == begin) == fits
        assert pool.kept == 8 * (n if fits else n + wanted)


def test_no_more_is_kept_than_allowed() -> None:
    pool = Pool(smallest=8, most=10 * 8 * KB)
    held = [taken(pool, KB) for _ in range(25)]  # more than is kept, all in use
    assert pool.kept == pool.most
    for i, x in enumerate(held):
        x.fill(i)
    assert all((x == i).all() for i, x in enumerate(held))
    assert apart(held)
    assert pool.empty((10 * KB + 1,)) is None
    assert Pool().empty((1000,)) is None
    assert memory.empty((3, 4)).shape == (3, 4)
    assert not memory.zeros((3, 4)).any()


def test_zeros_are_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_pool", Pool(smallest=8))
    spoiled = memory.empty((4, 5))
    spoiled.fill(np.nan)
    begin = spoiled.ctypes.data
    del spoiled
    found = memory.zeros((4, 5))
    assert found.ctypes.data == begin
    assert not found.any()


def test_threads() -> None:
    """Each thread finds in its results what it has written there."""
    pool, wrong = Pool(smallest=8, most=20 * 8 * KB), []

    def work(number: int) -> None:
        rng, held = np.random.default_rng(number), []
        for i in range(300):
            held.append((number + 100 * i, taken(pool, KB - rng.integers(20))))
            held[-1][1].fill(held[-1][0])
            if len(held) > 4:
                value, x = held.pop(rng.integers(len(held)))
                if not (x == value).all():
                    wrong.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert pool.kept <= pool.most


def test_where_the_system_has_no_memory_what_is_kept_is_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = Pool(smallest=8)
    taken(pool, KB)
    empty, refused = np.empty, []

    def scarce(n: int) -> np.ndarray:
        if pool.kept:
            refused.append(n)
            raise MemoryError
        return empty(n)

    monkeypatch.setattr(np, "empty", scarce)
    assert taken(pool, 10 * KB).size == 10 * KB
    assert refused == [10 * KB]
    assert pool.kept == 80 * KB


def test_copies_in_files_and_other_processes_are_plain_arrays() -> None:
    x = taken(Pool(smallest=8), KB)
    x[:] = np.arange(KB)
    copy = pickle.loads(pickle.dumps(x))
    assert np.array_equal(copy, x)
    assert x.copy().flags.owndata


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot copy a process")
def test_a_copy_of_the_process_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(smallest=8)
    monkeypatch.setattr(memory, "_pool", pool)
    memory.empty((KB,))
    with pool._lock:  # as if another thread were at it
        child = os.fork()
        if child == 0:
            fresh = memory._pool is not pool and memory._pool.kept == 0
            os._exit(0 if fresh and memory.empty((1 << 18,)).size else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert memory._pool is pool
