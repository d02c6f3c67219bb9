"""The folder that a studio serves: every path stays inside it, links followed."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mechid.outputs import is_unicode, real_path, write_bytes
from mechid.studio.refused import RefusedError

HIDDEN = ".mechid-studio"
MOST_TEXT = 4 * 2**20  # bytes of a file in the editor
MOST_ENTRIES = 5000
_DEEPEST = 8  # folders below each other in the list
_PEEK = 8192  # bytes at the start of a YAML file that tell what it is
_LONGEST = 200  # bytes of a name, so that names beside it fit too

_KINDS = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".dat", ".asc", ".parquet", ".mat", ".h5", ".hdf5",
                     ".mf4", ".bag", ".db3", ".mcap"), "data"),
    **dict.fromkeys((".urdf", ".mjcf", ".xml"), "robot"),
    ".xlsx": "table",
    ".html": "page",
}  # fmt: skip
# Titles of a table of hardpoints; logs have names of channels there.
_HARDPOINTS = re.compile(r"(point|parameter|body)[,;\t]", re.IGNORECASE)
_STARTS = {"mechid:": "model", "measurement:": "mapping", "trajectory:": "trajectory",
           "experiment:": "study", "parts:": "study"}  # fmt: skip


@dataclass(frozen=True)
class Folder:
    """A folder; paths of requests are relative to it, with slashes.

    Attributes
    ----------
    root : Path
        Absolute, without links.
    """

    root: Path

    def inside(self, path: str) -> Path:
        """Return the place of a path.

        Raises
        ------
        RefusedError
            If it lies outside the folder, where a link leads there too, is hidden, or is none that
            the system takes.
        """
        parts = path.split("/")
        if not path or "\0" in path or "\\" in path or path.startswith("/") or ".." in parts:
            raise RefusedError(403, f"{_short(path)} is not a path inside the folder")
        try:
            place = (self.root / path).resolve()
            within = place.relative_to(self.root).parts
            place.exists()
        except OSError as error:
            words = f"{_short(path)} cannot be a file: {error.strerror}"
            raise RefusedError(422, words, remedy="choose another name") from None
        except (ValueError, RuntimeError):
            raise RefusedError(403, f"{_short(path)} leads out of the folder") from None
        if any(part.startswith(".") and part != "." for part in (*parts, *within)):
            raise RefusedError(403, f"{_short(path)} is hidden", remedy="choose another file")
        return place

    def existing(self, path: str) -> Path:
        """Return the place of a file or folder that is there."""
        place = self.inside(path)
        if not place.exists():
            raise RefusedError(404, "there is no such file", where=_short(path))
        return place

    def new(self, path: str) -> Path:
        """Return the place of something to be written; its folder is made.

        Raises
        ------
        RefusedError
            If the path is not inside the folder, or a name is not one that every system takes.
        """
        place = self.inside(path)
        for name in path.split("/"):
            odd = any(unicodedata.category(c).startswith("C") or c in '<>:"|?*' for c in name)
            if odd or not name or name != name.strip(" ") or name[0] == "-" or name[-1] == ".":
                raise RefusedError(
                    422,
                    f"{_short(path)} is not a name for a file",
                    remedy="use letters, digits, -, _ and . in names",
                )
            if len(name.encode()) > _LONGEST:
                raise RefusedError(422, f"the name {_short(name)} is too long")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RefusedError(
                409, f"cannot make the folder: {error.strerror}", where=_short(path)
            ) from None
        return place

    def shown(self, place: Path) -> str:
        """Return the path of a place in the folder, as requests write it."""
        return place.relative_to(self.root).as_posix()


def read_text(folder: Folder, path: str) -> tuple[str, str]:
    """Return a text file and the tag of its content.

    Raises
    ------
    RefusedError
        If it is not there, too large, or no text.
    """
    place = folder.existing(path)
    if not place.is_file():
        raise RefusedError(422, "this is not a file", where=path)
    if place.stat().st_size > MOST_TEXT:
        raise RefusedError(413, "the file is too large for the editor", where=path)
    data = place.read_bytes()
    try:
        return data.decode(), _tag(data)
    except UnicodeDecodeError:
        raise RefusedError(422, "the file is not UTF-8 text", where=path) from None


def write_text(folder: Folder, path: str, text: str, known: str | None) -> str:
    """Write a text file whole and return the tag of its content.

    Parameters
    ----------
    folder : Folder
    path : str
    text : str
    known : str or None
        Tag of the content that is replaced; None for a file that is not there yet.

    Raises
    ------
    RefusedError
        If the file has changed since (412).
    """
    place = folder.new(path)
    data = text.encode()
    if len(data) > MOST_TEXT:
        raise RefusedError(413, "the text is too large for a file of the editor", where=path)
    now = _tag(place.read_bytes()) if place.is_file() else None
    if now != known:
        what = "the file exists" if known is None else "the file was changed by somebody else"
        raise RefusedError(412, what, where=path, remedy="read it again, or choose another name")
    write_bytes(place, data)
    return _tag(data)


def listing(folder: Folder) -> list[dict[str, Any]]:
    """Return what is in the folder: path, kind, size (bytes), modified (s since 1970).

    Hidden files are left out, as are names that are not UTF-8 and links that lead out of the
    folder; a run is one entry, and so is the result of a study.
    """
    found = []
    for place in _walk(folder, folder.root, 0):
        stat = place.stat()
        found.append(
            {
                "path": folder.shown(place),
                "kind": kind_of(place),
                "size": stat.st_size,
                "modified": stat.st_mtime,
            }
        )
        if len(found) >= MOST_ENTRIES:
            break
    return found


def kind_of(place: Path) -> str:
    """Return what a file is: model, data, run, trajectory, mapping, …, or other."""
    if place.is_dir():
        if (place / "run.json").is_file():
            return "run"
        if (place / "provenance.json").is_file():
            return "result"
        return "data" if (place / "metadata.yaml").is_file() else "folder"
    kind = _KINDS.get(place.suffix.lower(), "other")
    if place.suffix.lower() not in (".yaml", ".yml", ".csv") or not place.is_file():
        return kind
    try:
        with place.open("rb") as file:
            lines = file.read(_PEEK).decode("utf-8-sig", errors="replace").splitlines()
    except OSError:
        return kind
    if place.suffix.lower() == ".csv":
        return "table" if any(map(_HARDPOINTS.match, lines)) else kind
    return next((k for word, k in _STARTS.items() for x in lines if x.startswith(word)), kind)


def _walk(folder: Folder, at: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(at), key=lambda e: e.name)
    except OSError:
        return
    for entry in entries:
        place = Path(entry.path)
        if entry.name.startswith(".") or not is_unicode(entry.name):
            continue
        if entry.is_symlink() and not _within(folder.root, place):
            continue
        if not place.exists():
            continue
        yield place
        inner = entry.is_dir() and not entry.is_symlink() and kind_of(place) == "folder"
        if inner and depth < _DEEPEST:
            yield from _walk(folder, place, depth + 1)


def _within(root: Path, place: Path) -> bool:
    try:
        return real_path(place).is_relative_to(root)
    except (OSError, RuntimeError):
        return False


def _tag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _short(text: str) -> str:
    return ascii(text[:80])[1:-1] + ("…" if len(text) > 80 else "")
