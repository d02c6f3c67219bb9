"""Files that are written: checked before the work, made beside their place, moved there whole."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from uuid import uuid4

from mechid.errors import DataError

_BESIDE = re.compile(r"\..*\.[0-9a-f]{32}\.part", re.DOTALL)


def check_outputs(
    *paths: str | Path | None, force: bool = False, inputs: Iterable[str | Path | None] = ()
) -> None:
    """Reject files that could not be written, before anything is computed.

    Parameters
    ----------
    *paths : str, Path or None
        Files to write; None stands for one that was not asked for.
    force : bool
        Whether files that are there are replaced.
    inputs : iterable of str, Path or None
        Files that are read: they are never replaced.

    Raises
    ------
    DataError
        If a file exists, is an input, is given twice, or its folder is missing or cannot be
        written.
    """
    read = {real_path(path) for path in inputs if path is not None}
    seen: set[Path] = set()
    for path in (Path(path) for path in paths if path is not None):
        real = real_path(path)
        _check_place(path, real)
        if real in read:
            what, remedy = "this file is read by the same command", "choose another file to write"
            raise DataError(what, where=str(path), remedy=remedy)
        if real in seen and not _special(real):
            raise DataError(
                "two outputs have the same file", where=str(path), remedy="choose another file"
            )
        if real.is_file() and not force:
            raise DataError("the file exists", where=str(path), remedy="add --force to replace it")
        seen.add(real)


def _check_place(path: Path, real: Path) -> None:
    """Reject a path that is a folder, lies in none, or cannot be written."""
    folder = real.parent
    try:
        is_folder, has_folder = real.is_dir(), folder.is_dir()
        there = real.exists()
        if real.is_symlink():  # a link that leads to itself: no other is left
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    except OSError as error:  # a name that is too long, a loop of links
        raise _cannot(error, path) from None
    if is_folder:
        raise DataError("this is a folder", where=str(path), remedy="give a file to write")
    if not has_folder:
        missing = not folder.exists()
        what = "there is no such folder" if missing else f"{folder.name} is not a folder"
        remedy = f"mkdir -p {path.parent}" if missing else "choose another folder"
        raise DataError(f"cannot write the file: {what}", where=str(path), remedy=remedy)
    if not os.access(real if there else folder, os.W_OK) or not (
        _special(real) or os.access(folder, os.W_OK | os.X_OK)
    ):
        raise DataError(
            "cannot write the file: no permission",
            where=str(path),
            remedy="choose another file or folder",
        )


def make_folder(path: str | Path) -> None:
    """Make a folder and those around it, if it is not there.

    Raises
    ------
    DataError
        If it cannot be made.
    """
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot create the folder: {error.strerror}", where=str(path)) from None


def write_whole(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a file beside its place and move it there: a reader never sees half of it.

    A link stays one, and its target is replaced; devices and pipes are written directly.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    write_together({Path(path): write})


def write_together(files: Mapping[Path, Callable[[Path], object]]) -> None:
    """Write files that belong together, each as `write_whole` does.

    None is moved to its place before all are complete, and the first one is moved last: where it
    is, the others are those of the same command. An old one is removed before.

    Raises
    ------
    DataError
        If one cannot be written; then those that were there stay.
    """
    moves: dict[Path, Path] = {}
    try:
        for path, write in files.items():
            real = real_path(path)
            if _special(real):
                write(real)
                continue
            beside = place_beside(real)
            moves[beside] = real
            write(beside)
        if len(moves) > 1:
            next(iter(moves.values())).unlink(missing_ok=True)
        for beside, path in reversed(moves.items()):
            beside.replace(path)
    except OSError as error:
        raise _cannot(error, path) from None
    finally:
        for beside in moves:
            with suppress(OSError):
                beside.unlink()


def place_beside(path: Path) -> Path:
    """Return where a file or folder is written before it is moved to its place."""
    # Several may write the same file at once, also from several machines.
    return path.with_name(f".{path.name[:200]}.{uuid4().hex}.part")


def is_left_over(path: Path) -> bool:
    """Return whether this is not complete: a process writes it, or was killed before its end."""
    return _BESIDE.fullmatch(path.name) is not None


def remove_left_over(*folders: Path) -> None:
    """Remove what killed processes left in folders that nobody else writes."""
    for path in [x for folder in folders for x in folder.glob(".*") if is_left_over(x)]:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole."""
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file whole."""
    write_all({Path(path): data})


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write files that belong together, as `write_together` does."""
    write_together({path: partial(_write, data) for path, data in files.items()})


def _write(data: bytes, path: Path) -> None:
    path.write_bytes(data)


def real_path(path: str | Path) -> Path:
    """Return where links lead to; a link that leads to itself is left as it is."""
    return Path(os.path.realpath(path))  # Path.resolve raises RuntimeError for such a link


def is_unicode(name: str) -> bool:
    """Return whether a name, as the system gave it, has no bytes that are not UTF-8."""
    return not any("\ud800" <= c <= "\udfff" for c in name)


def _special(path: Path) -> bool:
    """Return whether this is a device or a pipe, which is not replaced by a file."""
    with suppress(OSError):
        return path.exists() and not path.is_file() and not path.is_dir()
    return False


def _cannot(error: OSError, path: str | Path) -> DataError:
    words = " ".join(str(error.strerror or error).split())
    return DataError(f"cannot write the file: {words}", where=str(path))
