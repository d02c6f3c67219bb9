"""Datasets of an HDF5 file, read in a process of its own."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np

_UNITS = ("unit", "units", "Unit", "Units")


def channels_of(path: str) -> list[tuple[str, np.ndarray, str]] | str:
    """Return names, values and units of the datasets of a file, or what is wrong with it."""
    found: list[tuple[str, np.ndarray, str]] = []

    def visit(name: str, node: Any) -> None:
        if not isinstance(node, h5py.Dataset) or name.startswith("#"):
            return
        # MATLAB writes text as numbers.
        if node.attrs.get("MATLAB_class", b"double") in (b"char", b"cell", b"logical"):
            return
        unit = next((_text(node.attrs[u]) for u in _UNITS if u in node.attrs), "")
        if node.dtype.kind in "iufV":
            found.append((name, np.asarray(node[()]), unit))

    try:
        with h5py.File(path, "r") as file:
            file.visititems(visit)
    except Exception as error:  # damaged files fail in many ways
        return (str(error).splitlines() or [type(error).__name__])[0]
    return found


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
