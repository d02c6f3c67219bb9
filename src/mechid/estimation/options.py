"""Checks of options, with one message for all estimators."""

from __future__ import annotations

import numpy as np

from mechid.errors import DataError


def one_of(what: str, value: object, *allowed: str) -> None:
    """Refuse a word that is none of those allowed."""
    if value not in allowed:
        raise DataError(f"{what} must be {' or '.join(allowed)}, got {value}")


def not_negative(what: str, value: object, *words: str) -> None:
    """Refuse what is neither a finite number from zero up nor one of the words."""
    if isinstance(value, str) and value in words:
        return
    if isinstance(value, (int, float)) and np.isfinite(value) and value >= 0:
        return
    also = "".join(f" or {word}" for word in words)
    raise DataError(f"{what} must be a number not below zero{also}, got {value}")
