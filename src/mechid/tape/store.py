"""Compiled code kept on disk, one file per key: program or kernel, processor and version.

Files are written beside and renamed, so that processes that start together do not meet half a file;
each begins with its own checksum, so that a damaged one is made again instead of being run.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import tempfile
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

_CHECKSUM = hashlib.sha256().digest_size


def cache_folders(*preferred: Path) -> tuple[Path, ...]:
    """Return where compiled code may be kept; the first one that can be written is taken.

    MECHID_CACHE_DIR alone, or `preferred`, the cache folder of the user, a temporary folder.
    """
    given = os.environ.get("MECHID_CACHE_DIR")
    if given:
        return (Path(given),)
    return (*preferred, *_user_folders(), _temporary())


def _user_folders() -> list[Path]:
    variable, usual = "XDG_CACHE_HOME", ".cache"
    if sys.platform == "win32":
        variable, usual = "LOCALAPPDATA", "AppData/Local"
    elif sys.platform == "darwin":
        variable, usual = "", "Library/Caches"
    given = os.environ.get(variable)
    with suppress(RuntimeError):  # a user without a home
        return [(Path(given) if given else Path.home() / usual) / "mechid"]
    return []


def stored(key: str, make: Callable[[], bytes]) -> bytes:
    """Return what was made for a key, or make it; it is kept where a folder can be written."""
    name = f"{hashlib.sha256(key.encode()).hexdigest()}.o"
    data = read(name, cache_folders())
    if data is None:
        data = make()
        write(name, data, cache_folders())
    return data


def read(name: str, folders: Sequence[Path]) -> bytes | None:
    """Return what was written under a name to one of the folders, or None."""
    for folder in folders:
        with suppress(OSError):
            data = (folder / name).read_bytes()
            if hashlib.sha256(data[_CHECKSUM:]).digest() == data[:_CHECKSUM]:
                return data[_CHECKSUM:]
    return None


def write(name: str, data: bytes, folders: Sequence[Path]) -> Path | None:
    """Write to the first folder that can be written, and return it; if none can, return None."""
    for folder in folders:
        with suppress(OSError):
            _write(folder / name, hashlib.sha256(data).digest() + data)
            if folder == _temporary():
                _warn(folder)
            return folder
    return None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{uuid.uuid4().hex}.part")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


@cache
def _temporary() -> Path:
    """Return a temporary folder of this user only: code that others could write is not run."""
    user = getattr(os, "getuid", lambda: 0)()
    path = Path(tempfile.gettempdir()) / f"mechid-{user}"
    with suppress(OSError):
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
        if sys.platform == "win32" or (found.st_uid == user and not found.st_mode & 0o077):
            return path
    return Path(tempfile.mkdtemp(prefix="mechid-"))


@cache
def _warn(folder: Path) -> None:
    logging.getLogger("mechid").warning(
        "compiled code is kept in the temporary folder %s; set MECHID_CACHE_DIR to a folder that "
        "can be written, to keep it for later",
        folder,
    )
