"""Ranges of joint coordinates."""

from __future__ import annotations

from mechid.errors import ModelError
from mechid.mechanism.records import Limit
from mechid.textfile.yamlio import Key


def limit(lower: float | None, upper: float | None, path: Key, *, reverse: bool = False) -> Limit:
    """Return a checked range, turned round if the coordinate counts the other way."""
    if lower is not None and upper is not None and lower > upper:
        raise ModelError(
            f"the lower limit must not be above the upper limit, got {lower:g} and {upper:g}",
            path=path,
            remedy="write [lower, upper]",
        )
    if reverse:
        lower, upper = (None if v is None else -v for v in (upper, lower))
    return Limit(lower, upper)
