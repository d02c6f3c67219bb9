"""Reading a file in a process of its own, for libraries that crash or hang on damaged files.

This file is also what that process runs, so it imports nothing of mechid then.
"""

from __future__ import annotations

import math
import os
import pickle
import runpy
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_SECONDS, _BYTES = 3.0, 900 << 20  # processor time and memory for any file
_SECONDS_PER_BYTE, _MEMORY_PER_BYTE = 1e-6, 300  # more for a long one; seen: 6e-8 and 39


def read_apart(script: str, path: Path) -> Any:
    """Return what the function `channels_of` of a script beside this file returns for a path.

    Raises
    ------
    DataError
        If the process crashes, or takes much more time or memory than the file can need.
    """
    from mechid.errors import DataError

    done = subprocess.run(
        [sys.executable, __file__, str(Path(__file__).with_name(script)), str(path)],
        input=pickle.dumps(sys.path),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise DataError("the file is damaged", remedy="export it again")
    return pickle.loads(done.stdout)


def answer(script: str, path: str) -> bytes:
    """Return what `read_apart` is to receive, within bounds of time and memory."""
    read = runpy.run_path(script)["channels_of"]
    _bound(Path(path).stat().st_size)
    return pickle.dumps(read(path))


def _bound(size: int) -> None:
    """Let the system end this process where it takes too much for a file of this size."""
    try:
        import resource
    except ImportError:  # Windows
        return
    seconds = math.ceil(time.process_time() + _SECONDS + _SECONDS_PER_BYTE * size)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
    pages = Path("/proc/self/statm")
    if pages.exists():
        now = int(pages.read_text().split()[0]) * resource.getpagesize()
        most = now + _BYTES + _MEMORY_PER_BYTE * size
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


if __name__ == "__main__":
    # As the caller finds modules, and not in the folder of this file.
    sys.path[:] = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(1), "wb") as _out:
        os.dup2(2, 1)  # what the library prints is no answer
        _out.write(answer(*sys.argv[1:]))
