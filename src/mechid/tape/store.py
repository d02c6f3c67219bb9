"""Generated code kept on disk, one file per program, processor and version.

Files are written beside and renamed, so that processes that start together do not meet half a file;
each begins with its own checksum, so that a damaged one is made again instead of being run.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_CHECKSUM = hashlib.sha256().digest_size


def cache_folder() -> Path:
    """Return the folder of generated code: MECHID_CACHE_DIR, or the user's cache folder."""
    given = os.environ.get("MECHID_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "mechid"


def stored(key: str, make: Callable[[], bytes]) -> bytes:
    """Return what was made for a key, or make it; it is kept where the folder can be written."""
    name = hashlib.sha256(key.encode()).hexdigest()
    path = cache_folder() / f"{name}.o"
    with suppress(OSError, RuntimeError):
        data = path.read_bytes()
        if hashlib.sha256(data[_CHECKSUM:]).digest() == data[:_CHECKSUM]:
            return data[_CHECKSUM:]
    made = make()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(made).digest() + made)
            Path(beside).replace(path)
        except OSError:
            Path(beside).unlink()
            raise
    return made
