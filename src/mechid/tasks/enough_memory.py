"""Whether the work fits in memory, asked before it is begun."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from math import ceil, inf
from pathlib import Path

from mechid.errors import DataError, MechidError

# Address space of commands, GB, for the largest models of the zoo, kernels not compiled yet: 0.17
# and 0.39 were measured of those named here, 0.54 to 1.01 of the others; threads apart.
_NEEDED = {"zoo": 0.2, "template": 0.2, "check": 0.2, "schema": 0.2, "import": 0.4, "fill": 0.4}
_OTHERS = 1.1
_STACK = 8e6  # of a thread, where the system has no limit of it: more than it takes
_ARENAS = -8  # M_ARENA_MAX of mallopt
# Arrays of the size of W that the default estimator holds at once, with weighted rows of every term
# that it tries: 17 to 21 were measured with 50 000 and 150 000 samples.
_COPIES = 20
_CGROUPS = Path("/sys/fs/cgroup")


def refuse_too_little(command: str) -> None:
    """Reject a command for which the address space of this process is too small: before it loads
    much.

    Compilers and libraries that get no memory abort or hang. Where the space is limited, but
    suffices, they are kept from reserving what they do not use.

    Raises
    ------
    MechidError
    """
    limit = _limit()
    if limit == inf:
        return
    needed = 1e9 * _NEEDED.get(command, _OTHERS) + _of_threads()
    if limit < needed:
        raise MechidError(
            f"mechid {command} needs about {needed / 1e9:.2f} GB of address space, the limit is "
            f"{limit / 1e9:.2f} GB",
            remedy=f"raise it: ulimit -v {ceil(needed / 1024)}, or unlimited",
        )
    _reserve_little()


def _limit() -> float:
    """Return the largest address space of this process, bytes; other systems do not count it."""
    if sys.platform == "linux":
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            return limit
    return inf


def _of_threads() -> float:
    """Return what the stacks of one thread for each core take, as Arrow has them."""
    if sys.platform != "linux":
        return 0.0
    import resource

    stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
    return len(os.sched_getaffinity(0)) * (_STACK if stack == resource.RLIM_INFINITY else stack)


def _reserve_little() -> None:
    """Let Arrow reserve no GB at its start, and each thread no 64 MB for a heap of its own."""
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")  # of processes that this one starts
    with suppress(AttributeError, OSError):  # another C library than that of GNU
        ctypes.CDLL(None).mallopt(_ARENAS, 1)


def refuse_too_large(samples: int, forces: int, parameters: int) -> None:
    """Reject a problem whose estimate would need more memory than there is.

    Raises
    ------
    DataError
    """
    needed, there = 8 * _COPIES * samples * forces * (parameters + 1), available_memory()
    if needed > there:
        raise DataError(
            f"{samples} samples of {forces} forces and {parameters} parameters need about "
            f"{needed / 1e9:.3g} GB of memory, {there / 1e9:.3g} GB are available",
            remedy="keep fewer samples (decimation), use parts of the log (FILE@FROM:TO), or "
            "mechid identify-streamed, which reads it in blocks",
        )


def available_memory() -> float:
    """Return the memory that can be had without swapping, bytes; infinite if nobody knows."""
    return min(_of_the_system(), _of_the_container(), _of_the_process())


def _of_the_system() -> float:
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
        (found,) = [line for line in lines if line.startswith("MemAvailable")]
        return 1024.0 * int(found.split()[1])
    except (OSError, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return inf


def _of_the_container() -> float:
    for name in ("memory.max", "memory/memory.limit_in_bytes"):  # control groups 2 and 1
        with suppress(OSError, ValueError):
            return float((_CGROUPS / name).read_text("utf-8").replace("max", "inf"))
    return inf


def _of_the_process() -> float:
    limit = _limit()
    if limit == inf:
        return inf
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    return limit - pages * os.sysconf("SC_PAGE_SIZE")
