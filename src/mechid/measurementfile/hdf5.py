"""HDF5 files, and MATLAB files of version 7.3, which are such."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.measurementfile.channels import Channel, columns_of

_UNITS = ("unit", "units", "Unit", "Units")


def read_hdf5(path: Path, *, separator: str = "/", transposed: bool = False) -> dict[str, Channel]:
    """Return the numeric datasets of a file; an attribute `unit` or `units` states the unit.

    Parameters
    ----------
    path : Path
    separator : str
        Between the names of groups and datasets.
    transposed : bool
        MATLAB writes matrices by columns.
    """
    import h5py

    found: dict[str, Channel] = {}

    def visit(name: str, node: Any) -> None:
        if not isinstance(node, h5py.Dataset) or name.startswith("#"):
            return
        # MATLAB writes text as numbers.
        if node.attrs.get("MATLAB_class", b"double") in (b"char", b"cell", b"logical"):
            return
        values = np.asarray(node[()])
        unit = next((_text(node.attrs[u]) for u in _UNITS if u in node.attrs), "")
        label = name.replace("/", separator)
        found.update(columns_of(label, values.T if transposed else values, unit))

    try:
        with h5py.File(path, "r") as file:
            file.visititems(visit)
    except OSError:
        raise DataError("not an HDF5 file") from None
    return found


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
