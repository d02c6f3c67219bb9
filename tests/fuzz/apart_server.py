"""Files that mechid reads in processes of their own, which cost 1 s to start: forked instead.

Processes are forked from a small one, which has loaded the libraries and nothing else:
`python -m tests.fuzz.apart_server`.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mechid.measurementfile import apart


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


def _answered(script: str, path: str) -> tuple[int, bytes, float]:
    """Read a file in a forked process; return its status, answer and processor time."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            with os.fdopen(theirs, "wb") as out:
                out.write(apart.answer(script, path))
            code = 0
        finally:
            os._exit(code)
    os.close(theirs)
    with os.fdopen(ours, "rb") as answer:
        data = answer.read()
    _, status, used = os.wait4(child, 0)
    return status, data, used.ru_utime + used.ru_stime


def main() -> None:
    """Answer until there are no more questions."""
    import asammdf  # noqa: F401
    import h5py  # noqa: F401
    import scipy.io  # noqa: F401

    with os.fdopen(os.dup(1), "wb") as out:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        while True:
            try:
                script, path = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(_answered(script, path), out)
            out.flush()


if __name__ == "__main__":
    main()
