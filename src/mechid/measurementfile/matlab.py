"""MATLAB files, versions 5 to 7.3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.measurementfile.channels import Channel, columns_of


def read_mat(path: Path) -> dict[str, Channel]:
    """Return the numeric variables of a .mat file; members of structures are `outer.inner`."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        variables = loadmat(path, simplify_cells=True)
    except NotImplementedError:  # version 7.3 is HDF5
        from mechid.measurementfile.hdf5 import read_hdf5

        return read_hdf5(path, separator=".", transposed=True)
    except (MatReadError, ValueError, TypeError) as error:
        raise DataError(f"not a MAT file: {str(error).splitlines()[0]}") from None
    found: dict[str, Channel] = {}
    for name, value in variables.items():
        if not name.startswith("__"):
            found |= _flat(name, value)
    return found


def _flat(name: str, value: Any) -> dict[str, Channel]:
    if isinstance(value, dict):
        return {k: c for n, v in value.items() for k, c in _flat(f"{name}.{n}", v).items()}
    return columns_of(name, value) if isinstance(value, np.ndarray) else {}
