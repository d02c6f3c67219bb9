"""Channels of an MDF file, read in a process of its own."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from asammdf import MDF

Found = dict[str, tuple[Any, str, Any]]  # values, unit, times


def channels_of(path: str) -> Found | str:
    """Return the channels of a file, or what is wrong with it."""
    try:
        with MDF(path) as file:
            signals = [(k, s) for k in range(len(file.groups)) for s in _group(file, k)]
    except Exception as error:  # damaged files fail in many ways
        return (str(error).splitlines() or [type(error).__name__])[0]
    count = Counter(signal.name for _, signal in signals)
    found = {}
    for number, signal in signals:
        if signal.samples.dtype.kind not in "iuf" or signal.samples.ndim != 1:
            continue
        name = signal.name if count[signal.name] == 1 else f"{signal.name}@{number}"
        values = np.array(signal.samples, dtype=float)
        if signal.invalidation_bits is not None:
            values[np.asarray(signal.invalidation_bits, dtype=bool)] = np.nan
        found[name] = (values, signal.unit or "", np.array(signal.timestamps, dtype=float))
    return found


def _group(file: Any, number: int) -> list[Any]:
    """Return the signals of a group but for its master, the time."""
    group = file.groups[number]
    if not group.channel_group.cycles_nr:
        return []
    places = [k for k in range(len(group.channels)) if k != file.masters_db.get(number)]
    return list(file.select([(None, number, k) for k in places], validate=True))
