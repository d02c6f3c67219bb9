"""Samples shared out among threads; the kernels release the interpreter's lock while they run.

Threads are started when there is work for them and end with it: a team that waits for work, as that
of OpenMP, takes milliseconds to wake up where other processes use the cores.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

# More parts than threads: the parts of a thread that is held up go to another one.
PARTS_PER_THREAD = 4


def spread(run: Callable[[int, int], object], n: int, least: int) -> None:
    """Call run(first, last) for parts of range(n) that are not shorter than `least`.

    As many threads as Numba may use (`numba.set_num_threads`) share the parts; if there is one part
    only, no thread is started.
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
    with ThreadPoolExecutor(threads) as pool:
        for part in [pool.submit(run, first, last) for first, last in pairwise(bounds)]:
            part.result()
