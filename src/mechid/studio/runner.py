"""The process that runs a job, apart from the server: `python -m mechid.studio.runner JOB`.

JOB is a folder with `job.json`. The runner writes `process.json` (its number and that of the
command), `output.log` and, at the end, `exit.json`. SIGINT asks the command to end; if it does not,
SIGTERM and SIGKILL follow.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

PATIENCE = ((signal.SIGTERM, 15.0), (signal.SIGKILL, 20.0))  # s after the first request to stop
_PROGRAM = "from mechid.cli import main; main()"


def run(job: Path) -> None:
    """Run the command of a job to its end."""
    given = json.loads((job / "job.json").read_text(encoding="utf-8"))
    asked: list[float] = []

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(time.monotonic())
        _signal(child.pid, signal.SIGINT)  # the second one makes a command leave at once

    with (job / "output.log").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, *given["argv"]],
            cwd=given["folder"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "MECHID_PROGRESS": str(job / "progress.jsonl"),
                 "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1", "COLUMNS": "100"},
        )  # fmt: skip
    signal.signal(signal.SIGINT, ask)
    signal.signal(signal.SIGTERM, ask)
    _write(job / "process.json", {"runner": os.getpid(), "command": child.pid})
    patience = list(PATIENCE)
    while True:
        with suppress(subprocess.TimeoutExpired):
            code = child.wait(timeout=0.2)
            break
        if asked and patience and time.monotonic() - asked[0] > patience[0][1]:
            _signal(child.pid, patience.pop(0)[0])
    _signal(child.pid, signal.SIGKILL)  # what it started and left behind
    _write(job / "exit.json", {"code": code, "stopped": bool(asked), "ended": time.time()})


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _write(path: Path, value: dict[str, Any]) -> None:
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(value), encoding="utf-8")
    beside.replace(path)


if __name__ == "__main__":
    run(Path(sys.argv[1]))
