"""Logs of a five-bar linkage, as a test bench would write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mechid.modelfile import load
from mechid.tables import write_table

FIVE_BAR = load("five_bar")
FOUR_BAR = load("four_bar")
T = np.arange(1000) / 200.0

MAPPING: dict[str, Any] = {
    "time": {"channel": "t_ms", "unit": "ms"},
    "positions": {
        "q1": {"channel": "enc1", "unit": "deg"},
        "q2": {"channel": "enc2", "unit": "deg", "sign": -1, "offset": 30},
    },
    "forces": {"M1": {"channel": "load1", "unit": "N mm"}, "M2": "load2"},
}


def truth() -> dict[str, np.ndarray]:
    w = 2 * np.pi
    return {
        "q1": 0.3 * np.sin(w * T),
        "q2": 0.2 * np.cos(w * T),
        "M1": 2.0 * np.sin(3 * w * T),
        "M2": np.cos(2 * w * T),
    }


def channels() -> dict[str, np.ndarray]:
    """What the bench writes: other names, units, signs and zeros."""
    true = truth()
    return {
        "t_ms": 1000 * T,
        "enc1": np.rad2deg(true["q1"]),
        "enc2": 30 - np.rad2deg(true["q2"]),
        "load1": 1000 * true["M1"],
        "load2": true["M2"],
    }


def log(folder: Path, changed: dict[str, np.ndarray] | None = None, name: str = "log.csv") -> Path:
    write_table(folder / name, channels() | (changed or {}))
    return folder / name
