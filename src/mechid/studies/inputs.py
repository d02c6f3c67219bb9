"""Files and models that settings name: where they are, and what is in them."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from mechid.errors import MechidError
from mechid.modelfile.api import dumps, load
from mechid.modelfile.zoo import zoo_names
from mechid.runs.files import file_hash

_YAML = (".yaml", ".yml")


def located(value: Any, folder: Path) -> Any:
    """Return a setting with the files that it names, beside the study file, in full."""
    if isinstance(value, tuple | list):
        return type(value)(located(entry, folder) for entry in value)
    if isinstance(value, dict):
        return {name: located(entry, folder) for name, entry in value.items()}
    path = _file(value, folder)
    if path is None:
        return value
    return str(path) + value[len(value.partition("@")[0]) :]


def contents(value: Any, folder: Path) -> dict[str, str]:
    """Return the hash of every file and model of the zoo that a setting names, as it names it."""
    value = list(value.values()) if isinstance(value, dict) else value
    if isinstance(value, tuple | list):
        return {name: h for entry in value for name, h in contents(entry, folder).items()}
    if isinstance(value, str) and value.partition("@")[0] in zoo_names():
        return {value: _model_hash(value)}
    path = _file(value, folder)
    return {} if path is None else {value: _model_hash(located(value, folder))}


def _file(value: Any, folder: Path) -> Path | None:
    """Return the file that a text names, with or without @variant."""
    stem = value.partition("@")[0] if isinstance(value, str) else ""
    if not stem or len(stem) > 255 or "\0" in stem:
        return None
    path = (folder / stem).absolute()
    return path if path.is_file() else None


@lru_cache(maxsize=256)
def _model_hash(spec: str) -> str:
    """Return the hash of a model with all that it includes, or of any other file."""
    stem = spec.partition("@")[0]
    if stem in zoo_names() or stem.endswith(_YAML):
        try:
            return hashlib.sha256(dumps(load(spec)).encode()).hexdigest()
        except MechidError:
            pass  # a trajectory, or a model that the experiment will refuse
    return file_hash(stem) if Path(stem).is_file() else ""
