"""The process that runs a job, apart from the server: `python -m mechid.studio.runner JOB`.

JOB is a folder with `job.json`. The runner writes `process.json` (its number and that of the
command), `output.log` and, at the end, `exit.json`. A byte in the file `stop` asks the command to
end, by SIGINT; if it does not, SIGTERM and SIGKILL follow.
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
from typing import Any

PATIENCE = ((signal.SIGTERM, 15.0), (signal.SIGKILL, 20.0))  # s after the first request to stop
STOP = "stop"
_EVERY = 0.2  # s between two looks at that file
_PROGRAM = "from mechid.cli import main; main()"


def run(job: Path) -> None:
    """Run the command of a job to its end."""
    given = json.loads((job / "job.json").read_text(encoding="utf-8"))
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
    _write(job / "process.json", {"runner": os.getpid(), "command": child.pid})
    asked, since, patience = 0, 0.0, list(PATIENCE)
    while True:
        with suppress(subprocess.TimeoutExpired):
            code = child.wait(timeout=_EVERY)
            break
        if _asked(job) > asked:
            since, asked = since or time.monotonic(), asked + 1
            _signal(child.pid, signal.SIGINT)  # the second one makes a command leave at once
        if asked and patience and time.monotonic() - since > patience[0][1]:
            _signal(child.pid, patience.pop(0)[0])
    _signal(child.pid, signal.SIGKILL)  # what it started and left behind
    _write(job / "exit.json", {"code": code, "stopped": bool(asked), "ended": time.time()})


def _asked(job: Path) -> int:
    """Return how often the job was asked to stop: one byte each time."""
    try:
        return (job / STOP).stat().st_size
    except OSError:
        return 0


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _write(path: Path, value: dict[str, Any]) -> None:
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(value), encoding="utf-8")
    beside.replace(path)


if __name__ == "__main__":
    run(Path(sys.argv[1]))
