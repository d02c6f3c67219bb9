"""A scheduler and workers as processes of their own, to be killed and started again."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@dataclass
class DaskProcesses:
    """`dask scheduler` and some `dask worker`, which keep their files in `folder`."""

    folder: Path
    port: int = field(default_factory=free_port)
    scheduler: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            command = [sys.executable, "-m", "dask", *words]
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def start(self, workers: int = 2) -> None:
        at = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-show"]
        self.scheduler = self._start("scheduler", *at)
        for _ in range(workers):
            self.start_worker()

    def start_worker(self) -> None:
        words = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--death-timeout", "60")
        local = ("--local-directory", str(self.folder))
        self.workers.append(self._start("worker", self.address, *words, *local))

    def kill(self) -> None:
        """Kill the scheduler and all workers, at once and without notice."""
        _kill(self.scheduler, *self.workers)
        self.scheduler, self.workers = None, []

    def kill_workers(self) -> None:
        """Kill all workers, and leave the scheduler."""
        _kill(*self.workers)
        self.workers = []


def _kill(*processes: subprocess.Popen[bytes] | None) -> None:
    running = [process for process in processes if process is not None]
    for process in running:
        process.kill()
    for process in running:
        process.wait()


def wait_until(what: object, seconds: float = 60.0) -> None:
    """Wait until a function returns something true."""
    end = time.monotonic() + seconds
    while not what():  # type: ignore[operator]
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)
