"""Runs of pytest in forked processes: what is heavy is loaded once, mechid by each run."""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
_HEAVY = (
    "numpy.testing", "scipy.linalg", "scipy.optimize", "scipy.signal", "scipy.sparse.linalg",
    "scipy.interpolate", "scipy.integrate", "scipy.stats", "numba", "sympy",
    "hypothesis.strategies", "anyio.pytest_plugin",
)  # fmt: skip
_OPTIONS = (
    "-q", "--assert=plain", "--no-header", "--tb=short",
    "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:pytest_cov",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",
)  # fmt: skip
_LONGEST = 1500  # seconds by the clock: a process that sleeps uses no time of the processor


@dataclass(frozen=True)
class Ended:
    """How a run of pytest ended.

    Attributes
    ----------
    status : int
        That of pytest: 0 if all passed; -1 if the time was over.
    seconds : float
        By the clock.
    processor : float
        Time of the processor, s.
    """

    status: int
    seconds: float
    processor: float


def preload() -> None:
    """Load what every run needs, and nothing of mechid."""
    for name in _HEAVY:
        importlib.import_module(name)
    if "mechid" in sys.modules:
        raise AssertionError("mechid must not be loaded before the processes fork")


def run_forked(
    arguments: Sequence[str],
    source: Path,
    output: Path,
    seconds: float,
    plugins: Sequence[Any] = (),
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Run pytest with the mechid of a folder, for `seconds` of processor time at most."""
    begin = time.monotonic()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        _become(source, output, seconds, environment or {})
        status = 99
        try:
            status = int(pytest.main([*_OPTIONS, *arguments], list(plugins)))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    while True:
        found, waited, used = os.wait4(child, os.WNOHANG)
        if found:
            break
        if time.monotonic() - begin > _LONGEST:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.05)
    _end_group(child)
    status = os.waitstatus_to_exitcode(waited)
    return Ended(
        -1 if status in (-signal.SIGXCPU, -signal.SIGKILL) else status,
        time.monotonic() - begin,
        used.ru_utime + used.ru_stime,
    )


def _end_group(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)  # processes that tests started


def _become(source: Path, output: Path, seconds: float, environment: Mapping[str, str]) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.chdir(ROOT)
    os.environ |= {"PYTHONPATH": str(source), "CI": "1", **environment}
    sys.path.insert(0, str(source))
    sys.dont_write_bytecode = False
    if os.environ.get("NUMBA_DISABLE_JIT"):
        importlib.import_module("numba").config.DISABLE_JIT = 1
