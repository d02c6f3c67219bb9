"""Datasets of an HDF5 file, read in a process of its own."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np

_UNITS = ("unit", "units", "Unit", "Units")


def channels_of(path: str) -> list[tuple[str, np.ndarray, str]] | str:
    """Return names, values and units of the datasets of a file, or what is wrong with it.

    A file may say that data of it lie in another one, which may be any on the machine: links,
    virtual datasets and external storage are refused, and no other file is opened.
    """
    found: list[tuple[str, np.ndarray, str]] = []

    def visit(name: str, node: Any) -> str | None:
        if not isinstance(node, h5py.Dataset) or name.startswith("#"):
            return None
        if node.is_virtual or node.external:
            return name
        # MATLAB writes text as numbers.
        if node.attrs.get("MATLAB_class", b"double") in (b"char", b"cell", b"logical"):
            return None
        unit = next((_text(node.attrs[u]) for u in _UNITS if u in node.attrs), "")
        if node.dtype.kind in "iufV":
            found.append((name, np.asarray(node[()]), unit))
        return None

    def link_out(name: str, link: Any) -> str | None:
        return name if isinstance(link, h5py.ExternalLink) else None

    try:
        with h5py.File(path, "r") as file:
            elsewhere = file.visititems_links(link_out) or file.visititems(visit)
    except Exception as error:  # damaged files fail in many ways
        return f"not an HDF5 file: {(str(error).splitlines() or [type(error).__name__])[0]}"
    if elsewhere:
        return f"{elsewhere[:80]} lies in another file; copy its values into this one"
    return found


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
