"""The zoo: mechanisms that ship with the package, as model files, and the list of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from mechid.errors import ModelError
from mechid.textfile.words import hint


@dataclass(frozen=True)
class ZooEntry:
    """A mechanism of the zoo.

    Attributes
    ----------
    name, title : str
    variants : tuple of (str, str)
        Name and title of each.
    bodies, joints, coordinates : int
        How many it has, without variants.
    """

    name: str
    title: str
    variants: tuple[tuple[str, str], ...]
    bodies: int
    joints: int
    coordinates: int


def _folder() -> Path:
    return Path(str(resources.files("mechid.modelfile"))) / "zoo"


# Made by zoo_list.py from the files: building all of them takes a second.
LIST = _folder() / "list.json"


def zoo_names() -> tuple[str, ...]:
    """Return the names of the mechanisms that ship with the package."""
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def zoo_path(name: str) -> Path:
    """Return the model file of a mechanism of the zoo."""
    path = _folder() / f"{name}.yaml"
    if name not in zoo_names():
        raise ModelError(
            f"the zoo has no mechanism {name}",
            remedy=hint(name, zoo_names()),
        )
    return path


def zoo_entry(name: str) -> ZooEntry:
    """Return what the list says about a mechanism of the zoo."""
    zoo_path(name)
    for entry in zoo():
        if entry.name == name:
            return entry
    raise ModelError(
        f"the list of the zoo has no {name}", remedy="run python -m mechid.modelfile.zoo_list"
    )


def zoo() -> tuple[ZooEntry, ...]:
    """Return every mechanism of the zoo with its title and variants.

    Examples
    --------
    >>> import mechid
    >>> "four_bar" in [entry.name for entry in mechid.zoo()]
    True
    """
    entries = json.loads(LIST.read_text(encoding="utf-8"))
    return tuple(
        ZooEntry(**entry | {"variants": tuple(map(tuple, entry["variants"]))}) for entry in entries
    )
