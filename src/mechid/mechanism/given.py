"""What functions are given as a mechanism, checked."""

from __future__ import annotations

from typing import Any

from mechid.errors import ModelError
from mechid.mechanism.records import Mechanism


def checked_mechanism(model: Any) -> Mechanism:
    """Return a mechanism, or that of what was compiled from one.

    Raises
    ------
    ModelError
        If it is neither.
    """
    found = getattr(model, "mechanism", model)
    if not isinstance(found, Mechanism):
        raise ModelError(
            f"model must be a Mechanism, got {type(model).__name__}",
            remedy='load it, as mechid.load("four_bar")',
        )
    return found
