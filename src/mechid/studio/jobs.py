"""Jobs: commands in processes of their own, known by their folders only.

    FOLDER/.mechid-studio/jobs/ID/
        job.json        command, title, when it was started
        process.json    numbers of the processes
        output.log      what the command prints
        progress.jsonl  how far it is, one line of JSON each
        stop            a byte for every request to stop
        exit.json       how it ended

Nothing about a job is kept in the server: after a crash the next one finds everything here.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mechid.errors import DataError
from mechid.runs.files import read_json, write_json
from mechid.studio.folder import HIDDEN, Folder
from mechid.studio.refused import RefusedError
from mechid.studio.runner import STOP
from mechid.studio.worker import python

MOST_RUNNING = 8
_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
_START = 10.0  # s within which a runner has written its number


@dataclass(frozen=True, eq=False)
class Jobs:
    """The jobs of a folder."""

    folder: Folder

    @property
    def place(self) -> Path:
        """Where they are."""
        return self.folder.root / HIDDEN / "jobs"

    def start(self, command: str, argv: Sequence[str], title: str, outputs: Sequence[str]) -> str:
        """Start a command and return the name of its job.

        Parameters
        ----------
        command : str
            Its name.
        argv : sequence of str
            The command line, without `mechid`.
        title : str
        outputs : sequence of str
            Paths that it writes, relative to the folder.

        Raises
        ------
        RefusedError
            If too many jobs run already.
        """
        if sum(job["state"] == "running" for job in self.all()) >= MOST_RUNNING:
            raise RefusedError(
                409, f"{MOST_RUNNING} jobs are running", remedy="wait for one, or stop it"
            )
        name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
        job = self.place / name
        job.mkdir(parents=True)
        write_json(
            job / "job.json",
            {
                "command": command,
                "argv": list(argv),
                "folder": str(self.folder.root),
                "title": title,
                "outputs": list(outputs),
                "created": time.time(),
            },
        )
        runner = subprocess.Popen(
            python("mechid.studio.runner", str(job)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder.root,
            start_new_session=True,  # Ctrl-C in the terminal of the server is not for jobs
        )
        threading.Thread(target=runner.wait, daemon=True).start()  # so that no zombie is left
        return name

    def all(self) -> list[dict[str, Any]]:
        """Return all jobs, the latest first."""
        if not self.place.is_dir():
            return []
        names = sorted((p.name for p in self.place.iterdir()), reverse=True)
        found = []
        for name in names:
            with suppress(RefusedError, DataError):
                found.append(self.get(name))
        return found

    def get(self, name: str) -> dict[str, Any]:
        """Return a job: what it is, and how it stands.

        `state` is running, done, failed, stopped, or lost (ended without a word, for instance
        because the machine was switched off).

        Raises
        ------
        RefusedError
            If there is none of this name.
        """
        job = self.at(name)
        given = read_json(job / "job.json")
        state, code, ended = self._state(job, float(given["created"]))
        return {
            "id": name,
            "command": given["command"],
            "line": shlex.join(["mechid", *given["argv"]]),
            "title": given["title"],
            "outputs": given["outputs"],
            "created": given["created"],
            "state": state,
            "code": code,
            "ended": ended,
        }

    def at(self, name: str) -> Path:
        """Return the folder of a job."""
        if not _ID.fullmatch(name) or not (self.place / name / "job.json").is_file():
            raise RefusedError(404, "there is no such job")
        return self.place / name

    def stop(self, name: str) -> None:
        """Ask a job to end; asking again makes it end at once."""
        if self.get(name)["state"] == "running":
            with (self.at(name) / STOP).open("ab") as file:
                file.write(b".")

    def _state(self, job: Path, created: float) -> tuple[str, int | None, float | None]:
        # In this order: a job may end between two looks at it.
        alive = (
            _runs(job) if (job / "process.json").is_file() else 0 <= time.time() - created < _START
        )
        if (job / "exit.json").is_file():
            end = read_json(job / "exit.json")
            code = end["code"]
            state = "done" if code == 0 else "stopped" if end["stopped"] else "failed"
            return state, code, end["ended"]
        return ("running" if alive else "lost"), None, None


def _runs(job: Path) -> bool:
    """Tell whether the runner of a job is there, and not another process with its number."""
    number = read_json(job / "process.json")["runner"]
    if Path("/proc/self/cmdline").exists():
        with suppress(OSError):
            return os.fsencode(job) in Path(f"/proc/{number}/cmdline").read_bytes()
        return False
    try:
        os.kill(number, 0)
    except OSError:
        return False
    return True
