"""Files that mechid reads in processes of their own, which cost 1 s to start: forked instead.

Processes are forked from a small one, which has loaded the libraries and nothing else:
`python -m tests.fuzz.apart_server`. Each reads some files one after the other, since forking takes
longer than reading; one that a file has ended is followed by another, as is one that has read many.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

from mechid.measurementfile import apart

FILES = 50  # that a process reads: what a damaged one leaves behind ends with it


class Forking:
    """Stands in for the module `subprocess` in `mechid.measurementfile.apart`.

    Attributes
    ----------
    seconds : float
        Processor time of all processes so far.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._server: subprocess.Popen[bytes] | None = None

    def run(self, command: list[str], **_: Any) -> Any:
        """Return status and answer of the process that this command would start."""
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-m", __name__],
                cwd=Path(__file__).parents[2],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        pickle.dump(command[2:], self._server.stdin)
        self._server.stdin.flush()
        status, data, seconds = pickle.load(self._server.stdout)
        self.seconds += seconds
        return SimpleNamespace(returncode=status, stdout=data)

    def close(self) -> None:
        """End the processes."""
        if self._server is not None:
            self._server.communicate()


class _Reader:
    """A forked process that reads files."""

    def __init__(self) -> None:
        ours, theirs = os.pipe(), os.pipe()
        self.files = 0
        self._used = 0.0
        self._child = os.fork()
        if not self._child:
            try:
                with os.fdopen(ours[0], "rb") as questions, os.fdopen(theirs[1], "wb") as out:
                    os.close(ours[1])
                    os.close(theirs[0])
                    _serve(questions, out)
            finally:
                os._exit(0)
        os.close(ours[0])
        os.close(theirs[1])
        self._questions, self._answers = os.fdopen(ours[1], "wb"), os.fdopen(theirs[0], "rb")

    def read(self, script: str, path: str) -> tuple[int, bytes, float]:
        """Return status, answer and processor time; a status below 0 is a signal: it has ended."""
        self.files += 1
        pickle.dump((script, path), self._questions)
        self._questions.flush()
        try:
            status, data, seconds = pickle.load(self._answers)
        except (EOFError, pickle.UnpicklingError):
            status, seconds = self.end()
            return status or -1, b"", seconds
        self._used += seconds
        return status, data, seconds

    def end(self) -> tuple[int, float]:
        """Let it end; return the status, and the processor time since the last answer."""
        for pipe in (self._questions, self._answers):
            with suppress(BrokenPipeError):
                pipe.close()
        _, status, used = os.wait4(self._child, 0)
        return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime - self._used


def _serve(questions: BinaryIO, out: BinaryIO) -> None:
    while True:
        try:
            script, path = pickle.load(questions)
        except EOFError:
            return
        begin = time.process_time()
        try:
            status, data = 0, apart.answer(script, path)
        except BaseException:  # an error of the library, for which the real process has status 1
            status, data = 1, b""
        pickle.dump((status, data, time.process_time() - begin), out)
        out.flush()


def main() -> None:
    """Answer until there are no more questions."""
    import asammdf  # noqa: F401
    import h5py  # noqa: F401
    import scipy.io  # noqa: F401

    with os.fdopen(os.dup(1), "wb") as out:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        reader = _Reader()
        while True:
            try:
                script, path = pickle.load(sys.stdin.buffer)
            except EOFError:
                reader.end()
                return
            if reader.files == FILES:
                reader.end()
                reader = _Reader()
            found = reader.read(script, path)
            if found[0] < 0:
                reader = _Reader()
            pickle.dump(found, out)
            out.flush()


if __name__ == "__main__":
    main()
