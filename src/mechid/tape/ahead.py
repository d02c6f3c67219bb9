"""Kernels that other processes compile while this one is at work.

Numba compiles one function at a time in a process. Where nothing is compiled yet, the processes
share the work, and meet by the files of `store.py`.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

_at_work: dict[str, subprocess.Popen[bytes]] = {}


def compile_elsewhere(module: str, groups: Sequence[Sequence[str]]) -> None:
    """Start `python -m module NAME …` for each group of kernels, where there is a second core.

    It prints the name of each when it is ready.
    """
    if len(_cores()) < 2 or not sys.executable or _at_work:
        return
    atexit.register(_stop)
    with suppress(OSError):  # no memory for them
        for names in groups:
            process = subprocess.Popen(
                # -P: nothing is taken from the current folder
                [sys.executable, "-P", "-m", module, *names],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            _at_work.update(dict.fromkeys(names, process))


def wait_for(name: str) -> None:
    """Wait until another process has compiled a kernel, if one is about to; it may fail."""
    process = _at_work.pop(name, None)
    if process is None or process.stdout is None:
        return
    for line in process.stdout:
        ready = line.decode().strip()
        if ready == name:
            break
        _at_work.pop(ready, None)
    if process not in _at_work.values():
        process.communicate()


def _stop() -> None:
    """End what nobody waits for any more."""
    for process in set(_at_work.values()):
        process.terminate()
        process.communicate()
    _at_work.clear()


def _cores() -> Sequence[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return range(os.cpu_count() or 1)
