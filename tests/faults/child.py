"""A command in a forked process, with a fault that happens on the way.

The process of the trials has imported everything and loaded the compiled kernels, so that a trial
costs what the command computes, and no start.
"""

from __future__ import annotations

import ctypes
import io
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from .trees import hash_of

LONGEST = 60.0  # s: what takes longer hangs
_SOURCE = Path(__file__).with_name("interpose.c")


class Mode(IntEnum):
    """What happens at the n-th file operation; as in interpose.c."""

    COUNT = 1
    KILL = 2
    DISK_FULL = 3
    FAIL = 4


@dataclass(frozen=True)
class Fault:
    """A fault: at a file operation (`mode`, `at`, `error`), after a time, or from the start.

    Attributes
    ----------
    mode : Mode
    at : int
        Number of the file operation, from 1.
    error : int
        Of Mode.FAIL: the error number of the system.
    after : float, optional
        The process group is killed after so many seconds.
    start : callable, optional
        Done in the child before the command: limits, another user.
    """

    mode: Mode = Mode.COUNT
    at: int = 0
    error: int = 0
    after: float | None = None
    start: Callable[[], None] | None = None


NONE = Fault()


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes
    ----------
    status : int
        Exit status; negative: killed by this signal.
    out, err : str
    seconds : float
    operations : int
        File operations that were counted, 0 if it was killed.
    versions : frozenset of (str, str)
        Names and hashes of the files that were moved to their places whole.
    """

    status: int
    out: str
    err: str
    seconds: float
    operations: int
    versions: frozenset[tuple[str, str]]

    @property
    def killed(self) -> bool:
        return self.status == -signal.SIGKILL

    @property
    def plain(self) -> bool:
        """Whether the command worked, or ended with one line that says what is wrong."""
        lines = self.err.splitlines()
        errors = [line for line in lines if line.startswith("error: ")]
        if self.status == 0:
            return not errors and "Traceback" not in self.err
        return self.status == 2 and len(errors) == 1 and lines[-1] == errors[0]


def library(folder: Path) -> Path:
    """Compile the library that is preloaded."""
    path = folder / "interpose.so"
    subprocess.run(
        ["gcc", "-O1", "-shared", "-fPIC", "-o", str(path), str(_SOURCE), "-ldl"], check=True
    )
    return path


def warm(argv: tuple[str, ...], folder: Path) -> tuple[int, str]:
    """Run a command in this process, which then has everything that it needs."""
    from mechid.cli import main

    here, err = Path.cwd(), io.StringIO()
    os.chdir(folder)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(err):
            main(list(argv))
    except SystemExit as left:
        return int(left.code or 0), err.getvalue()
    finally:
        os.chdir(here)
    raise AssertionError("main leaves")


@dataclass(frozen=True)
class Started:
    """A command that runs."""

    process: int
    pipe: int
    begin: float
    logs: tuple[Path, Path]
    after: float | None


def start(argv: tuple[str, ...], folder: Path, fault: Fault = NONE, name: str = "0") -> Started:
    """Start a command in a folder."""
    logs = (folder.parent / f"{name}.out", folder.parent / f"{name}.err")
    reading, writing = os.pipe()
    sys.stdout.flush()
    begin = time.monotonic()
    process = os.fork()
    if process == 0:
        _child(argv, folder, fault, logs, writing)
    os.close(writing)
    with suppress(OSError):
        os.setpgid(process, process)
    return Started(process, reading, begin, logs, fault.after)


def wait(started: Started) -> Ended:
    """Wait for its end; kill it at its time, or when it hangs."""
    limit = LONGEST if started.after is None else started.after
    ready, _, _ = select.select([started.pipe], [], [], limit)  # it ends by closing the pipe
    if not ready:
        with suppress(ProcessLookupError):
            os.killpg(started.process, signal.SIGKILL)
    told = b""
    while part := os.read(started.pipe, 65536):
        told += part
    os.close(started.pipe)
    _, status = os.waitpid(started.process, 0)
    lines = told.decode().splitlines()
    return Ended(
        status=-signal.SIGALRM if not ready and started.after is None
        else os.waitstatus_to_exitcode(status),
        out=started.logs[0].read_text("utf-8", "replace") if started.logs[0].exists() else "",
        err=started.logs[1].read_text("utf-8", "replace") if started.logs[1].exists() else "",
        seconds=time.monotonic() - started.begin,
        operations=int(lines[0]) if lines else 0,
        versions=frozenset(tuple(x.split("\t")) for x in lines[1:]),  # type: ignore[misc]
    )  # fmt: skip


def run(argv: tuple[str, ...], folder: Path, fault: Fault = NONE) -> Ended:
    """Run a command in a folder with a fault."""
    return wait(start(argv, folder, fault))


def _child(
    argv: tuple[str, ...], folder: Path, fault: Fault, logs: tuple[Path, Path], told: int
) -> None:
    status = 70
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number, path in zip((1, 2), logs, strict=True):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), number)
        os.chdir(folder)
        status, operations, versions = _command(argv, folder, fault)
        lines = [str(operations), *("\t".join(x) for x in versions)]
        os.write(told, "\n".join(lines).encode())
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with suppress(BaseException):
            sys.stderr.flush()
        os._exit(status)


def _command(
    argv: tuple[str, ...], folder: Path, fault: Fault
) -> tuple[int, int, set[tuple[str, str]]]:
    from mechid.cli import main

    versions: set[tuple[str, str]] = set()
    root = os.path.realpath(folder)

    def moved(event: str, values: tuple[object, ...]) -> None:
        if event == "os.rename":
            content = Path(os.fspath(values[0])).read_bytes()  # type: ignore[call-overload]
            name = os.path.relpath(os.path.realpath(os.fspath(values[1])), root)  # type: ignore[call-overload]
            versions.add((name, hash_of(content)))

    if fault is NONE:
        sys.addaudithook(moved)
    if fault.start is not None:
        fault.start()
    faults = ctypes.CDLL(None)
    faults.fault_arm(root.encode(), int(fault.mode), fault.at, fault.error)
    status = 0
    try:
        main(list(argv))
    except SystemExit as left:
        status = int(left.code or 0)
    operations = faults.fault_count()
    faults.fault_arm(b"/", 0, 0, 0)
    return status, operations, versions
