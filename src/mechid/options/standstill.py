"""What becomes of forces near standstill, as people write it."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from mechid.errors import DataError

Standstill: TypeAlias = Literal["keep", "auto"] | float


def standstill(given: Any, name: str) -> Any:
    """Return "keep", "auto", or a speed (m/s or rad/s) that may be text.

    Raises
    ------
    DataError
    """
    if given in ("keep", "auto"):
        return given
    try:
        speed = float(given)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be auto, keep or a speed, got {given!r}") from None
    if not 0 < speed < float("inf"):
        raise DataError(f"{name}: the speed must be > 0, got {speed:g}")
    return speed
