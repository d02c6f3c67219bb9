"""One process at a time writes a folder: a lock that the system releases when the process ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mechid.errors import DataError

NAME = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder; the file of the lock is removed at the end.

    The file alone means nothing: what counts is that a living process holds it, so one that a
    killed process left is no obstacle.

    Raises
    ------
    DataError
        If another process holds the folder, or it cannot be written.
    """
    path = folder / NAME
    handle = _held(path)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(handle)


def _held(path: Path) -> int:
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise DataError(
                f"cannot write the folder: {error.strerror}", where=str(path.parent)
            ) from None
        if not _lock(handle):
            os.close(handle)
            raise DataError(
                "another process is writing this folder",
                where=str(path.parent),
                remedy="wait until it has finished, or choose another folder",
            )
        with suppress(OSError):
            # The one that held it before may have removed the file that was opened here.
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        os.close(handle)


def _lock(handle: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows, which does not remove a file that is open either
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks
    return True
