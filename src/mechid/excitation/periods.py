"""The time after which several motions repeat together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Periods of the longest one that are tried, and how far from whole the others may be: frequencies
# are decimal numbers of a few digits.
_MOST_PERIODS = 1000
_WHOLE = 1e-9


def common_period(periods: Sequence[float | None]) -> float | None:
    """Return the smallest common multiple of periods (s), or None if there is none.

    None among them never repeats; 0 repeats after any time.
    """
    if any(p is None for p in periods):
        return None
    moving = np.array([p for p in periods if p])
    if not moving.size:
        return 0.0
    longest = float(moving.max())
    for k in range(1, _MOST_PERIODS + 1):
        counts = k * longest / moving
        if np.all(np.abs(counts - np.round(counts)) <= _WHOLE * counts):
            return k * longest
    return None
