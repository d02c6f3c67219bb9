"""Measurement files of the automotive industry: ASAM MDF 4."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.measurementfile.channels import Channel


def read_mdf(path: Path) -> dict[str, Channel]:
    """Return the numeric channels of a file, each with the times of its group and its unit.

    A name that several groups have is written `name@group`, groups counted from 0.
    """
    try:
        from asammdf import MDF
        from asammdf.blocks.utils import MdfException
    except ImportError:
        raise DataError(
            "reading MDF files needs the package asammdf",
            where=str(path),
            remedy='install it with: pip install "mechid[mdf]"',
        ) from None
    try:
        with MDF(path) as file:
            signals = [(k, s) for k in range(len(file.groups)) for s in _group(file, k)]
    except (MdfException, OSError, ValueError) as error:
        raise DataError(f"not an MDF file: {str(error).splitlines()[0]}", where=str(path)) from None
    count = Counter(signal.name for _, signal in signals)
    found = {}
    for number, signal in signals:
        if signal.samples.dtype.kind not in "iuf" or signal.samples.ndim != 1:
            continue
        name = signal.name if count[signal.name] == 1 else f"{signal.name}@{number}"
        values = np.array(signal.samples, dtype=float)
        time = np.array(signal.timestamps, dtype=float)
        if signal.invalidation_bits is not None:
            values[np.asarray(signal.invalidation_bits, dtype=bool)] = np.nan
        found[name] = Channel(values, signal.unit or "", time)
    return found


def _group(file: Any, number: int) -> list[Any]:
    """Return the signals of a group but for its master, the time."""
    group = file.groups[number]
    if not group.channel_group.cycles_nr:
        return []
    places = [k for k in range(len(group.channels)) if k != file.masters_db.get(number)]
    return list(file.select([(None, number, k) for k in places], validate=True))
