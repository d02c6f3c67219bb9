"""What experiments and their settings are, from their docstrings."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, dataclass, fields
from typing import Any

from mechid.studies.registry import EXPERIMENTS, experiment

# `name, name : type`, and the indented lines below it.
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) : .*\n((?: {4,}.*\n?)*)", re.MULTILINE)


@dataclass(frozen=True)
class SettingWords:
    """A setting: its name, its default as text (empty if it must be given), and its meaning."""

    name: str
    default: str
    meaning: str


def experiment_titles() -> dict[str, str]:
    """Return all experiments with what they are, in a sentence."""
    return {name: _title(experiment(name).settings) for name in EXPERIMENTS}


def setting_words(name: str) -> list[SettingWords]:
    """Return the settings of an experiment.

    Raises
    ------
    DataError
        If there is no such experiment.
    """
    kind = experiment(name).settings
    meanings: dict[str, str] = {}
    for parent in reversed(kind.__mro__):
        for names, text in _ENTRY.findall(inspect.cleandoc(parent.__doc__ or "") + "\n"):
            meanings |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    found = [SettingWords(f.name, _default(f), meanings.get(f.name, "")) for f in fields(kind)]
    # What must be given first, then what belongs to this experiment alone.
    own = inspect.get_annotations(kind)
    return sorted(found, key=lambda s: (bool(s.default), s.name not in own))


def _title(kind: type) -> str:
    return inspect.cleandoc(kind.__doc__ or "").splitlines()[0]


def _default(field: Any) -> str:
    if field.default is not MISSING:
        value = field.default
    elif field.default_factory is not MISSING:
        value = field.default_factory()
    else:
        return ""
    if isinstance(value, str | int | float | None):
        return "-" if value is None else str(value) or '""'
    every = getattr(value, "every", None)  # levels of noise
    return str(every.value) if every is not None else str(value)
