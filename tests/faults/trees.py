"""What is in a folder, and what of it is half, lost or left over."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

Tree = dict[str, str]
_LEFTOVER = re.compile(r"(.*/)?(\.[^/]*\.part(/.*)?|\.lock|\.token-[0-9a-f]+)")


def tree(folder: Path) -> Tree:
    """Return the files of a folder with their hashes, and what is not a file."""
    return {
        path.relative_to(folder).as_posix(): hash_of(path.read_bytes())
        if path.is_file()
        else "not a file"
        for path in folder.rglob("*")
    }


def hash_of(content: bytes) -> str:
    """Return the hash of a file; runs keep the command that made them, with or without --force."""
    return hashlib.sha256(content.replace(b" --force", b"")).hexdigest()


def left_over(name: str) -> bool:
    """Return whether a file is one that is never read: half a file under a name of its own."""
    return _LEFTOVER.fullmatch(name) is not None


def whole(found: Mapping[str, str]) -> Tree:
    """Return a tree without what is left over."""
    return {name: hashed for name, hashed in found.items() if not left_over(name)}


def fresh(source: Path, folder: Path) -> None:
    """Make a folder a copy of another."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, symlinks=True)


def wrong(
    found: Mapping[str, str],
    before: Mapping[str, str],
    after: Mapping[str, str],
    versions: frozenset[tuple[str, str]],
) -> list[str]:
    """Return the files that are half or lost after a fault."""
    said, moved = [], {name for name, _ in versions}
    for name, hashed in whole(found).items():
        if hashed not in (before.get(name), after.get(name)) and (name, hashed) not in versions:
            said.append(f"{name} is neither the old nor the new file")
    for name, hashed in before.items():
        kept = after.get(name) == hashed and name not in moved and hashed != "not a file"
        if kept and name not in found:
            said.append(f"{name} is lost")
    return said
