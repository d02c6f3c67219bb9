"""Numeric variables of a MATLAB file before version 7.3, read in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.io import loadmat


def channels_of(path: str) -> list[tuple[str, np.ndarray]] | str:
    """Return names and values of the variables of a file, or what is wrong with it."""
    try:
        variables = loadmat(path, simplify_cells=True)
        return [pair for name in variables for pair in _flat(name, variables[name])]
    except NotImplementedError:
        return "it states version 7.3, which is HDF5, and is not HDF5"
    except Exception as error:  # damaged files fail in many ways
        return (str(error).splitlines() or [type(error).__name__])[0]


def _flat(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    if name.startswith("__"):  # what the library adds
        return
    if isinstance(value, dict):
        for inner, part in value.items():
            yield from _flat(f"{name}.{inner}", part)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "iufV":
        yield name, np.asarray(value)
