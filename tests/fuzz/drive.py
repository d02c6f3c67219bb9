"""Trying many cases with a process that may hang, crash or take too much memory."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

REPOSITORY = Path(__file__).parents[2]
SECONDS = 5.0  # of processor time that a case may take
_WAIT = 60.0  # s by the clock, for a case that does nothing
_START = 300.0  # s by the clock, for the seeds of a kind
_FRAME = re.compile(r'File ".*/mechid/(.+?)", line (\d+) in (\w+)')
_KEPT = 2  # files of the same cause


@dataclass
class Tally:
    """What came of the cases of a kind.

    Attributes
    ----------
    accepted, refused : int
    commands : int
        How many of all cases went through the command line.
    thorough : int
        How many of all cases were tried with every accepted file taken further.
    defects : counter of causes
    seconds, memory : float
        Most processor time of a case, s, and growth of the largest memory in use, MiB.
    slowest : int
        Number of the case that took the most time.
    """

    accepted: int = 0
    refused: int = 0
    commands: int = 0
    thorough: int = 0
    defects: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    memory: float = 0.0
    slowest: int = 0

    @property
    def cases(self) -> int:
        """How many cases were tried."""
        return self.accepted + self.refused + self.defects.total()

    def add(self, later: Tally) -> None:
        """Count more cases of the same kind."""
        self.accepted += later.accepted
        self.refused += later.refused
        self.commands += later.commands
        self.thorough += later.thorough
        self.defects += later.defects
        if later.seconds > self.seconds:
            self.seconds, self.slowest = later.seconds, later.slowest
        self.memory = max(self.memory, later.memory)


class Driver:
    """Runs cases in a worker, which is started again where one was killed.

    Parameters
    ----------
    scratch : Path
        Folder for the files of the cases.
    failures : Path
        Folder for the files that show a defect.
    thorough : bool
        Whether all accepted files are taken further, and more go through the command line.
    """

    def __init__(self, scratch: Path, failures: Path, thorough: bool = False) -> None:
        self.scratch, self.failures, self.thorough = scratch, failures, thorough
        self._worker: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            os.killpg(self._worker.pid, signal.SIGKILL)
            self._ended()

    def _ended(self) -> int:
        """Return the status of the worker, which has ended."""
        assert self._worker is not None
        with self._worker:  # closes its pipes
            code = self._worker.wait()
        self._worker = None
        return code

    def run(self, kind: str, seed: int, start: int, stop: int, tally: Tally) -> None:
        """Try some cases of a kind and count what comes of them."""
        while start < stop:
            if self._worker is None:
                self._begin()
            task = {"kind": kind, "seed": seed, "start": start, "stop": stop}
            self._ask(task | {"thorough": self.thorough})
            ready = False
            for answer in self._answers():
                if answer is None:
                    if not ready:
                        raise RuntimeError(f"the seeds of {kind} failed:\n{self._stacks()}")
                    self._count(kind, seed, start, self._lost(kind), tally)
                    start += 1
                    break
                if "ready" in answer:
                    ready = True
                    continue
                self._count(kind, seed, answer["number"], answer, tally)
                start = answer["number"] + 1
                if start == stop:
                    break

    def _count(
        self, kind: str, seed: int, number: int, found: dict[str, Any], tally: Tally
    ) -> None:
        result, words = found["result"], found["words"]
        tally.commands += found.get("command", False)
        tally.thorough += self.thorough
        if result in ("accepted", "refused"):
            setattr(tally, result, getattr(tally, result) + 1)
            if found["seconds"] > tally.seconds:
                tally.seconds, tally.slowest = found["seconds"], number
            tally.memory = max(tally.memory, found["memory"] / 2**20)
            return
        # Numbers and paths differ between files that have the same defect.
        cause = f"{result}: {re.sub(r'[0-9]{4,}|/[^ ]*/', '…', words.splitlines()[0][:160])}"
        tally.defects[cause] += 1
        if tally.defects[cause] <= _KEPT:
            folder = self.failures / f"{kind}-{seed}-{number}"
            folder.mkdir(parents=True, exist_ok=True)
            again = f"python -m tests.fuzz {kind} --seed {seed} --case {number}"
            again += " --thorough\n" if self.thorough else "\n"
            (folder / "cause.txt").write_text(f"{again}{result}: {words}\n", "utf-8")
            if "data" in found:
                name = Path(found["name"]).name
                (folder / name).write_bytes(bytes.fromhex(found["data"]))

    def _begin(self) -> None:
        with (self.scratch / "worker.log").open("wb") as log:
            self._worker = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.worker", str(self.scratch)],
                cwd=REPOSITORY,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._rest = b""

    def _ask(self, task: dict[str, Any]) -> None:
        assert self._worker is not None
        assert self._worker.stdin is not None
        self._worker.stdin.write(json.dumps(task).encode() + b"\n")
        self._worker.stdin.flush()

    def _answers(self) -> Iterator[dict[str, Any] | None]:
        """Yield answers; None when there will be none, because the worker is dead or killed."""
        assert self._worker is not None
        assert self._worker.stdout is not None
        pipe = self._worker.stdout.fileno()
        last, silent, ready = time.monotonic(), None, False
        while True:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                answer = json.loads(line)
                ready = ready or "ready" in answer
                yield answer
                last, silent = time.monotonic(), None
            if select.select([pipe], [], [], 0.5)[0]:
                data = os.read(pipe, 1 << 20)
                if not data:
                    yield None
                    return
                self._rest += data
                continue
            waited = time.monotonic() - last
            now = self._processor()
            silent = now if silent is None else silent
            long = waited > (_WAIT if ready else _START)
            if not long and (not ready or now - silent < SECONDS):
                continue
            if self._compiles() and waited < _START:
                silent = now  # once on a machine, which is no defect of a file
                continue
            os.killpg(self._worker.pid, signal.SIGKILL)
            yield None
            return

    def _compiles(self) -> bool:
        """Let the worker write down where it is, and tell whether it compiles kernels."""
        assert self._worker is not None
        before = (self.scratch / "stacks").stat().st_size
        self._worker.send_signal(signal.SIGUSR1)
        time.sleep(0.5)
        with (self.scratch / "stacks").open("rb") as file:
            file.seek(before)
            return b"/numba/" in file.read()

    def _processor(self) -> float:
        """Return the processor time of the worker and its children, s."""
        assert self._worker is not None
        total = 0.0
        try:
            process = psutil.Process(self._worker.pid)
            for one in (process, *process.children(recursive=True)):
                spent = one.cpu_times()
                total += spent.user + spent.system
        except psutil.Error:
            pass
        return total

    def _lost(self, kind: str) -> dict[str, Any]:
        """Say how the worker ended, by hanging or crashing, and with which file."""
        code = self._ended()
        if code > 0:
            raise RuntimeError(f"the harness failed:\n{self._stacks()}")
        stack = (self.scratch / "stacks").read_text("utf-8", "replace").rpartition("most recent")[2]
        own = _FRAME.findall(stack)
        place = f"in {own[0][0]}:{own[0][1]} {own[0][2]}" if own else "nowhere in mechid"
        files = [x for x in (self.scratch / "case" / kind).rglob("*") if x.is_file()]
        last = max(files, key=lambda x: x.stat().st_mtime_ns)
        return {
            "result": "hang" if code == -signal.SIGKILL else f"crash ({code})",
            "words": place,
            "name": last.name,
            "data": last.read_bytes().hex(),
        }

    def _stacks(self) -> str:
        texts = [self.scratch / "stacks", self.scratch / "worker.log", self.scratch / "terminal"]
        return "\n".join(x.read_text("utf-8", "replace")[-3000:] for x in texts if x.exists())
