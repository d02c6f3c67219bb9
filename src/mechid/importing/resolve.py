"""Models as they are given to functions: a mechanism, the name of one of the zoo, or a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mechid.importing.load import load
from mechid.mechanism.records import Mechanism, checked_mechanism


def mechanism_of(model: Any) -> Mechanism:
    """Return the mechanism of a model.

    Parameters
    ----------
    model : Mechanism, str or Path
        A mechanism or what was compiled from one (`KinematicModel`), or what `load` takes.

    Raises
    ------
    ModelError
        If it is none of these, or cannot be loaded.
    """
    return load(model) if isinstance(model, str | Path) else checked_mechanism(model)
