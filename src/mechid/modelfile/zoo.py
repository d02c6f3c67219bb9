"""The zoo: mechanisms that ship with the package, as model files."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from mechid.errors import ModelError
from mechid.textfile.words import hint
from mechid.textfile.yamlio import read_file


@dataclass(frozen=True)
class ZooEntry:
    """A mechanism of the zoo: its name, title and variants (name and title of each)."""

    name: str
    title: str
    variants: tuple[tuple[str, str], ...]


def _folder() -> Path:
    return Path(str(resources.files("mechid.modelfile"))) / "zoo"


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
    """Return title and variants of a mechanism of the zoo."""
    data, _ = read_file(zoo_path(name), f"{name}.yaml")
    variants = data.get("variants") or {}
    return ZooEntry(
        name,
        str(data.get("title", "")),
        tuple(
            (variant, str((change or {}).get("title", ""))) for variant, change in variants.items()
        ),
    )


def zoo() -> tuple[ZooEntry, ...]:
    """Return every mechanism of the zoo with its title and variants.

    Examples
    --------
    >>> import mechid
    >>> "four_bar" in [entry.name for entry in mechid.zoo()]
    True
    """
    return tuple(zoo_entry(name) for name in zoo_names())
