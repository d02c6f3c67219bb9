"""Files that are written: checked before the work, made beside their place, moved there whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from mechid.errors import DataError


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
    read = {_real(path) for path in inputs if path is not None}
    seen: set[Path] = set()
    for path in (Path(path) for path in paths if path is not None):
        real = _real(path)
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
    real = _real(path)
    special = _special(real)
    # Several may write the same file at once, also from several machines.
    beside = real if special else real.with_name(f".{real.name[:200]}.{uuid4().hex}.part")
    try:
        write(beside)
        if not special:
            beside.replace(real)
    except OSError as error:
        raise _cannot(error, path) from None
    finally:
        if not special:
            with suppress(OSError):
                beside.unlink()


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole."""
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file whole."""

    def write(beside: Path) -> None:
        beside.write_bytes(data)

    write_whole(path, write)


def _real(path: str | Path) -> Path:
    return Path(os.path.realpath(path))


def _special(path: Path) -> bool:
    """Return whether this is a device or a pipe, which is not replaced by a file."""
    with suppress(OSError):
        return path.exists() and not path.is_file() and not path.is_dir()
    return False


def _cannot(error: OSError, path: str | Path) -> DataError:
    words = " ".join(str(error.strerror or error).split())
    return DataError(f"cannot write the file: {words}", where=str(path))
