"""Samples shared out among threads; the kernels release the interpreter's lock while they run.

Threads are started when there is work for them and end with it: a team that waits for work, as that
of OpenMP, takes milliseconds to wake up where other processes use the cores.

The calling thread works, too, and waits for none that has not begun: `threading.Thread.start`, and
with it the executors of Python, wait for ever for a thread that had no memory to begin.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

# More parts than threads: the parts of a thread that is held up go to another one.
PARTS_PER_THREAD = 4


def spread(run: Callable[[int, int], object], n: int, least: int) -> None:
    """Call run(first, last) for parts of range(n) that are not shorter than `least`.

    As many threads as Numba may use (`numba.set_num_threads`) share the parts; if there is one part
    only, no thread is started. Of several errors, that of the first part is raised.
    """
    threads = 1
    if n >= 2 * least:
        import numba

        threads = numba.get_num_threads()
    parts = min(PARTS_PER_THREAD * threads, n // least)
    if threads == 1 or parts <= 1:
        run(0, n)
        return
    bounds = [n * i // parts for i in range(parts + 1)]
    left = iter(list(enumerate(pairwise(bounds))))  # each part is taken once
    # Emptied at the end, so that a thread that has not ended holds no arrays of the caller.
    task = [run]
    taking = _thread.allocate_lock()
    # What became of each part; a thread that cannot even note it down is out of memory.
    ended: list[BaseException | None] = [MemoryError()] * parts

    def work(at_work: _thread.LockType) -> None:
        if not at_work.acquire(blocking=False):  # began when all was done
            return
        try:
            while True:
                with taking:
                    part = next(left, None)
                if part is None:
                    return
                try:
                    task[0](*part[1])
                    ended[part[0]] = None
                except BaseException as error:
                    ended[part[0]] = error
                    return
        finally:
            at_work.release()

    helpers = [_thread.allocate_lock() for _ in range(threads - 1)]
    for at_work in helpers:
        with suppress(RuntimeError, MemoryError):  # no thread can be started: fewer work
            _thread.start_new_thread(work, (at_work,))
    try:
        work(_thread.allocate_lock())
    finally:
        for at_work in helpers:
            at_work.acquire()
        task.clear()
    for error in ended:
        if error is not None:
            raise error
