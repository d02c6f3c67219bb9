"""MATLAB files, versions 5 to 7.3."""

from __future__ import annotations

from pathlib import Path

from mechid.errors import DataError
from mechid.measurementfile.apart import read_apart
from mechid.measurementfile.channels import Channel, columns_of
from mechid.measurementfile.hdf5 import is_hdf5, read_hdf5


def read_mat(path: Path) -> dict[str, Channel]:
    """Return the numeric variables of a .mat file; members of structures are `outer.inner`."""
    if is_hdf5(path):  # version 7.3
        return read_hdf5(path, separator=".", transposed=True)
    # The library crashes on some damaged files.
    read = read_apart("mat_process.py", path)
    if isinstance(read, str):
        raise DataError(f"not a MAT file: {read[:200]}", remedy="export it again")
    found: dict[str, Channel] = {}
    for name, values in read:
        found |= columns_of(name, values)
    return found
