"""Checks of options, with one message for all estimators."""

from __future__ import annotations

import numpy as np

from mechid.errors import DataError


def one_of(what: str, value: object, *allowed: str) -> None:
    """Reject an option that is not allowed."""
    if value not in allowed:
        words = " or ".join(filter(None, (", ".join(allowed[:-1]), allowed[-1])))
        raise DataError(f"{what} must be {words}, got {value}")


def not_negative(what: str, value: object, *words: str) -> None:
    """Reject what is neither a finite number ≥ 0 nor one of the words."""
    if isinstance(value, str) and value in words:
        return
    if isinstance(value, (int, float)) and np.isfinite(value) and value >= 0:
        return
    also = "".join(f" or {word}" for word in words)
    raise DataError(f"{what} must be a number ≥ 0{also}, got {value}")
