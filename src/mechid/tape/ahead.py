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

_at_work: dict[str, subprocess.Popen[bytes]] = {}


def compile_elsewhere(module: str, groups: Sequence[Sequence[str]]) -> None:
    """Start `python -m module NAME …` for each group of kernels, where there is a second core."""
    if len(_cores()) < 2 or not sys.executable or _at_work:
        return
    for names in groups:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *names],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _at_work.update(dict.fromkeys(names, process))
    atexit.register(_stop)


def wait_for(name: str) -> None:
    """Wait for the process that compiles a kernel, if there is one; it may fail."""
    process = _at_work.get(name)
    if process is not None:
        process.wait()


def _stop() -> None:
    for process in _at_work.values():
        process.terminate()


def _cores() -> Sequence[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return range(os.cpu_count() or 1)
