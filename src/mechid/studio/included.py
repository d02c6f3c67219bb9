"""Files that YAML files name: models, tables, and what those name; runs in the worker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from mechid.errors import ModelError
from mechid.outputs import real_path
from mechid.studio.commands import ZOO
from mechid.textfile.yamlio import read_file

Stamps: TypeAlias = tuple[tuple[str, int], ...]
_YAML = (".yaml", ".yml")
_ADDED = re.compile(r"[@+=]")  # FILE@variant, FILE+FILE, LOG=FILE


def check_files(path: str) -> Stamps:
    """Reject a YAML file that names files outside the folder, before a command reads them.

    Returns the files that make up the model with the times of their last change. Files of other
    tools are checked where they are read.
    """
    if path.startswith(ZOO):
        return ()
    file = Path(path if Path(path).is_file() else path.partition("@")[0])
    if file.suffix.lower() not in _YAML or not file.is_file():
        return stamps([file])
    return stamps([file, *included(read_file(file, str(file))[0], file)])


def included(data: dict[str, Any], file: Path, seen: set[Path] | None = None) -> Iterator[Path]:
    """Yield the YAML files that a document names, and those that they name, each once.

    Whatever a text of a document may mean, it must not be the name of a file outside the folder.
    """
    seen = set() if seen is None else seen
    for name in _names(data):
        other = file.parent / name
        try:
            place = real_path(other)
            there = place.is_file() and place not in seen
        except (OSError, ValueError):  # too long, or no name at all
            continue
        if there and not place.is_relative_to(Path.cwd()):
            raise ModelError(
                f"{name} is outside the folder of the studio",
                where=str(file),
                remedy="copy it into the folder",
            )
        if there and place.suffix.lower() in _YAML:
            seen.add(place)
            yield other
            yield from included(read_file(place, str(other))[0], other, seen)


def _names(value: Any) -> Iterator[str]:
    """Yield what may be a name in a document: its texts, without what commands add to names."""
    if isinstance(value, str):
        yield from {value, *_ADDED.split(value)} - {""}
    elif isinstance(value, list | dict):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _names(entry)


def stamps(files: Iterable[Path]) -> Stamps:
    """Return files with the times of their last change, in ns."""
    return tuple((str(p), p.stat().st_mtime_ns) for p in files if p.is_file())
